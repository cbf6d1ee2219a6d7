#include <doctest/doctest.h>

#include "backend/endpoint.hpp"
#include "backend/server_facts.hpp"

using namespace evalcore;

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

TEST_CASE("a base URL that cannot be right is refused with what was meant") {
  const std::pair<const char*, const char*> table[] = {
      {"localhost:8080",
       "the base URL cannot be read: a URL begins with http:// or https://; did you mean "
       "http://localhost:8080?"},
      {"10.0.0.1:8000/v1?key=secret",
       "the base URL cannot be read: a URL begins with http:// or https://; did you mean "
       "http://10.0.0.1:8000/v1?"},
      {"me:secret@host:1", "the base URL cannot be read: a URL begins with http:// or https://"},
      {"ftp://host", "the base URL cannot be read: a URL begins with http:// or https://"},
      {"http://h:1/v1/chat/completions",
       "the base URL http://h:1/v1/chat/completions goes on to one of the API's paths; give it without "
       "/chat/completions: http://h:1/v1"},
      {"http://h:1/completions/",
       "the base URL http://h:1/completions goes on to one of the API's paths; give it without /completions: "
       "http://h:1"},
      {"https://h:1/x/v1/messages",
       "the base URL https://h:1/x/v1/messages goes on to one of the API's paths; give it without /messages: "
       "https://h:1/x/v1"},
      {"http://h:1/v1/responses",
       "the base URL http://h:1/v1/responses goes on to one of the API's paths; give it without /responses: "
       "http://h:1/v1"},
      {"http://h:1/v1?a=secret", "the base URL http://h:1/v1 must not have a query"},
  };
  for (const auto& [text, message] : table) {
    const auto at = backend::read_endpoint(text);
    REQUIRE_FALSE(at);
    CHECK(at.error().code == errc::invalid_argument);
    CHECK(at.error().message == message);
  }
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
