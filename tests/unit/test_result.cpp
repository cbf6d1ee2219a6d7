#include <doctest/doctest.h>

#include <memory>
#include <string>

#include <evalcore/base/limits.hpp>
#include <evalcore/base/result.hpp>

using namespace evalcore;

namespace {
result<int> half(int n) {
  if (n % 2 != 0) return fail(errc::invalid_argument, stage::config, "odd");
  return n / 2;
}
}  // namespace

TEST_CASE("a result is its value or its error") {
  CHECK(half(4).value() == 2);
  CHECK(*half(4) == 2);
  const auto odd = half(3);
  REQUIRE_FALSE(odd);
  CHECK(odd.error().code == errc::invalid_argument);
  CHECK(odd.error().at == stage::config);
  CHECK(odd.value_or(7) == 7);
  CHECK_THROWS(static_cast<void>(odd.value()));
}

TEST_CASE("a result moves what cannot be copied") {
  result<std::unique_ptr<std::string>> owner(std::make_unique<std::string>("x"));
  const std::unique_ptr<std::string> taken = *std::move(owner);
  CHECK(*taken == "x");
}

TEST_CASE("a void result succeeds unless it was given an error") {
  CHECK(result<void>());
  const result<void> bad = fail(errc::closed, stage::none, "gone");
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message == "gone");
}

TEST_CASE("only the classes of passing faults are retryable") {
  CHECK(retryable(errc::rate_limited));
  CHECK(retryable(errc::backend_fault));
  CHECK_FALSE(retryable(errc::invalid_request));
  CHECK_FALSE(retryable(errc::cancelled));
  CHECK_FALSE(retryable(errc::storage));
}

TEST_CASE("every code and stage has a name") {
  CHECK(name(errc::context_overflow) == "context_overflow");
  CHECK(name(stage::first_byte) == "first_byte");
  CHECK(name(static_cast<errc>(12345)) == "unknown");
}

TEST_CASE("the limits are those of the design") {
  CHECK(limits::header_bytes == 262'144);
  CHECK(limits::body_bytes == 67'108'864);
  CHECK(limits::sse_line_bytes == 8'388'608);
  CHECK(limits::json_depth == 128);
}
