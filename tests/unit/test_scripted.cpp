#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include <evalcore/backend/scripted.hpp>

#include "backend/script.hpp"
#include "unit/backend_probe.hpp"

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

backend::script read(std::string_view text) {
  auto made = backend::script::parse(text, "s.jsonl");
  REQUIRE(made);
  return *std::move(made);
}

std::string complaint(std::string_view text) {
  const auto made = backend::script::parse(text, "s.jsonl");
  REQUIRE_FALSE(made);
  CHECK(made.error().code == errc::invalid_argument);
  return made.error().message;
}

/// A script in a file that is gone with the object.
class script_file {
 public:
  explicit script_file(std::string_view text)
      : path("/tmp/evalcore-script-" + std::to_string(::getpid()) + ".jsonl") {
    std::ofstream(path) << text;
  }
  ~script_file() { ::unlink(path.c_str()); }
  script_file(const script_file&) = delete;
  script_file& operator=(const script_file&) = delete;
  std::string path;
};

}  // namespace

TEST_CASE("lines without match are used in order and the last again and again") {
  auto lines = read("{\"text\":\"one\"}\n\n{\"text\":\"two\"}\n");
  const auto request = test::user_says("anything");
  CHECK(lines.take(request)->reply.text == "one");
  CHECK(lines.take(request)->reply.text == "two");
  CHECK(lines.take(request)->reply.text == "two");
}

TEST_CASE("a line that matches goes before one that does not ask") {
  auto lines = read(R"({"text":"other"}
{"match":"Paris","error":{"code":"overloaded","message":"full"}}
{"match":"Paris","text":"France"})");
  const auto paris = test::user_says("Where is Paris?");
  CHECK(lines.take(paris)->fault->code == errc::overloaded);
  CHECK(lines.take(test::user_says("Where is Oslo?"))->reply.text == "other");
  CHECK(lines.take(paris)->reply.text == "France");
  CHECK(lines.take(paris)->reply.text == "France");
}

TEST_CASE("the last user message decides") {
  auto lines = read("{\"match\":\"first\",\"text\":\"no\"}\n{\"match\":\"second\",\"text\":\"yes\"}");
  auto request = test::user_says("first");
  request.messages.push_back(test::turn(chat::role::assistant, "first"));
  request.messages.push_back(test::turn(chat::role::user, "second"));
  request.messages.push_back(test::turn(chat::role::assistant, "first"));
  CHECK(lines.take(request)->reply.text == "yes");
}

TEST_CASE("a request that no line serves gets none") {
  auto lines = read(R"({"match":"x","text":"y"})");
  CHECK(lines.take(test::user_says("z")) == nullptr);
}

TEST_CASE("calls, usage and finish are read, and absent counts stay absent") {
  auto lines =
      read(R"({"calls":[{"name":"f","arguments":{"b":1,"a":2.0}},{"id":"c9","name":"g","arguments":"{ }"}],)"
           R"("usage":{"prompt_tokens":10,"cached_tokens":0}})");
  const auto& reply = lines.take(test::user_says(""))->reply;
  REQUIRE(reply.calls.size() == 2);
  CHECK(reply.calls[0].id == "call_0");
  CHECK(reply.calls[0].arguments == R"({"b":1,"a":2.0})");
  CHECK(reply.calls[1].id == "c9");
  CHECK(reply.calls[1].arguments == "{ }");
  CHECK(reply.finish == chat::finish_reason::tool_calls);
  CHECK(reply.usage.prompt_tokens == 10U);
  CHECK(reply.usage.cached_tokens == 0U);
  CHECK_FALSE(reply.usage.completion_tokens);
  CHECK(read(R"({"text":"a","finish":"length"})").take(test::user_says(""))->reply.finish ==
        chat::finish_reason::length);
}

TEST_CASE("a wrong line is named with file and number") {
  CHECK(complaint("{}\n[1]") == "s.jsonl:2: not a JSON object");
  CHECK(complaint("\n{\"txt\":\"a\"}") == "s.jsonl:2: unknown member \"txt\"");
  CHECK(complaint("{\"text\":").starts_with("s.jsonl:1: not JSON: "));
  CHECK(complaint(R"({"delay_ms":-1})") ==
        "s.jsonl:1: \"delay_ms\" must be a whole number from 0 to 86400000");
  CHECK(complaint(R"({"error":{"code":"bad luck"}})") == "s.jsonl:1: there is no error code \"bad luck\"");
  CHECK(complaint(R"({"finish":"done"})") ==
        "s.jsonl:1: \"finish\" must be stop, length, tool_calls or content_filter");
  CHECK(complaint(R"({"usage":{"tokens":1}})") == "s.jsonl:1: \"usage\" has an unknown member \"tokens\"");
  CHECK(complaint("\n \n") == "s.jsonl holds no reply; write one JSON object a line");
}

