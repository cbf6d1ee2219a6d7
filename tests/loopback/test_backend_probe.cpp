#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <evalcore/backend/http_backend.hpp>
#include <evalcore/backend/probe.hpp>
#include <evalcore/base/json.hpp>

#include "loopback/fault_server.hpp"
#include "unit/backend_probe.hpp"

using namespace evalcore;
using namespace std::chrono_literals;
using backend::ability;

namespace {

test::script answer(const std::string& status, const std::string& body, const std::string& type) {
  return {test::send("HTTP/1.1 " + status + "\r\nContent-Type: " + type +
                     "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body)};
}

test::script whole(const std::string& body) { return answer("200 OK", body, "application/json"); }

/// A streamed answer of one delta with these members, and usage.
test::script streamed(const std::string& delta, const std::string& more = {}, int cached = 0) {
  return answer("200 OK",
                R"(data: {"choices":[{"index":0,"delta":{)" + delta + R"(},"finish_reason":"stop")" + more +
                    "}]}\n\n" + R"(data: {"choices":[],"usage":{"prompt_tokens":500,"completion_tokens":3,)" +
                    R"("prompt_tokens_details":{"cached_tokens":)" + std::to_string(cached) +
                    "}}}\n\ndata: [DONE]\n\n",
                "text/event-stream");
}

test::script says(const std::string& text, int cached = 0) {
  return streamed(R"("content":")" + text + "\"", {}, cached);
}

test::script models() { return whole(R"({"object":"list","data":[{"id":"m","max_model_len":4096}]})"); }
test::script plain() { return says("one two three"); }
test::script scored(int cached = 0) {
  return streamed(R"("content":"one two three")",
                  R"(,"logprobs":{"content":[{"token":"one two three","logprob":-0.5}]})", cached);
}
test::script prompt_of(int tokens) {
  return whole(
      R"({"choices":[{"message":{"content":"h"},"finish_reason":"length"}],"usage":{"prompt_tokens":)" +
      std::to_string(tokens) + "}}");
}
test::script echo(const std::string& last, const std::string& logprob) {
  return whole(
      R"({"choices":[{"index":0,"text":"","logprobs":{"tokens":["one two three four five six",")" + last +
      R"("],"token_logprobs":[null,)" + logprob +
      R"(],"top_logprobs":[],"text_offset":[]},"finish_reason":"length"}],"usage":{"prompt_tokens":2}})");
}

struct probed {
  explicit probed(std::vector<test::script> scripts, const char* dialect = "generic")
      : server(std::move(scripts)), to(test::reach(loop, server.url(), dialect)) {}
  backend::probe_report run(std::chrono::milliseconds each = 20s) {
    auto made = backend::probe(loop, *to, {.each = each, .note = {}});
    REQUIRE(made);
    return *std::move(made);
  }

  test::fault_server server;
  net::loop loop;
  std::unique_ptr<backend::backend> to;
};

std::string found(const backend::probe_report& report, ability what) {
  std::string names;
  for (const auto& one : report.findings) {
    if (one.answer == what) names += (names.empty() ? "" : " ") + one.name;
  }
  return names;
}

}  // namespace

TEST_CASE("a server that does all of it") {
  const auto call = streamed(
      R"("tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"get_weather","arguments":"{}"}}])");
  probed one(
      {models(),
       models(),
       plain(),
       plain(),
       scored(),
       scored(),
       scored(),
       scored(),
       scored(),
       scored(),
       scored(480),
       says("o"),
       says("o"),
       says("o"),
       says("o"),
       says("o"),
       scored(),
       says("a"),
       says("a"),
       says("b"),
       whole(R"({"choices":[{"message":{"content":"a","reasoning":"hm"}},{"message":{"content":"b"}}]})"),
       prompt_of(10),
       prompt_of(60),
       call,
       says("hi"),
       says(R"({\"number\":5})"),
       echo(" seven", "-0.5"),
       echo(" zebra", "-9.5")});
  const auto report = one.run();
  CHECK(found(report, ability::no).empty());
  CHECK(found(report, ability::unknown) == "cut_told prompt_arrays prompt_tokens");
  CHECK(report.alive);
  CHECK(report.depth == backend::probe_depth::full);
  CHECK(report.questions == 25);
  CHECK(report.models == std::vector<std::string>{"m"});
  CHECK(report.about.context_per_slot == 4096U);
  CHECK(report.find("cached_tokens")->evidence == "480 of 500 prompt tokens cached on a repeat");
  CHECK(report.find("reasoning")->evidence == "in the field reasoning");
  CHECK(report.find("nonsense") == nullptr);
  CHECK(one.server.requests().size() == 28);
}

