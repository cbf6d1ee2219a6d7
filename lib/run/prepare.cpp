#include <evalcore/run/prepare.hpp>

#include <string>
#include <utility>

#include <evalcore/chat/tool_block.hpp>
#include <evalcore/chat/tool_schema.hpp>
#include <evalcore/score/bfcl.hpp>
#include <evalcore/score/scorer.hpp>
#include <evalcore/wire/openai_chat.hpp>

#include "run/prepared_item.hpp"

namespace evalcore::run {

namespace {

result<void> check_scorer(const item& one, item_scorers& scorers) {
  const auto scorer = scorers.of(one);
  return scorer ? (*scorer)->check(task_of(one)) : scorer.error();
}

/// Arguments in Java and JavaScript are asked for, and read, as source text.
result<void> ask_for_source_text(const item& one, chat::request& request) {
  const auto language = score::bfcl_language(one.category);
  if (!one.scorer.starts_with("bfcl") || language == chat::call_language::python) return {};
  for (auto& declared : request.tools) {
    auto asked =
        chat::with_source_text(declared, language == chat::call_language::java ? "Java" : "JavaScript");
    if (!asked) return std::move(asked).error();
    declared = *std::move(asked);
  }
  return {};
}

}  // namespace

result<void> check_items(const suite& from, std::size_t count, bool scored_by_host,
                         const std::string& scorer) {
  item_scorers scorers;
  if (!scorer.empty()) {
    auto named = score::find_scorer(scorer);
    if (!named) return std::move(named).error();
    scorers = item_scorers(*std::move(named));
  }
  for (std::size_t index = 0; index < count; ++index) {
    auto one = from.get(index);
    if (!one) return std::move(one).error();
    auto fit = scored_by_host ? result<void>() : check_scorer(*one, scorers);
    if (fit) {
      if (auto request = prepare(*one, {}); !request) fit = std::move(request).error();
    }
    if (!fit) {
      return fail(errc::bad_suite, stage::suite,
                  from.path() + ":" + std::to_string(one->line) + ": " + fit.error().message);
    }
  }
  return {};
}

result<chat::request> prepare(const item& one, const request_options& how) {
  chat::request request = one.request;
  request.model = how.model;
  if (!how.use_prompt_cache) request.hints.use_cache = false;
  if (!request.choices.empty()) return request;  // Nothing is generated, so nothing is sampled or bounded.
  auto& params = request.params;
  if (!params.temperature) params.temperature = how.defaults.temperature;
  if (!params.top_p) params.top_p = how.defaults.top_p;
  if (!params.top_k) params.top_k = how.defaults.top_k;
  if (!params.max_tokens) params.max_tokens = how.defaults.max_tokens;
  if (!params.seed) params.seed = how.defaults.seed;
  if (params.stop.empty()) params.stop = how.defaults.stop;

  if (auto asked = ask_for_source_text(one, request); !asked) return std::move(asked).error();
  if (how.tools == tools_mode::text) return chat::with_tools_as_text(request);
  for (auto& declared : request.tools) {
    auto fitting = chat::to_api_tool(declared);
    if (!fitting) return std::move(fitting).error();
    declared = *std::move(fitting);
  }
  return request;
}

std::string canonical_text(const chat::request& request) { return wire::identity_text(request); }

}  // namespace evalcore::run
