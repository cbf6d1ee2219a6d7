#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <evalcore/wire/openai_chat.hpp>

#include "backend/probe_checks.hpp"
#include "backend/prompt_scorer.hpp"
#include "backend/server_facts.hpp"

using namespace evalcore;
using backend::ability;

namespace {

chat::reply says(std::string text, chat::finish_reason why = chat::finish_reason::stop) {
  chat::reply reply;
  reply.text = std::move(text);
  reply.finish = why;
  reply.finish_raw = std::string(name(why));
  return reply;
}

chat::reply with_logprobs(std::string text, std::vector<double> values) {
  auto reply = says(std::move(text));
  for (const double value : values) {
    chat::token_logprob one;
    one.token = "t";
    one.logprob = value;
    reply.logprobs.push_back(one);
  }
  return reply;
}

chat::reply calls_a_tool() {
  auto reply = says("");
  reply.calls.push_back({"1", "get_weather", "{}"});
  return reply;
}

chat::reply counted(std::optional<std::uint64_t> cached) {
  auto reply = says("x");
  reply.usage.prompt_tokens = 500;
  reply.usage.cached_tokens = cached;
  return reply;
}

chat::reply without(std::string field) {
  auto reply = says("x");
  reply.dropped = {std::move(field)};
  return reply;
}

error failed(errc code, std::string message = "why") { return fail(code, stage::body, std::move(message)); }

backend::answer raw(int status, std::string body) {
  return backend::answer(backend::raw_answer{status, std::move(body)});
}

template <class... Parts>
std::vector<backend::answer> got(Parts... parts) {
  return {backend::answer(std::move(parts))...};
}

const backend::check& find_check(std::string_view name) {
  const auto all = backend::checks();
  const auto found = std::ranges::find(all, name, &backend::check::name);
  REQUIRE(found != all.end());
  return *found;
}

/// A server whose plain answer is "one two three", streamed.
backend::probe_state known(const char* dialect = "generic") {
  backend::probe_state state{*wire::find_dialect(dialect), {}, {}, {}, {}, {}};
  state.plain = says("one two three");
  state.plain->timing.first_token = std::chrono::milliseconds(1);
  state.again = backend::answer(*state.plain);
  return state;
}

backend::verdict judge(std::string_view name, std::vector<backend::answer> answers,
                       backend::probe_state state = known()) {
  return find_check(name).judge(state, answers);
}

std::vector<backend::question> questions(std::string_view name, const backend::probe_state& state = known()) {
  auto asked = find_check(name).ask(state);
  const auto* found = std::get_if<std::vector<backend::question>>(&asked);
  return found == nullptr ? std::vector<backend::question>() : *found;
}

backend::verdict settled(std::string_view name, const backend::probe_state& state) {
  auto asked = find_check(name).ask(state);
  const auto* found = std::get_if<backend::verdict>(&asked);
  REQUIRE(found != nullptr);
  return *found;
}

struct row {
  const char* name;
  std::vector<backend::answer> answers;
  ability found;
  const char* words;
};

}  // namespace

