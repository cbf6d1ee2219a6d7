#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <evalcore/backend/http_backend.hpp>
#include <evalcore/base/json.hpp>

#include "loopback/bodies.hpp"
#include "loopback/fault_server.hpp"
#include "unit/backend_probe.hpp"
#include "unit/capture.hpp"

using namespace evalcore;

namespace {

test::script answer(const std::string& status, const std::string& body) {
  return {test::send("HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nContent-Length: " +
                     std::to_string(body.size()) + "\r\n\r\n" + body)};
}

test::script models() { return answer("200 OK", R"({"object":"list","data":[{"id":"m"}]})"); }

/// An honest echo of "one two three four five six" and one more token.
test::script echo(const std::string& last, const std::string& logprob) {
  return answer("200 OK",
                R"({"choices":[{"index":0,"text":"","logprobs":{"tokens":["one"," two"," three"," four",)"
                R"(" five"," six",")" +
                    last + R"("],"token_logprobs":[null,-1,-1,-1,-1,-1,)" + logprob +
                    R"(],"top_logprobs":[],"text_offset":[]},"finish_reason":"length"}],)"
                    R"("usage":{"prompt_tokens":7,"completion_tokens":0}})");
}

struct asked {
  explicit asked(std::vector<test::script> scripts, const char* dialect = "generic")
      : server(std::move(scripts)), to(test::reach(loop, server.url(), dialect)) {}
  result<chat::loglikelihood> score(const chat::prompt& context, const chat::prompt& continuation) {
    return test::ask<chat::loglikelihood>(loop, [&](auto done) {
      to->loglikelihood({.context = context, .continuation = continuation}, std::move(done));
    });
  }
  /// The bodies of what came in at /v1/completions.
  std::vector<json::value> completions() const { return test::bodies_at(server, "/v1/completions"); }

  test::fault_server server;
  net::loop loop;
  std::unique_ptr<backend::backend> to;
};

}  // namespace

TEST_CASE("a continuation is scored once the server has shown the logprobs of a prompt") {
  asked one({models(), echo(" seven", "-0.5"), echo(" zebra", "-9.5"), echo(" seven", "-0.25")}, "vllm");
  CHECK(one.to->can().prompt_logprobs == backend::ability::yes);
  for (int time = 0; time < 2; ++time) {
    const auto got = one.score("one two three four five six", " seven");
    REQUIRE_MESSAGE(got, (got ? std::string() : got.error().message));
    CHECK(got->sum_logprob == -0.25);
    CHECK(got->tokens == 1);
  }
  const auto bodies = one.completions();
  REQUIRE(bodies.size() == 4);  // Two that prove it, once, and one for each score.
  CHECK(*bodies[3].find("prompt") == json::value("one two three four five six seven"));
  CHECK(*bodies[3].find("model") == json::value("m"));
  CHECK(*bodies[3].find("echo") == json::value(true));
  CHECK(*bodies[3].find("max_tokens") == json::value(1));
}

TEST_CASE("token ids go out as they are where the server takes them") {
  asked one({models(), echo(" seven", "-0.5"), echo(" zebra", "-9.5"), echo(" seven", "-0.25")}, "vllm");
  const auto got = one.score(chat::token_ids{1, 2, 3, 4}, chat::token_ids{5, 6, 7});
  REQUIRE(got);
  CHECK(got->sum_logprob == -2.25);
  CHECK(json::to_text(*one.completions().back().find("prompt")) == "[1,2,3,4,5,6,7]");

  asked careful({models(), echo(" seven", "-0.5"), echo(" zebra", "-9.5")});
  CHECK(careful.score(chat::token_ids{1}, chat::token_ids{2}).error().code == errc::unsupported);
  CHECK(careful.completions().size() == 2);  // The ids did not go out.
}

TEST_CASE("nothing is scored on a server that answers with something else") {
  const auto recorded = [](const char* name) { return answer("200 OK", read_capture(name).body); };
  struct row {
    std::vector<test::script> scripts;
    const char* why;
  };
  const row rows[] = {
      {{models(), recorded("llama_comp_echo_logprobs_max1")}, "only those of generated tokens"},
      {{models(), recorded("mlxlm_comp_echo_logprobs")}, "only those of generated tokens"},
      {{models(), echo(" seven", "-0.5"), echo(" zebra", "-0.5")}, "equally likely"},
      {{models(), echo(" seven", "7.5")}, "a logprob is above 0"},
      {{models(), answer("404 Not Found", R"({"error":{"message":"no such route"}})")},
       "answers no text completion"},
      {{models(), answer("200 OK", "<html>welcome</html>")}, "answers no text completion"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    asked one(row.scripts);
    for (int time = 0; time < 2; ++time) {
      const auto got = one.score("Is it true? ", "yes");
      REQUIRE_FALSE(got);
      CHECK(got.error().code == errc::unsupported);
      CHECK(got.error().message.find(row.why) != std::string::npos);
    }
    // The refusal holds, and what was to be scored was never sent.
    CHECK(one.completions().size() == row.scripts.size() - 1);
    for (const auto& body : one.completions()) {
      CHECK(body.find("prompt")->if_string()->starts_with("one two three four five six "));
    }
  }
}

TEST_CASE("a server that is known to lack prompt logprobs is not asked at all") {
  for (const auto* dialect : {"ollama", "lmstudio", "openai"}) {
    CAPTURE(dialect);
    asked one({models()}, dialect);
    CHECK(one.to->can().prompt_logprobs == backend::ability::no);
    const auto got = one.score("Is it true?", " yes");
    REQUIRE_FALSE(got);
    CHECK(got.error().code == errc::unsupported);
    CHECK(got.error().message.find("at most those of generated tokens") != std::string::npos);
    CHECK(one.completions().empty());
  }
}

TEST_CASE("a failure proves nothing: the next call asks again") {
  asked one({models(), answer("503 Service Unavailable", "{}"), echo(" seven", "-0.5"),
             echo(" zebra", "-9.5"), echo(" seven", "-0.25")});
  CHECK(one.score("one two three four five six", " seven").error().code == errc::overloaded);
  CHECK(one.score("one two three four five six", " seven")->sum_logprob == -0.25);
}
