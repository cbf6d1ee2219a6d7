#include <array>
#include <charconv>
#include <utility>

#include <evalcore/run/export.hpp>
#include <evalcore/run/prepare.hpp>

#include "run/export_formats.hpp"

namespace evalcore::run {
namespace {

/// What is empty has nothing to hide, and an empty answer is worth knowing.
void hide(std::string& text) {
  if (!text.empty()) text = redacted_text;
}

void hide(std::vector<std::string>& texts) {
  for (auto& one : texts) hide(one);
}

void hide(std::vector<chat::tool_call>& calls) {
  for (auto& one : calls) one = {"", std::string(redacted_text), std::string(redacted_text)};
}

chat::request hidden(const chat::request& of) {
  chat::request out;
  out.model = of.model;
  for (const auto& turn : of.messages) {
    chat::message kept;
    kept.who = turn.who;
    kept.text = turn.text;
    hide(kept.text);
    kept.calls = turn.calls;
    hide(kept.calls);
    out.messages.push_back(std::move(kept));
  }
  out.params = of.params;
  hide(out.params.stop);
  out.params.format.reset();
  out.choices = of.choices;
  hide(out.choices);
  return out;
}

chat::reply hidden(const chat::reply& of) {
  chat::reply out;
  out.text = of.text;
  out.reasoning = of.reasoning;
  out.calls = of.calls;
  out.refusal = of.refusal;
  hide(out.text);
  hide(out.reasoning);
  hide(out.calls);
  hide(out.refusal);
  out.finish = of.finish;
  out.model = of.model;
  out.usage = of.usage;
  out.timing = of.timing;
  out.dropped = of.dropped;
  out.choices = of.choices;
  return out;
}

}  // namespace

exported_item redacted(exported_item one) {
  one.line =
      json::object{{"id", one.one.id},
                   {"category", one.one.category.empty() ? json::value() : json::value(one.one.category)}};
  one.one.target = redacted_text;
  one.one.request = hidden(one.one.request);
  one.request = hidden(one.request);
  if (one.reply) one.reply = hidden(*one.reply);
  hide(one.verdict.extracted);
  hide(one.verdict.reason);
  one.verdict.steps.clear();
  // The reason of what is unscored may quote; the class of an error cannot.
  if (one.score.state == item_state::unscored) hide(one.score.why);
  return one;
}

std::string answer_text(const chat::reply& reply) {
  if (!reply.text.empty() || reply.calls.empty()) return reply.text;
  json::writer out;
  out.begin_array();
  for (const auto& call : reply.calls) {
    out.begin_object().key("name").string(call.name).key("arguments").string(call.arguments).end_object();
  }
  return out.end_array().take();
}

std::string prompt_text(const chat::request& request) {
  if (request.messages.size() == 1) {
    const auto& only = request.messages.front();
    if (only.who == chat::role::user && only.image_urls.empty()) return only.text;
  }
  chat::request turns;
  turns.messages = request.messages;
  for (auto& turn : turns.messages) {
    turn.is_error = false;
    turn.thinking.clear();
  }
  const auto body = json::parse(canonical_text(turns));
  const auto* found = body ? body->find("messages") : nullptr;
  return found != nullptr ? json::to_text(*found) : std::string();
}

std::string decimal(double number, int digits) {
  std::array<char, 400> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed, digits);
  return {text.data(), end.ptr};
}

}  // namespace evalcore::run
