#include "backend/probe_checks.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "backend/probe_judges.hpp"

namespace evalcore::backend {
namespace {

using asked = std::variant<std::vector<question>, verdict>;

constexpr std::uint32_t some_tokens = 32;
constexpr std::size_t neighbours = 3;
constexpr std::array<const char*, neighbours> others{"Name the months of the year.", "hi",
                                                     "Which is longer, a mile or a kilometre, and why?"};
/// Characters that are a token at least, in any vocabulary that a model of words has.
constexpr std::size_t characters_a_token = 8;

chat::request saying(std::string text, std::uint32_t max_tokens = plain_tokens) {
  chat::request request;
  request.messages.emplace_back();
  request.messages.back().text = std::move(text);
  request.params.temperature = 0;
  request.params.max_tokens = max_tokens;
  return request;
}

chat::request plain() { return saying("Count from one to twenty in words."); }

chat::request scored() {
  auto request = plain();
  request.params.logprobs = true;
  return request;
}

/// The plain request, with logprobs where they are given.
chat::request as_before(const probe_state& state) { return state.scored ? scored() : plain(); }

question chat_question(chat::request request) { return {question::kind::chat, std::move(request)}; }

chat::request with_tool(chat::tool_choice::kind choice) {
  auto request = saying("hi", some_tokens);
  request.tools = {probe_tool()};
  request.tool_choice = chat::tool_choice{.how = choice};
  return request;
}

/// Not to be asked, since the dialect knows the answer.
std::optional<verdict> dropped(const probe_state& state, std::string_view field) {
  auto known = known_of(state.ways, field);
  if (known && known->found == ability::no) return known;
  return std::nullopt;
}

asked nothing(const probe_state& state, std::string_view name) {
  auto known = known_of(state.ways, name);
  return known ? *std::move(known) : verdict{ability::unknown, "not asked"};
}

std::vector<question> one(question::kind how) { return {{how, {}}}; }

asked ask_models(const probe_state& /*state*/) { return one(question::kind::models); }

asked ask_chat(const probe_state& /*state*/) {
  return std::vector{chat_question(plain()), chat_question(plain())};
}

asked ask_logprobs(const probe_state& state) {
  if (auto no = dropped(state, "logprobs")) return *std::move(no);
  return std::vector{chat_question(scored())};
}

asked ask_batch(const probe_state& state) {
  std::vector questions{chat_question(as_before(state))};
  for (const auto* text : others) questions.push_back(chat_question(saying(text)));
  return questions;
}

asked ask_cached(const probe_state& state) {
  if (auto no = dropped(state, "cached_tokens")) return *std::move(no);
  std::string text;
  const auto& cache = state.ways.cache;
  while (text.size() < std::max(cache.least, cache.sure) * characters_a_token) {
    text += "This text is long so that a prefix cache has something to keep. ";
  }
  const auto context = state.report.about.context_per_slot;
  if (context && text.size() / characters_a_token * 2 > *context) {
    return verdict{ability::unknown, "not asked: the context is too small for a prompt that is cached"};
  }
  auto request = saying(std::move(text));
  request.params.logprobs = state.scored.has_value();
  request.hints.slot = 0;
  request.hints.use_cache = true;
  return std::vector{chat_question(request), chat_question(request)};
}

asked ask_stop(const probe_state& state) {
  const auto stop = stop_string_in(state.plain->text);
  if (!stop) return verdict{ability::unknown, "not asked: the plain answer has no place to stop at"};
  auto request = plain();
  request.params.stop = {*stop};
  return std::vector{chat_question(std::move(request))};
}

/// A batch that a stop string ends, then the plain request once more.
asked ask_after_stop(const probe_state& state) {
  const auto stop = stop_string_in(state.plain->text);
  if (!stop) return verdict{ability::unknown, "not asked: the plain answer has no place to stop at"};
  std::vector questions{chat_question(plain())};
  for (const auto* text : others) questions.push_back(chat_question(saying(text)));
  for (auto& one : questions) one.request.params.stop = {*stop};
  questions.push_back(chat_question(as_before(state)));
  return questions;
}

asked ask_seed(const probe_state& state) {
  if (auto no = dropped(state, "seed")) return *std::move(no);
  std::vector<question> questions;
  for (const int seed : {7, 7, 8}) {
    auto request = plain();
    request.params.temperature = 1;
    request.params.seed = seed;
    questions.push_back(chat_question(std::move(request)));
  }
  return questions;
}

asked ask_n(const probe_state& /*state*/) {
  return std::vector<question>{{question::kind::two_answers, plain()}};
}

asked ask_tools(const probe_state& /*state*/) { return one(question::kind::tools); }

asked ask_tool_choice(const probe_state& state) {
  if (auto no = dropped(state, "tool_choice")) return *std::move(no);
  const auto* tools = state.report.find("tools");
  if (tools != nullptr && tools->answer == ability::no) {
    return verdict{ability::no, "tools do not reach the model"};
  }
  return std::vector{chat_question(with_tool(chat::tool_choice::kind::required)),
                     chat_question(with_tool(chat::tool_choice::kind::none))};
}

asked ask_format(const probe_state& state) {
  if (auto no = dropped(state, "response_format")) return *std::move(no);
  auto request = saying("hi", some_tokens);
  request.params.format = {
      .how = chat::response_format::kind::json_schema,
      .name = "answer",
      .schema = R"({"type":"object","properties":{"number":{"type":"integer"}},"required":["number"],)"
                R"("additionalProperties":false})"};
  return std::vector{chat_question(std::move(request))};
}

asked ask_prompt_logprobs(const probe_state& /*state*/) { return one(question::kind::prompt_logprobs); }

asked no_question(const probe_state& /*state*/) { return std::vector<question>(); }

constexpr std::array all{
    check{"models", true, 1, ask_models, judge_models},
    check{"chat", true, 1, ask_chat, judge_chat},
    check{"streaming", true, 1, no_question, judge_streaming},
    check{"stream_end", true, 1, no_question, judge_stream_end},
    check{"stream_usage", true, 1, no_question, judge_stream_usage},
    check{"cut_told", true, 1, no_question, judge_cut},
    check{"greedy_repeat", true, 1, no_question, judge_repeat},
    check{"logprobs", true, 1, ask_logprobs, judge_logprobs},
    check{"batch_invariance", false, 1 + neighbours, ask_batch, judge_batch},
    check{"cached_tokens", false, 1, ask_cached, judge_cached},
    check{"cache_invariance", false, 1, no_question, judge_cache},
    check{"stop", true, 1, ask_stop, judge_stop},
    check{"order_invariance", false, 1 + neighbours, ask_after_stop, judge_after_stop},
    check{"seed", false, 1, ask_seed, judge_seed},
    check{"n", false, 1, ask_n, judge_n},
    check{"reasoning", true, 1, no_question, judge_reasoning},
    check{"tools", true, 1, ask_tools, judge_tools},
    check{"tool_choice", false, 1, ask_tool_choice, judge_tool_choice},
    check{"response_format", false, 1, ask_format, judge_format},
    check{"prompt_logprobs", true, 1, ask_prompt_logprobs, judge_prompt_logprobs_check},
    check{"prompt_arrays", true, 1, [](const probe_state& state) { return nothing(state, "prompt_arrays"); },
          nullptr},
    check{"prompt_tokens", true, 1, [](const probe_state& state) { return nothing(state, "prompt_tokens"); },
          nullptr},
};

}  // namespace

const wire::dialect& dialect_of(const info& of) noexcept {
  const auto* ways = wire::find_dialect(of.dialect);
  return ways == nullptr ? wire::dialects().front() : *ways;
}

std::span<const check> checks() noexcept { return all; }

std::optional<verdict> known_of(const wire::dialect& ways, std::string_view name) {
  const auto known = [](wire::trait of, const char* yes, const char* no) -> std::optional<verdict> {
    if (of == wire::trait::unknown) return std::nullopt;
    return of == wire::trait::yes ? verdict{ability::yes, yes} : verdict{ability::no, no};
  };
  if (ways.ignores_field(name))
    return verdict{ability::no, "known of this kind of server: it drops the field"};
  if (name == "logprobs" && ways.ignores_field("stream.logprobs")) {
    return verdict{ability::no, "known of this kind of server: none in streams, whole answers have them"};
  }
  if (name == "logprobs") {
    return known(ways.logprobs, "known of this kind of server",
                 "known of this kind of server: it gives none");
  }
  if (name == "prompt_logprobs") {
    return known(ways.prompt_logprobs, "known of this kind of server",
                 "known of this kind of server: at most those of generated tokens");
  }
  if (name == "cached_tokens") {
    return known(ways.reports_cached_tokens, "known of this kind of server: each answer tells",
                 "known of this kind of server: its answers do not tell");
  }
  for (const auto& [field, safe] :
       {std::pair{"prompt_arrays", ways.prompt_arrays}, std::pair{"prompt_tokens", ways.prompt_tokens}}) {
    if (name != field) continue;
    if (safe) return verdict{ability::yes, "known of this kind of server"};
    return verdict{ability::unknown, "not asked: it can end some servers for all their clients"};
  }
  return std::nullopt;
}

chat::tool probe_tool() {
  return {.name = "get_weather",
          .description = "The weather of a city",
          .parameters = R"({"type":"object","properties":{"city":{"type":"string"}},"required":["city"]})"};
}

}  // namespace evalcore::backend