TEST_CASE("a server that ignores what it does not know is found out") {
  // The same answer whatever it is asked, and one choice for n = 2.
  std::vector<test::script> scripts{models(), models()};
  for (int count = 0; count < 18; ++count) scripts.push_back(plain());
  scripts.insert(scripts.end(), {whole(R"({"choices":[{"message":{"content":"a"}}]})"), prompt_of(10),
                                 prompt_of(10), plain(), whole(R"({"choices":[{"text":"x"}]})")});
  probed one(scripts);
  const auto report = one.run();
  CHECK(found(report, ability::yes) ==
        "models chat streaming stream_end stream_usage greedy_repeat batch_invariance");
  CHECK(report.find("cached_tokens")->answer == ability::no);
  CHECK(report.find("tool_choice")->evidence == "tools do not reach the model");
  CHECK(report.find("prompt_logprobs")->answer == ability::no);
}

TEST_CASE(
    "reported: a server that answers otherwise once a stop string has ended a batch is told from a sound "
    "one") {
  const auto probe_with = [](const test::script& after) {
    std::vector<test::script> scripts{models(), models(), plain(), plain(), plain()};
    for (int beside = 0; beside < 4; ++beside) scripts.push_back(plain());
    scripts.insert(scripts.end(), {says("x"), says("x"), says("o")});
    for (int stopped = 0; stopped < 4; ++stopped) scripts.push_back(says("o"));
    scripts.push_back(after);
    probed one(scripts);
    return one.run();
  };
  const auto wrong = probe_with(says("one two thr\u00e9"));
  CHECK(wrong.find("greedy_repeat")->answer == ability::yes);
  CHECK(wrong.find("order_invariance")->answer == ability::no);
  CHECK(wrong.find("order_invariance")->evidence == "another text after a batch that a stop string ended");
  CHECK(probe_with(plain()).find("order_invariance")->answer == ability::yes);
}

TEST_CASE("a server that dies is not asked to the end") {
  probed one({models(), models(), plain(), plain(), {test::reset()}});
  const auto report = one.run();
  CHECK_FALSE(report.alive);
  CHECK(report.findings.size() == 22);
  CHECK(report.find("chat")->answer == ability::yes);
  CHECK(report.find("logprobs")->answer == ability::unknown);
  CHECK(report.find("seed")->evidence == "not asked: it gives no answers");
}

TEST_CASE("a server that refuses a plain request is asked for nothing else") {
  probed one(
      {models(), models(), answer("401 Unauthorized", R"({"error":{"message":"no"}})", "application/json")});
  const auto report = one.run();
  CHECK_FALSE(report.alive);
  CHECK(report.find("chat")->answer == ability::unknown);
  CHECK(report.find("tools")->answer == ability::unknown);
  CHECK(one.server.requests().size() == 4);
  const auto why = no_answers(report);
  CHECK(why.code == errc::transport);
  CHECK(why.message ==
        report.about.selector + " gives no answers; a plain request: " + report.find("chat")->evidence);
}

TEST_CASE("a server that falls silent costs two deadlines") {
  probed one({models(), models(), plain(), plain(), {test::stall()}});
  const auto began = std::chrono::steady_clock::now();
  const auto report = one.run(100ms);
  CHECK(std::chrono::steady_clock::now() - began < 5s);
  CHECK_FALSE(report.alive);
  CHECK(report.find("logprobs")->evidence.find("no answer within") != std::string::npos);
}

