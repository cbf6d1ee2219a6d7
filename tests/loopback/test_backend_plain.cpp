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

test::script answer(const std::string& type, const std::string& body) {
  return {test::send("HTTP/1.1 200 OK\r\nContent-Type: " + type +
                     "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body)};
}

test::script models() { return answer("application/json", R"({"object":"list","data":[{"id":"m"}]})"); }

/// What a real server sent.
test::script recorded(const char* name, const char* type) { return answer(type, read_capture(name).body); }

/// The legacy shape of an echo of "one two three four five six" and one more token, in whose place -0.5 is
/// the likeliest.
test::script echo(const std::string& last, const std::string& logprob) {
  return answer("application/json",
                R"({"choices":[{"index":0,"text":"","logprobs":{"tokens":["one"," two"," three"," four",)"
                R"(" five"," six",")" +
                    last + R"("],"token_logprobs":[null,-1,-1,-1,-1,-1,)" + logprob +
                    R"(],"top_logprobs":[null,{"a":-1},{"a":-1},{"a":-1},{"a":-1},{"a":-1},{"a":-0.5}],)"
                    R"("text_offset":[]},"finish_reason":"length"}],)"
                    R"("usage":{"prompt_tokens":7,"completion_tokens":0}})");
}

struct asked {
  explicit asked(std::vector<test::script> scripts, const char* dialect = "generic")
      : server(std::move(scripts)),
        to(test::reach(loop, server.url(), dialect, backend::openai_api::completions)) {}

  result<chat::reply> answer_to(const chat::request& request) {
    return test::start(loop, *to, request).sink->wait();
  }
  /// The bodies of what came in at /v1/completions.
  std::vector<json::value> bodies() const { return test::bodies_at(server, "/v1/completions"); }

  test::fault_server server;
  net::loop loop;
  std::unique_ptr<backend::backend> to;
};

chat::request choosing(std::vector<std::string> choices) {
  auto request = test::user_says("one two three four five six");
  request.params = {};
  request.choices = std::move(choices);
  return request;
}

}  // namespace

TEST_CASE("a turn goes to the text completions as it stands, and a stream of them is an answer") {
  asked one({models(), recorded("llama_comp_stream", "text/event-stream")});
  auto request = test::user_says("The capital of France is");
  request.params.stop = {"\n\n"};
  request.params.seed = 1234;
  const auto reply = one.answer_to(request);
  REQUIRE(reply);
  CHECK(reply->text == " Paris.\n");
  CHECK(reply->finish == chat::finish_reason::length);
  CHECK(reply->usage.prompt_tokens == 5);
  CHECK(reply->usage.cached_tokens == 4);
  CHECK(reply->timing.first_token);
  REQUIRE(one.bodies().size() == 1);
  const auto body = one.bodies().front();
  CHECK(*body.find("prompt") == json::value("The capital of France is"));
  CHECK(*body.find("model") == json::value("m"));
  CHECK(*body.find("max_tokens") == json::value(32));
  CHECK(*body.find("seed") == json::value(1234));
  CHECK(json::to_text(*body.find("stop")) == R"(["\n\n"])");
  CHECK(body.find("messages") == nullptr);
}

TEST_CASE("a whole text completion is an answer, and its logprobs are kept") {
  asked one({models(), recorded("llama_comp_logprobs", "application/json")});
  const auto reply = one.answer_to(test::user_says("The capital of France is"));
  const auto known = read_capture("llama_comp_logprobs").body;
  const auto told = json::parse(known);
  REQUIRE(reply);
  CHECK(reply->text == *told->find("choices")->if_array()->front().find("text")->if_string());
  CHECK_FALSE(reply->text.empty());
  CHECK(reply->logprobs.size() == reply->usage.completion_tokens);
}

TEST_CASE("what only a chat has a place for is refused by the text completions") {
  asked one({models()});
  auto with_tools = test::user_says("x");
  with_tools.tools.push_back({.name = "f", .description = "", .parameters = "{}"});
  CHECK(one.to->check(with_tools).error().code == errc::unsupported);
  auto with_image = test::user_says("x");
  with_image.messages[0].image_urls = {"data:image/png;base64,AA=="};
  CHECK(one.to->check(with_image).error().code == errc::unsupported);
  auto thinking = test::user_says("x");
  thinking.thinking.effort = "low";
  CHECK(one.to->check(thinking).error().code == errc::unsupported);
  auto turns = test::user_says("x");
  turns.messages.push_back(turns.messages.front());
  CHECK(one.to->check(turns).error().code == errc::invalid_argument);
  CHECK(one.to->check(test::user_says("x")));
  CHECK(one.to->about().identity.at("api") == "completions");
}

TEST_CASE("a server scores the choices of a request one after another, in their order") {
  asked one({models(), echo(" seven", "-0.5"), echo(" zebra", "-9.5"), echo(" seven", "-0.25"),
             echo(" eight", "-3.5")});
  CHECK(one.to->can().prompt_logprobs == backend::ability::unknown);
  const auto request = choosing({" seven", " eight"});
  REQUIRE(one.to->check(request));
  const auto reply = one.answer_to(request);
  REQUIRE_MESSAGE(reply, (reply ? std::string() : reply.error().message));
  REQUIRE(reply->choices.size() == 2);
  CHECK(reply->choices[0].sum_logprob == -0.25);
  CHECK(reply->choices[0].is_greedy == true);
  CHECK(reply->choices[1].sum_logprob == -3.5);
  CHECK(reply->choices[1].is_greedy == false);
  CHECK(reply->text.empty());
  CHECK(reply->finish == chat::finish_reason::stop);
  const auto bodies = one.bodies();
  REQUIRE(bodies.size() == 4);
  CHECK(*bodies[2].find("prompt") == json::value("one two three four five six seven"));
  CHECK(*bodies[3].find("prompt") == json::value("one two three four five six eight"));
}

TEST_CASE("a request with choices fails with the first that fails, and cancelled or refused it ends once") {
  asked one({models(),
             echo(" seven", "-0.5"),
             echo(" zebra", "-9.5"),
             echo(" seven", "-0.25"),
             {test::send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\n{}")}});
  CHECK(one.answer_to(choosing({" seven", " eight", " nine"})).error().code == errc::overloaded);
  CHECK(one.bodies().size() == 4);

  asked slow({models(), {test::stall()}});
  const auto out = test::start(slow.loop, *slow.to, choosing({" seven", " eight"}));
  slow.loop.run_and_wait([&] {
    slow.to->cancel(out.ticket);
    slow.to->cancel(out.ticket);
  });
  CHECK(out.sink->wait().error().code == errc::cancelled);
  const auto left = test::start(slow.loop, *slow.to, choosing({" seven", " eight"}));
  slow.to.reset();
  CHECK(left.sink->wait().error().code == errc::closed);
  CHECK(out.sink->ends == 1);
  CHECK(left.sink->ends == 1);

  asked unable({models()}, "ollama");
  CHECK(unable.to->check(choosing({" seven", " eight"})).error().code == errc::unsupported);
  CHECK(unable.answer_to(choosing({" seven", " eight"})).error().code == errc::unsupported);
  CHECK(unable.bodies().empty());
}
