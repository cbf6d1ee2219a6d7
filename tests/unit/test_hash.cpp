#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include <evalcore/base/hash.hpp>

using namespace evalcore;

// Digests from sha256sum.
TEST_CASE("sha256 of raw bytes equals sha256sum") {
  CHECK(sha256().hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256().raw("abc").hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256().raw("a").raw("bc").hex() == sha256().raw("abc").hex());
}

TEST_CASE("base64 is that of RFC 4648") {
  CHECK(to_base64("").empty());
  CHECK(to_base64("f") == "Zg==");
  CHECK(to_base64("fo") == "Zm8=");
  CHECK(to_base64("foobar") == "Zm9vYmFy");
  CHECK(to_base64("\xFB\xFF\xFE") == "+//+");
  // Beyond what is encoded at once: 4 MiB of zeros, and one byte.
  const auto long_one = to_base64(std::string((std::size_t{4} << 20) + 1, '\0'));
  CHECK(long_one == std::string(5592407, 'A') + "=");
  CHECK(sha256().base64() == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
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
