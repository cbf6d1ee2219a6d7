#include <doctest/doctest.h>

#include <string>

#include "backend/endpoint.hpp"
#include "backend/server_facts.hpp"

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

std::optional<std::chrono::milliseconds> wait_for(std::vector<std::pair<std::string, std::string>> headers) {
  net::http_head head;
  head.status = 429;
  head.headers = std::move(headers);
  // 1994-11-06 08:49:07 UTC, half a minute before the example date of RFC 9110.
  return backend::retry_after(head, std::chrono::system_clock::time_point(784111747s));
}

}  // namespace

TEST_CASE("a base URL means the same with /v1 and without") {
  for (const char* text : {"http://Localhost:8080", "http://localhost:8080/", "http://localhost:8080/v1",
                           "http://localhost:8080/v1/"}) {
    const auto at = backend::read_endpoint(text);
    REQUIRE_MESSAGE(at, text);
    CHECK(at->name() == "http://localhost:8080");
    CHECK(at->get("/v1/models").target == "/v1/models");
  }
  CHECK(backend::read_endpoint("http://h/proxy/v1")->get("/v1/models").target == "/proxy/v1/models");
  CHECK_FALSE(backend::read_endpoint("http://h/v1?key=1"));
  CHECK_FALSE(backend::read_endpoint("localhost:8080"));
}

TEST_CASE("retry-after is read in each of its forms") {
  CHECK(wait_for({{"Retry-After", "7"}}) == 7s);
  CHECK(wait_for({{"Retry-After", "0"}}) == 0s);
  CHECK(wait_for({{"retry-after", "1.5"}}) == 1500ms);
  CHECK(wait_for({{"retry-after", "7"}, {"retry-after-ms", "250"}}) == 250ms);
  CHECK(wait_for({{"Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"}}) == 30s);
  CHECK(wait_for({{"Retry-After", "Sun, 06 Nov 1994 08:00:00 GMT"}}) == 0s);
  CHECK_FALSE(wait_for({}));
  for (const char* odd : {"soon", "-1", "nan", "7 s", "Sun, 06 Foo 1994 08:49:37 GMT",
                          "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT"}) {
    CHECK_MESSAGE(!wait_for({{"Retry-After", odd}}), odd);
  }
  CHECK(wait_for({{"Retry-After", "1e300"}}) == 30 * 24h);
}

TEST_CASE("what a server does not say about itself stays unknown") {
  backend::info about;
  REQUIRE(backend::read_props(R"({"total_slots":0,"default_generation_settings":{}})", about));
  CHECK_FALSE(about.slots);
  CHECK_FALSE(about.context_per_slot);
  CHECK(about.identity.empty());
  CHECK_FALSE(backend::read_props("[]", about));
  CHECK_FALSE(backend::read_model_list("{}"));
  CHECK_FALSE(backend::read_model_list(""));
  CHECK(backend::read_model_list(R"({"data":[]})")->empty());
  const auto models = backend::read_model_list(
      R"({"data":[{"id":"a","max_model_len":4096},{"id":"b","context_length":8192},{"id":"c"},{"name":"d"}]})");
  REQUIRE(models);
  REQUIRE(models->size() == 3);
  CHECK(models->at(0).context == 4096U);
  CHECK(models->at(1).context == 8192U);
  CHECK_FALSE(models->at(2).context);
}