TEST_CASE("a script that is not there is named") {
  net::loop loop;
  const auto made = backend::open_scripted(loop, "/nowhere/s.jsonl");
  REQUIRE_FALSE(made);
  CHECK(made.error().code == errc::not_found);
  CHECK(made.error().message == "cannot read the script /nowhere/s.jsonl: No such file or directory");
}

TEST_CASE("replies come through the sink with the first token before the end") {
  net::loop loop;
  const script_file file(
      "{\"text\":\"Hello!\",\"delay_ms\":30,\"first_token_ms\":10}\n{\"text\":\"at once\"}");
  auto made = backend::open_scripted(loop, file.path);
  REQUIRE(made);
  const auto slow = test::start(loop, **made, test::user_says("hi"));
  const auto quick = test::start(loop, **made, test::user_says("hi"));
  CHECK(quick.sink->wait()->text == "at once");
  const auto reply = slow.sink->wait();
  REQUIRE(reply);
  CHECK(reply->text == "Hello!");
  CHECK(slow.sink->text == "Hello!");
  CHECK(slow.sink->first_tokens == 1);
  CHECK(quick.sink->first_tokens == 1);
  CHECK(*reply->timing.first_token >= 10ms);
  CHECK(*reply->timing.total >= 30ms);
  CHECK((*made)->about().identity.at("script").size() == 64);
}

TEST_CASE("a scripted fault ends a request, before or after its first token") {
  net::loop loop;
  const script_file file(R"({"error":{"code":"rate_limited","message":"slow down"}}
{"error":{"code":"truncated"},"first_token_ms":1,"delay_ms":2,"text":"par"})");
  auto made = backend::open_scripted(loop, file.path);
  REQUIRE(made);
  const auto before = test::start(loop, **made, test::user_says("hi"));
  const auto outcome = before.sink->wait();
  CHECK(outcome.error().code == errc::rate_limited);
  CHECK(outcome.error().message == "slow down");
  CHECK(before.sink->first_tokens == 0);
  const auto after = test::start(loop, **made, test::user_says("hi"));
  CHECK(after.sink->wait().error().code == errc::truncated);
  CHECK(after.sink->first_tokens == 1);
}

TEST_CASE("a cancelled request says nothing more and ends once") {
  net::loop loop;
  const script_file file(R"({"text":"late","delay_ms":3600000})");
  auto made = backend::open_scripted(loop, file.path);
  REQUIRE(made);
  const auto one = test::start(loop, **made, test::user_says("hi"));
  loop.run_and_wait([&] {
    (*made)->cancel(one.ticket);
    (*made)->cancel(one.ticket);
    CHECK(one.sink->ends == 0);
  });
  CHECK(one.sink->wait().error().code == errc::cancelled);
  loop.run_and_wait([&] { (*made)->cancel(one.ticket); });
  CHECK(one.sink->ends == 1);
  CHECK(one.sink->text.empty());
}

TEST_CASE("closing the backend ends what is open") {
  net::loop loop;
  const script_file file(R"({"text":"late","delay_ms":3600000})");
  auto made = backend::open_scripted(loop, file.path);
  REQUIRE(made);
  const auto one = test::start(loop, **made, test::user_says("hi"));
  made->reset();
  CHECK(one.sink->wait().error().code == errc::closed);
  CHECK(one.sink->ends == 1);
}

TEST_CASE("what a script cannot do is unsupported") {
  net::loop loop;
  const script_file file(R"({"text":"x"})");
  auto made = backend::open_scripted(loop, file.path);
  REQUIRE(made);
  const auto tokens = test::ask<std::vector<backend::token>>(
      loop, [&](auto done) { (*made)->tokenize(test::user_says("hi"), std::move(done)); });
  CHECK(tokens.error().code == errc::unsupported);
  CHECK(tokens.error().message == "the backend scripted cannot tokenize");
}