TEST_CASE("what the answers to each check prove") {
  const std::string two = R"({"choices":[{"message":{"content":"a"}},{"message":{"content":"b"}}]})";
  const std::string one = R"({"choices":[{"message":{"content":"a"}}]})";
  const row rows[] = {
      {"models", got(std::vector<backend::listed_model>{{"m", {}}}), ability::yes, "listed: m"},
      {"models", got(std::vector<backend::listed_model>{}), ability::no, "empty"},
      {"models", got(failed(errc::bad_reply)), ability::unknown, "why"},

      {"logprobs", got(with_logprobs("a", {-1, -2})), ability::yes, "2 tokens"},
      {"logprobs", got(says("a")), ability::no, "none"},
      {"logprobs", got(says("")), ability::unknown, "empty"},
      {"logprobs", got(without("logprobs")), ability::no, "the API has no field for logprobs"},
      {"logprobs", got(failed(errc::invalid_request)), ability::no, "refused"},

      {"batch_invariance", got(says("one two three"), says("x")), ability::yes, "without logprobs"},
      {"batch_invariance", got(says("one two four"), says("x")), ability::no, "another text"},
      {"batch_invariance", got(says("one two three"), failed(errc::timeout)), ability::unknown, "in vain"},

      {"cached_tokens", got(counted(0), counted(480)), ability::yes, "480 of 500 prompt tokens"},
      {"cached_tokens", got(counted(0), counted(0)), ability::no, "does not move"},
      {"cached_tokens", got(counted({}), counted({})), ability::no, "do not tell"},
      {"cached_tokens", got(counted(0), failed(errc::context_overflow)), ability::unknown, "in vain"},

      // The first letter of "one two three" that does not stand at its beginning.
      {"stop", got(says("o")), ability::yes, "\"n\""},
      {"stop", got(says("on")), ability::no, "behind the stop string and not before"},
      {"stop", got(says("one two three")), ability::no, "goes on"},
      {"stop", got(says("uno")), ability::unknown, "differs"},
      {"stop", got(without("stop")), ability::no, "the API has no field for stop"},

      {"seed", got(says("a"), says("a"), says("b")), ability::yes, "another seed another"},
      {"seed", got(says("a"), says("b"), says("c")), ability::no, "one seed gives two"},
      {"seed", got(says("a"), says("a"), says("a")), ability::unknown, "nothing shows"},
      {"seed", got(without("seed"), says("x"), says("x")), ability::no, "the API has no field for seed"},

      {"n", got(raw(200, two)), ability::yes, "2 answers"},
      {"n", got(raw(200, one)), ability::no, "1 answers"},
      {"n", got(raw(422, "{}")), ability::no, "refused: "},
      {"n", got(raw(500, "{}")), ability::unknown, "in vain"},
      {"n", got(raw(200, "<html>")), ability::unknown, "without choices"},
      {"n", got(failed(errc::unsupported)), ability::no, "the API has no field for n"},

      {"tools", got(true), ability::yes, "changes the prompt"},
      {"tools", got(false), ability::no, "no prompt"},
      {"tools", got(failed(errc::unsupported)), ability::unknown, "why"},

      {"tool_choice", got(calls_a_tool(), says("hi")), ability::yes, "none when none"},
      {"tool_choice", got(calls_a_tool(), calls_a_tool()), ability::no, "though none was allowed"},
      {"tool_choice", got(says("hi"), says("hi")), ability::no, "though one was required"},
      {"tool_choice", got(says("Well, ", chat::finish_reason::length), says("hi")), ability::unknown,
       "cut off"},
      {"tool_choice", got(failed(errc::unsupported), says("hi")), ability::no, "why"},

      {"response_format", got(says(R"({"number":5})")), ability::yes, "follows"},
      {"response_format", got(says(R"({"number":"5"})")), ability::no, "does not follow"},
      {"response_format", got(says("Hello!")), ability::no, "does not follow"},
      {"response_format", got(says("{\"num", chat::finish_reason::length)), ability::unknown, "cut off"},

      {"prompt_logprobs", got(std::monostate()), ability::yes, "all prompt tokens"},
      {"prompt_logprobs", got(failed(errc::unsupported)), ability::no, "why"},
      {"prompt_logprobs", got(failed(errc::overloaded)), ability::unknown, "in vain"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CAPTURE(row.words);
    const auto proved = judge(row.name, row.answers);
    CHECK(proved.found == row.found);
    CHECK_MESSAGE(proved.evidence.find(row.words) != std::string::npos, proved.evidence);
  }
}

TEST_CASE("a field that the API lacks is not held against the server") {
  const auto of = [](const char* dialect, const char* field) {
    return judge("response_format", got(without(field)), known(dialect)).evidence;
  };
  CHECK(of("anthropic", "response_format") == "the API has no field for response_format");
  CHECK(of("llama-server", "response_format") ==
        "known of this kind of server: it drops the field response_format");
}

TEST_CASE("a cut answer that passes for a whole one is found out") {
  auto state = known();
  const auto told = [&](std::optional<std::uint64_t> tokens, chat::finish_reason why) {
    state.plain->usage.completion_tokens = tokens;
    state.plain->finish = why;
    state.plain->finish_raw = why == chat::finish_reason::length ? "incomplete" : "completed";
    return find_check("cut_told").judge(state, {});
  };
  // The plain question leaves room for 16 tokens.
  CHECK(told(16, chat::finish_reason::stop).found == ability::no);
  CHECK(
      told(16, chat::finish_reason::stop).evidence ==
      "an answer of all the 16 tokens that were asked for ends with \"completed\": cut answers are taken for "
      "whole");
  CHECK(told(16, chat::finish_reason::length).found == ability::yes);
  CHECK(told(15, chat::finish_reason::stop).found == ability::unknown);
  CHECK(told({}, chat::finish_reason::stop).found == ability::unknown);
}

TEST_CASE("whose models a server lists tells its dialect") {
  const auto looks = [](const char* body, const char* in_use = "generic") {
    auto state = known(in_use);
    auto models = backend::read_model_list(body);
    REQUIRE(models);
    static_cast<void>(find_check("models").judge(state, got(*std::move(models))));
    return state.report.looks_like;
  };
  // As the servers write it.
  constexpr auto llama = R"({"object":"list","data":[{"id":"m","object":"model","owned_by":"llamacpp"}]})";
  constexpr auto vllm =
      R"({"object":"list","data":[{"id":"m","owned_by":"vllm"},{"id":"n","owned_by":"vllm"}]})";
  CHECK(looks(llama) == "llama-server");
  CHECK(looks(llama, "anthropic") == "llama-server");
  CHECK(looks(llama, "llama-server").empty());
  CHECK(looks(vllm) == "vllm");
  CHECK(looks(R"({"data":[{"id":"m","owned_by":"omlx"}]})", "omlx-old").empty());
  // A gateway in front of several, somebody unknown, nobody named.
  CHECK(looks(R"({"data":[{"id":"m","owned_by":"vllm"},{"id":"n","owned_by":"sglang"}]})").empty());
  CHECK(looks(R"({"data":[{"id":"m","owned_by":"me"}]})").empty());
  CHECK(looks(R"({"data":[{"id":"m"}]})").empty());
  CHECK(looks(R"({"data":[]})").empty());
}

TEST_CASE("equal texts with other logprobs are not the same answer") {
  auto state = known("vllm");
  state.scored = with_logprobs("one two three", {-1, -2});
  const auto beside = [&](std::vector<double> values) {
    return judge("batch_invariance", got(with_logprobs("one two three", std::move(values)), says("x")),
                 state);
  };
  CHECK(beside({-1, -2}).found == ability::yes);
  CHECK(beside({-1, -2}).evidence ==
        "the same text alone and beside 1 others, and the same logprobs; the server's switch to that is "
        "VLLM_BATCH_INVARIANT=1");
  CHECK(beside({-1, -2.5}).found == ability::no);
  CHECK(beside({-1, -2.5}).evidence.find("differ by up to 0.5;") != std::string::npos);
  CHECK(beside({-1, -2.000123456}).evidence.find("differ by up to 0.00012;") != std::string::npos);
  CHECK(beside({-1}).found == ability::no);
}

TEST_CASE(
    "reported: a hit in the cache that changes the answer is found out, and without a hit nothing is "
    "claimed") {
  auto state = known();
  const auto cached = [&](chat::reply cold, std::optional<std::uint64_t> before, chat::reply warm,
                          std::optional<std::uint64_t> after) {
    cold.usage.cached_tokens = before;
    warm.usage.cached_tokens = after;
    static_cast<void>(find_check("cached_tokens").judge(state, got(std::move(cold), std::move(warm))));
    return find_check("cache_invariance").judge(state, {});
  };
  const auto hit = cached(says("one"), 0, says("two"), 480);
  CHECK(hit.found == ability::no);
  CHECK(hit.evidence == "another text with 480 prompt tokens cached than with 0");
  const auto same = cached(says("one"), 0, says("one"), 480);
  CHECK(same.found == ability::yes);
  CHECK(same.evidence ==
        "the same text with 480 prompt tokens cached and with 0, without logprobs to compare");
  CHECK(cached(with_logprobs("one", {-1}), 0, with_logprobs("one", {-1.25}), 480).found == ability::no);
  CHECK(cached(with_logprobs("one", {-1}), 0, with_logprobs("one", {-1}), 480).found == ability::yes);
  // No hit, whatever the texts; or nobody says.
  CHECK(cached(says("one"), 0, says("one"), 0).found == ability::unknown);
  CHECK(cached(says("one"), 480, says("two"), 480).found == ability::unknown);
  CHECK(cached(says("one"), {}, says("one"), 480).found == ability::unknown);
  CHECK(cached(says("one"), {}, says("one"), {}).evidence ==
        "whether the second answer's prompt came from the cache is not told");
  state.warm.reset();
  CHECK(find_check("cache_invariance").judge(state, {}).found == ability::unknown);
}

TEST_CASE("reported: an answer that is another after a batch that a stop string ended is found out") {
  const auto asked = questions("order_invariance");
  REQUIRE(asked.size() == 5);
  CHECK(find_check("order_invariance").side_by_side == 4);
  // "one two three" has its first letter to stop at in "n".
  for (std::size_t at = 0; at < 4; ++at)
    CHECK(asked[at].request.params.stop == std::vector<std::string>{"n"});
  CHECK(asked[4].request.params.stop.empty());
  CHECK(asked[4].request.messages.front().text == asked[0].request.messages.front().text);

  auto state = known();
  state.report.findings = {{"greedy_repeat", ability::yes, ""}, {"stop", ability::yes, ""}};
  const auto after = [&](chat::reply target) {
    return find_check("order_invariance")
        .judge(state, got(says("o"), says("a"), says("b"), says("c"), std::move(target)));
  };
  CHECK(after(says("one two four")).found == ability::no);
  CHECK(after(says("one two four")).evidence == "another text after a batch that a stop string ended");
  CHECK(after(says("one two three")).found == ability::yes);
  // The control: a server whose repeat differs anyway proves nothing of the batch.
  state.report.findings.front().answer = ability::no;
  CHECK(after(says("one two four")).found == ability::unknown);
  state.report.findings = {{"greedy_repeat", ability::yes, ""}, {"stop", ability::no, ""}};
  CHECK(after(says("one two four")).evidence == "stop strings are not known to end its answers");
  state.plain = says("a");
  CHECK(settled("order_invariance", state).evidence == "not asked: the plain answer has no place to stop at");
}

TEST_CASE("what one streamed answer tells") {
  auto state = known();
  CHECK(find_check("streaming").judge(state, {}).found == ability::yes);
  CHECK(find_check("stream_end").judge(state, {}).evidence == "a finish reason (stop) closes the stream");
  CHECK(find_check("stream_usage").judge(state, {}).found == ability::no);
  CHECK(find_check("greedy_repeat").judge(state, {}).found == ability::yes);
  CHECK(find_check("reasoning").judge(state, {}).found == ability::unknown);
  state.plain->usage = {.prompt_tokens = 7, .completion_tokens = 3};
  CHECK(find_check("stream_usage").judge(state, {}).evidence == "7 prompt tokens, 3 completion tokens");
  state.plain->finish_raw.clear();
  CHECK(find_check("stream_end").judge(state, {}).found == ability::no);
  state.again = backend::answer(says("one two four"));
  CHECK(find_check("greedy_repeat").judge(state, {}).found == ability::no);
  state.again = backend::answer(without("temperature"));
  CHECK(find_check("greedy_repeat").judge(state, {}).found == ability::unknown);
  state.whole = R"({"choices":[{"message":{"content":"a","reasoning_content":"","reasoning":"hm"}}]})";
  CHECK(find_check("reasoning").judge(state, {}).evidence == "in the field reasoning");
  state.plain->timing.first_token.reset();
  CHECK(find_check("streaming").judge(state, {}).found == ability::no);
  CHECK(find_check("stream_end").judge(state, {}).found == ability::unknown);
}

TEST_CASE("what a dialect knows is not asked") {
  CHECK(questions("seed").size() == 3);
  CHECK(settled("seed", known("posttrainllm")).found == ability::no);
  CHECK(settled("cached_tokens", known("ollama")).found == ability::no);
  CHECK(settled("logprobs", known("omlx")).found == ability::no);
  CHECK(settled("tool_choice", known("mlx-server")).found == ability::no);
  CHECK(settled("response_format", known("mlx-server")).found == ability::no);
  CHECK(settled("prompt_arrays", known("vllm")).found == ability::yes);
}

TEST_CASE("what can end a server is never asked, and the finding says so") {
  for (const auto* dialect : {"generic", "mlx-server"}) {
    for (const auto* name : {"prompt_arrays", "prompt_tokens"}) {
      const auto known_of = settled(name, known(dialect));
      CHECK(known_of.found == ability::unknown);
      CHECK(known_of.evidence == "not asked: it can end some servers for all their clients");
    }
  }
}

TEST_CASE("every question is small, greedy unless it is about seeds, and within the context") {
  for (const auto& one : wire::dialects()) {
    const auto state = known(std::string(one.name).c_str());
    for (const auto& check : backend::checks()) {
      for (const auto& question : questions(check.name, state)) {
        if (question.request.messages.empty()) continue;
        CAPTURE(check.name);
        CHECK(question.request.params.max_tokens.value_or(1000) <= 32);
        CHECK((question.request.params.temperature == 0) == (check.name != "seed"));
        const auto written = wire::encode_openai_chat(question.request, one, false);
        CHECK((written || written.error().code == errc::unsupported));
      }
    }
  }
  // The cached prompt has the tokens that the cache wants, however long a token is, and fits the context.
  CHECK(questions("cached_tokens", known("openai"))[0].request.messages[0].text.size() >= 1024 * 8);
  auto tight = known("omlx");
  tight.report.about.context_per_slot = 2048;
  CHECK(settled("cached_tokens", tight).found == ability::unknown);
}

TEST_CASE("where the plain answer has no place to stop at, nothing is asked") {
  for (const auto* text : {"", "a", "aaa", "😀😀", "?!"}) {
    auto state = known();
    state.plain = says(text);
    CHECK(settled("stop", state).found == ability::unknown);
  }
}

TEST_CASE("two continuations that are equally likely prove nothing") {
  const chat::loglikelihood one{.sum_logprob = -1, .is_greedy = {}, .tokens = 1};
  const chat::loglikelihood other{.sum_logprob = -9, .is_greedy = {}, .tokens = 1};
  CHECK(backend::judge_prompt_logprobs(one, other));
  CHECK(backend::judge_prompt_logprobs(one, one).error().code == errc::unsupported);
  CHECK(backend::judge_prompt_logprobs(one, failed(errc::bad_reply)).error().code == errc::unsupported);
  CHECK(backend::judge_prompt_logprobs(failed(errc::timeout), other).error().code == errc::timeout);
}

TEST_CASE("an answer to GET /v1/models tells which API is spoken") {
  struct row {
    const char* body;
    bool messages;
  };
  const row rows[] = {
      // From Anthropic's documentation: a list, and a refusal.
      {R"({"data":[{"type":"model","id":"claude-x","display_name":"X","created_at":"2025-02-19T00:00:00Z"}],)"
       R"("first_id":"claude-x","has_more":false,"last_id":"claude-x"})",
       true},
      {R"({"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}})", true},
      {R"({"object":"list","data":[{"id":"m","object":"model"}]})", false},
      {R"({"models":[],"object":"list","data":[{"id":"m","object":"model","type":"model"}]})", false},
      {R"({"error":{"message":"no key","type":"invalid_request_error"}})", false},
      {R"({"data":[]})", false},
      {"<html>", false},
      {"", false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.body);
    CHECK(backend::in_messages_form(row.body) == row.messages);
  }
}
