#include "run/report_items.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <evalcore/base/hash.hpp>
#include <evalcore/base/json_optional.hpp>

#include "run/deflate.hpp"

namespace evalcore::run {
namespace {

/// A page of ten thousand rows is read before it shows; texts are read a block at a time.
constexpr std::size_t rows_in_block = 8192;
constexpr std::size_t text_block_bytes = std::size_t{256} * 1024;
/// Of a page of at most 50 MB; the rest is for the rows of 100,000 items and what does not grow.
constexpr std::size_t most_text_bytes = 42'000'000;

using turn = std::pair<std::string_view, std::string>;

std::string call_text(const chat::tool_call& call) { return call.name + " " + call.arguments; }

std::vector<turn> turns_of(const chat::request& asked) {
  std::vector<turn> out;
  for (const auto& tool : asked.tools)
    out.emplace_back("tool declared", tool.name + " " + tool.description + "\n" + tool.parameters);
  for (const auto& one : asked.messages) {
    if (!one.text.empty() || one.calls.empty()) out.emplace_back(name(one.who), one.text);
    for (const auto& url : one.image_urls) out.emplace_back("image", url);
    for (const auto& call : one.calls) out.emplace_back("call", call_text(call));
  }
  for (const auto& choice : asked.choices) out.emplace_back("choice", choice);
  return out;
}

std::vector<turn> parts_of(const chat::reply& reply) {
  std::vector<turn> out;
  if (!reply.reasoning.empty()) out.emplace_back("reasoning", reply.reasoning);
  if (!reply.text.empty()) out.emplace_back("text", reply.text);
  for (const auto& call : reply.calls) out.emplace_back("call", call_text(call));
  if (!reply.refusal.empty()) out.emplace_back("refusal", reply.refusal);
  for (const auto& one : reply.choices) {
    std::string number;
    json::append_number(number, one.sum_logprob);
    out.emplace_back("sum_logprob", std::move(number));
  }
  if (reply.finish == chat::finish_reason::length) out.emplace_back("cut by length", std::string());
  return out;
}

bool left_out(const json::value& text) {
  const auto* cut = text.if_array();
  return cut != nullptr && cut->front() == json::value("") && cut->back() == json::value("");
}

/// [[kind, text, …]]; neighbours of which nothing is shown are one, without a kind.
json::value shown(std::span<const turn> turns, std::span<const std::string_view> own,
                  std::span<const std::size_t> fronts) {
  const auto cut = cut_texts(own, report_text_bytes);
  json::array out;
  std::uint64_t skipped = 0;
  const auto tell_skipped = [&] {
    if (skipped > 0)
      out.emplace_back(json::array{json::value(), json::array{"", std::exchange(skipped, 0), ""}});
  };
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const bool shares = !fronts.empty() && fronts[i] != shared_fronts::none;
    if (left_out(cut[i]) && !shares) {
      skipped += own[i].size();
      continue;
    }
    tell_skipped();
    json::array one{turns[i].first, cut[i]};
    if (shares) one.emplace_back(std::uint64_t{fronts[i]});
    out.emplace_back(std::move(one));
  }
  tell_skipped();
  return out;
}

json::value reply_json(const chat::reply& reply) {
  const auto parts = parts_of(reply);
  const std::vector<std::string_view> texts = [&] {
    std::vector<std::string_view> all;
    for (const auto& one : parts) all.emplace_back(one.second);
    return all;
  }();
  return shown(parts, texts, {});
}

char letter(item_state of) { return name(of).front(); }

std::string block(std::string_view attribute, std::string_view json_text) {
  std::string out = "<script type=\"text/plain\" ";
  out.append(attribute).append(">").append(to_base64(deflated(json_text))).append("</script>\n");
  return out;
}

}  // namespace

report_items::report_items(std::size_t runs, sink into) : into_(std::move(into)), runs_(runs) {}

