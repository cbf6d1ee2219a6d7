#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include <evalcore/base/utf8.hpp>

#include "run/export_formats.hpp"

namespace evalcore::run {
namespace {

/// A spreadsheet takes a cell that begins so for a formula, and runs it.
bool begins_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
}

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string cell(std::string_view text) {
  auto whole = replace_invalid_utf8(text);
  if (begins_formula(whole)) whole.insert(0, 1, '\'');
  return quoted(whole);
}

std::string number(const std::optional<std::uint64_t>& of) {
  return of ? std::to_string(*of) : std::string();
}

std::string time(const std::optional<duration>& of) { return of ? decimal(seconds(*of), 6) : std::string(); }

std::string target_text(const json::value& target) {
  const auto* text = target.if_string();
  return text != nullptr ? *text : target.is_null() ? std::string() : json::to_text(target);
}

std::string joined(const std::vector<std::string>& cells) {
  std::string out;
  for (const auto& one : cells) out.append(out.empty() && &one == &cells.front() ? "" : ",").append(one);
  return out + "\r\n";
}

}  // namespace

std::string csv_head() {
  return joined({"run_id",
                 "task",
                 "model",
                 "id",
                 "category",
                 "metric",
                 "state",
                 "value",
                 "reason",
                 "extracted",
                 "target",
                 "prompt",
                 "reply",
                 "finish",
                 "prompt_tokens",
                 "cached_tokens",
                 "completion_tokens",
                 "reasoning_tokens",
                 "first_token_s",
                 "total_s"});
}

std::string csv_line(const exported_run& run, const exported_item& one) {
  const chat::reply none;
  const auto& reply = one.reply ? *one.reply : none;
  const bool scored = one.score.state == item_state::scored;
  std::string value;
  if (scored) json::append_number(value, one.score.value);
  return joined({cell(run.what.run_id),
                 cell(run.what.task),
                 cell(run.labels.model_name),
                 cell(one.one.id),
                 cell(one.one.category),
                 cell(one.scorer->metric()),
                 std::string(name(one.score.state)),
                 value,
                 cell(scored ? one.verdict.reason : one.score.why),
                 cell(one.verdict.extracted),
                 cell(target_text(one.one.target)),
                 cell(prompt_text(one.request)),
                 cell(answer_text(reply)),
                 one.reply ? std::string(chat::name(reply.finish)) : std::string(),
                 number(reply.usage.prompt_tokens),
                 number(reply.usage.cached_tokens),
                 number(reply.usage.completion_tokens),
                 number(reply.usage.reasoning_tokens),
                 time(reply.timing.first_token),
                 time(reply.timing.total)});
}

}  // namespace evalcore::run