TEST_CASE("whatever a hostile server says, each finding is made and none of it is a yes") {
  const std::string deep(200'000, '[');
  const std::vector<test::script> says_what{
      answer("200 OK", "<html>welcome</html>", "text/html"),
      answer("200 OK", "", "application/json"),
      answer("200 OK", deep, "application/json"),
      answer("200 OK", R"({"choices":[{"message":{"content":NaN}}]})", "application/json"),
      answer("200 OK", R"({"choices":7,"usage":"lots"})", "application/json"),
      answer("200 OK", "data: {\"choices\":[{\"delta\":{\"content\":\"\xff\xfe\"}}]}\n\n",
             "text/event-stream"),
      answer("500 Oops", "\x1b[2J", "text/plain"),
      answer("302 Found", "", "text/plain"),
  };
  for (const auto& garbage : says_what) {
    probed one({models(), models(), plain(), plain(), garbage});
    const auto report = one.run();
    CHECK(report.findings.size() == 22);
    CHECK(found(report, ability::yes) == "models chat streaming stream_end stream_usage greedy_repeat");
  }
}

TEST_CASE("where requests are paid for, only a handful goes out") {
  probed one({models(), models(), plain(), plain(), scored(), says("o"), prompt_of(10), prompt_of(60)},
             "openai");
  const auto report = one.run();
  CHECK(report.depth == backend::probe_depth::cheap);
  CHECK(one.server.requests().size() == 8);
  CHECK(found(report, ability::yes) ==
        "models chat streaming stream_end stream_usage greedy_repeat logprobs stop tools prompt_arrays "
        "prompt_tokens");
  CHECK(report.find("cached_tokens")->evidence == "not asked: requests to this kind of server are paid for");
  CHECK(report.find("prompt_logprobs")->answer == ability::no);
}

TEST_CASE("no request goes out that is known to end some server") {
  for (const auto* dialect : {"mlx-server", "generic"}) {
    probed one({models(), models(), plain()}, dialect);
    static_cast<void>(one.run());
    for (const auto& request : one.server.requests()) {
      if (!request.starts_with("POST")) continue;
      const auto body = json::parse(request.substr(request.find("\r\n\r\n") + 4));
      REQUIRE(body);
      CHECK(body->find("logit_bias") == nullptr);
      if (const auto* prompt = body->find("prompt")) {
        REQUIRE(prompt->if_string() != nullptr);
        CHECK_FALSE(prompt->if_string()->empty());
      }
      if (const auto* stop = body->find("stop")) {
        for (const auto& text : *stop->if_array()) CHECK(text.if_string() != nullptr);
      }
    }
  }
}

TEST_CASE("a probe ends at once when it is told to") {
  probed one({models(), models(), {test::stall()}});
  std::stop_source stop;
  std::jthread later([&] {
    while (one.server.requests().size() < 3) std::this_thread::sleep_for(5ms);
    stop.request_stop();
  });
  const auto report = backend::probe(one.loop, *one.to, {}, stop.get_token());
  REQUIRE_FALSE(report);
  CHECK(report.error().code == errc::cancelled);
}

TEST_CASE("what is known without asking asks nothing") {
  probed one({models()}, "mlx-server");
  const auto report = backend::facts_of(*one.to);
  CHECK(report.depth == backend::probe_depth::facts);
  CHECK(found(report, ability::yes) == "cached_tokens");
  CHECK(found(report, ability::no) == "logprobs n tool_choice response_format prompt_logprobs");
  CHECK(report.find("stop")->evidence == "not asked");
  CHECK(one.server.requests().size() == 1);
}

TEST_CASE("which API a URL speaks is found out by asking") {
  struct row {
    test::script says;
    bool messages;
  };
  const row rows[] = {
      {answer("401 Unauthorized",
              R"({"type":"error","error":{"type":"authentication_error","message":"no"}})",
              "application/json"),
       true},
      {models(), false},
      {{test::reset()}, false},
  };
  for (const auto& row : rows) {
    net::loop loop;
    const test::fault_server server({row.says});
    backend::http_options how;
    how.base_url = server.url();
    CHECK(backend::speaks_messages(loop, how) == row.messages);
  }
}