std::uint64_t report_items::category(const std::string& name) {
  const auto known = std::ranges::find(categories_, name);
  if (known == categories_.end()) {
    categories_.push_back(name);
    return categories_.size() - 1;
  }
  return static_cast<std::uint64_t>(known - categories_.begin());
}

void report_items::add_row(std::span<const stored_item> readings) {
  const auto& one = readings.front().what.one;
  ids_.push_back(cut_text(one.id));
  category_.emplace_back(category(one.category));
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    const auto& read = readings[run];
    auto& into = runs_[run];
    into.state += letter(read.score.state);
    into.value.push_back(read.score.state == item_state::scored ? json::value(read.score.value)
                                                                : json::value());
    const auto total = read.stored ? read.stored->reply.timing.total : std::nullopt;
    into.ms.push_back(
        total ? json::value(std::int64_t{std::chrono::round<std::chrono::milliseconds>(*total).count()})
              : json::value());
    into.tokens.push_back(
        json::or_null(read.stored ? read.stored->reply.usage.completion_tokens : std::nullopt));
  }
}

json::value report_items::texts_of(std::span<const stored_item> readings) {
  const auto turns = turns_of(readings.front().what.request);
  std::vector<std::string_view> own;
  std::vector<std::size_t> fronts;
  for (const auto& one : turns) {
    const auto split = fronts_.add(one.second);
    own.push_back(split.own);
    fronts.push_back(split.front);
  }
  json::array runs;
  for (const auto& read : readings) {
    json::object told;
    if (read.stored) {
      told.emplace_back("reply", reply_json(read.stored->reply));
      told.emplace_back("extracted", cut_text(read.verdict.extracted));
    }
    const auto& why = read.stored ? read.verdict.reason : read.score.why;
    if (!why.empty()) told.emplace_back("why", cut_text(why));
    runs.emplace_back(std::move(told));
  }
  return json::object{{"prompt", shown(turns, own, fronts)},
                      {"target", cut_text(json::to_text(readings.front().what.one.target))},
                      {"runs", std::move(runs)}};
}

result<void> report_items::add(std::span<const stored_item> readings) {
  add_row(readings);
  const bool full = texts_written_ >= most_text_bytes;
  if (full) ++without_text_;
  texts_ += texts_.empty() ? "" : ",";
  texts_ += full ? "null" : json::to_text(texts_of(readings));
  ++texts_in_block_;
  ++count_;
  if (texts_.size() >= text_block_bytes) {
    if (auto written = write_texts(); !written) return written;
  }
  return ids_.size() < rows_in_block ? result<void>() : write_rows();
}

result<void> report_items::end() {
  if (auto written = write_texts(); !written) return written;
  return write_rows();
}

result<void> report_items::write_rows() {
  if (ids_.empty()) return {};
  json::array runs;
  for (auto& one : runs_) {
    runs.emplace_back(json::object{{"state", std::move(one.state)},
                                   {"value", std::move(one.value)},
                                   {"ms", std::move(one.ms)},
                                   {"tokens", std::move(one.tokens)}});
    one = {};
  }
  const json::value rows = json::object{{"first", count_ - ids_.size()},
                                        {"ids", std::exchange(ids_, {})},
                                        {"category", std::exchange(category_, {})},
                                        {"runs", std::move(runs)}};
  return into_(block("data-rows", json::to_text(rows)));
}

result<void> report_items::write_texts() {
  if (texts_in_block_ == 0) return {};
  std::string text = R"({"fronts":[)";
  for (const auto& one : fronts_.fronts()) {
    if (text.back() != '[') text += ',';
    text += json::to_text(cut_text(one, report_text_bytes));
  }
  text.append(R"(],"items":[)").append(std::exchange(texts_, {})).append("]}");
  fronts_.reset();
  const auto count = std::exchange(texts_in_block_, 0);
  const auto made =
      block("data-texts=\"" + std::to_string(count_ - count) + " " + std::to_string(count) + "\"", text);
  texts_written_ += made.size();
  return into_(made);
}

}  // namespace evalcore::run
