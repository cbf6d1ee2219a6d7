#include "show_text.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include <evalcore/base/json.hpp>
#include <evalcore/run/cost.hpp>
#include <evalcore/run/ids.hpp>
#include <evalcore/run/prepare.hpp>

#include "printable.hpp"

namespace evalcore::cli {
namespace {

/// Line by line, so that what a model wrote stays readable and cannot steer the terminal.
void print_block(std::string_view text) {
  while (true) {
    const auto cut = text.find('\n');
    std::printf("    %s\n", printable(text.substr(0, cut)).c_str());
    if (cut == std::string_view::npos) return;
    text.remove_prefix(cut + 1);
  }
}

void print_part(const char* title, std::string_view text) {
  if (text.empty()) return;
  std::printf("  %s\n", title);
  print_block(text);
}

std::string count(const std::optional<std::uint64_t>& of) { return of ? std::to_string(*of) : "unknown"; }

std::string span(const std::optional<duration>& of) {
  if (!of) return "unknown";
  char text[40];
  std::snprintf(text, sizeof text, "%.3f s", seconds(*of));
  return text;
}

void print_head(const run::item_view& of) {
  std::printf("item %s (%zu of %zu of %s)\n", printable(of.one.id).c_str(), of.position + 1, of.items,
              printable(of.suite).c_str());
  std::printf("  run %s, model %s\n", printable(of.run_id).c_str(), printable(of.model).c_str());
  for (const auto& [key, value] : of.identity)
    std::printf("  %s: %s\n", printable(key).c_str(), printable(value).c_str());
  if (!of.one.category.empty()) std::printf("  category: %s\n", printable(of.one.category).c_str());
  std::printf("  scorer: %s, metric %s\n", std::string(of.scorer->name()).c_str(),
              printable(of.scorer->metric()).c_str());
  std::printf("  target: %s\n", printable(json::to_text(of.one.target)).c_str());
}

void print_request(const run::item_view& of, const result<backend::chat_call>& call) {
  if (call) {
    std::printf("request: POST %s\n", call->path.c_str());
    print_block(call->body);
    for (const auto& field : call->dropped)
      std::printf("  without %s, for which the backend has no place\n", field.c_str());
    return;
  }
  std::printf("request (%s)\n", printable(call.error().message).c_str());
  print_block(run::canonical_text(of.request));
}

void print_attempt(std::size_t number, const run::stored_attempt& of, std::int64_t first_unix_ms) {
  const auto later = static_cast<double>(of.started_unix_ms - first_unix_ms) / 1000;
  std::printf("  %zu  %s  +%.3f s  %s", number, run::timestamp(of.started_unix_ms).c_str(), later,
              of.state.c_str());
  if (of.slot) std::printf(", slot %u", *of.slot);
  if (of.predicted_cached_tokens)
    std::printf(", %s cached tokens predicted", count(of.predicted_cached_tokens).c_str());
  if (of.cost) std::printf(", %s", run::usd_text(*of.cost).c_str());
  if (!of.answered_by.empty()) {
    std::printf(", with what run %s was replied (--cache); nothing was sent",
                printable(of.answered_by).c_str());
  }
  std::printf("\n");
  if (of.error_code.empty()) return;
  std::printf("     %s at %s", of.error_code.c_str(), of.error_stage.c_str());
  if (of.http_status) std::printf(", HTTP %d", *of.http_status);
  std::printf(": %s\n", printable(of.error_message).c_str());
  if (!of.backend_words.empty()) std::printf("     it said: %s\n", printable(of.backend_words).c_str());
}

void print_attempts(const run::item_history& of) {
  std::printf("attempts: %zu\n", of.attempts.size());
  for (std::size_t i = 0; i < of.attempts.size(); ++i)
    print_attempt(i + 1, of.attempts[i], of.attempts.front().started_unix_ms);
}

void print_reply(const chat::reply& of) {
  print_part("reasoning", of.reasoning);
  print_part("text", of.text);
  for (const auto& call : of.calls) print_part("call", call.name + "(" + call.arguments + ")");
  print_part("refusal", of.refusal);
  for (const auto& one : of.choices) {
    std::printf("  choice: sum of logprobs %.6f over %s tokens\n", one.sum_logprob,
                count(one.tokens).c_str());
  }
  std::printf("  finish: %s", std::string(chat::name(of.finish)).c_str());
  if (!of.finish_raw.empty()) std::printf(" (%s)", printable(of.finish_raw).c_str());
  std::printf("\n  tokens: prompt %s, cached %s, completion %s, reasoning %s\n",
              count(of.usage.prompt_tokens).c_str(), count(of.usage.cached_tokens).c_str(),
              count(of.usage.completion_tokens).c_str(), count(of.usage.reasoning_tokens).c_str());
  std::printf("  first token after %s, all after %s\n", span(of.timing.first_token).c_str(),
              span(of.timing.total).c_str());
}

void print_score(const run::item_score& state, const score::verdict& what) {
  for (const auto& step : what.steps)
    print_part(std::string(step.name).c_str(), step.text.empty() ? "(nothing)" : step.text);
  if (state.state == run::item_state::scored) {
    std::printf("  %s%s%s\n", json::to_text(state.value).c_str(), what.reason.empty() ? "" : ": ",
                printable(what.reason).c_str());
  } else {
    std::printf("  %s%s%s\n", std::string(name(state.state)).c_str(), state.why.empty() ? "" : ": ",
                printable(state.why).c_str());
  }
  for (const auto& one : what.further) std::printf("  %s %.4f\n", std::string(one.metric).c_str(), one.value);
}

run::item_score state_of(const score::verdict& what) {
  using enum run::item_state;
  return what.scored ? run::item_score{scored, what.value, {}} : run::item_score{unscored, 0, what.reason};
}

bool same_answer(const chat::reply& a, const chat::reply& b) {
  return a.text == b.text &&
         std::ranges::equal(a.calls, b.calls,
                            [](const auto& one, const auto& other) {
                              return one.name == other.name && one.arguments == other.arguments;
                            }) &&
         std::ranges::equal(a.choices, b.choices, {}, &chat::loglikelihood::sum_logprob,
                            &chat::loglikelihood::sum_logprob);
}

void print_again(const run::item_view& of, const resent_reply& again) {
  if (again.prompt) {
    std::printf("prompt, as the model sees it\n");
    print_block(*again.prompt);
  }
  std::printf("reply now, of %s\n", printable(again.answered_by).c_str());
  print_reply(again.reply);
  std::printf("score now\n");
  print_score(state_of(again.verdict), again.verdict);
  const bool same = of.reply && same_answer(*of.reply, again.reply);
  std::printf("the answer is %sthat of the run\n", same ? "" : "not ");
}

}  // namespace

void print_item(const run::item_view& of, const result<backend::chat_call>& call, const resent_reply* again) {
  print_head(of);
  print_request(of, call);
  print_attempts(of.history);
  if (of.reply) {
    std::printf("reply\n");
    print_reply(*of.reply);
    std::printf("  as it is stored\n");
    print_block(of.history.reply_body);
  } else {
    std::printf("no reply\n");
  }
  std::printf("score\n");
  print_score(of.score, of.verdict);
  if (again != nullptr) print_again(of, *again);
}

}  // namespace evalcore::cli
