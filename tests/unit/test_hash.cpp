#include <doctest/doctest.h>

#include <evalcore/base/hash.hpp>

using namespace evalcore;

// Digests from sha256sum.
TEST_CASE("sha256 of raw bytes equals sha256sum") {
  CHECK(sha256().hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256().raw("abc").hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256().raw("a").raw("bc").hex() == sha256().raw("abc").hex());
}

TEST_CASE("pieces that join to the same bytes hash apart") {
  CHECK(sha256().piece("ab").piece("c").hex() != sha256().piece("a").piece("bc").hex());
  CHECK(sha256().piece("").piece("x").hex() != sha256().piece("x").hex());
}

TEST_CASE("a file that is not there is named") {
  const auto hash = sha256_of_file("/nonexistent/model.gguf");
  REQUIRE_FALSE(hash);
  CHECK(hash.error().code == errc::not_found);
  CHECK(hash.error().message.find("/nonexistent/model.gguf") != std::string::npos);
}
