#include "run/episode_request.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/chat/history.hpp>
#include <evalcore/wire/openai_chat.hpp>

namespace evalcore::run {
namespace {

void put_content(json::writer& out, const chat::message& turn) {
  if (turn.image_urls.empty()) {
    out.key("content").string(turn.text);
    return;
  }
  out.key("content").begin_array();
  if (!turn.text.empty()) {
    out.begin_object().key("type").string("text").key("text").string(turn.text).end_object();
  }
  for (const auto& url : turn.image_urls) {
    out.begin_object().key("type").string("image_url").key("image_url");
    out.begin_object().key("url").string(url).end_object().end_object();
  }
  out.end_array();
}

void put_calls(json::writer& out, const std::vector<chat::tool_call>& calls) {
  if (calls.empty()) return;
  out.key("tool_calls").begin_array();
  for (const auto& call : calls) {
    out.begin_object().key("id").string(call.id).key("type").string("function").key("function");
    out.begin_object().key("name").string(call.name).key("arguments").string(call.arguments).end_object();
    out.end_object();
  }
  out.end_array();
}

/// A message in the form of OpenAI's chat API and of suites, with what that has no field for.
std::string text_of(const chat::message& turn) {
  json::writer out;
  out.begin_object().key("role").string(chat::name(turn.who));
  put_content(out, turn);
  put_calls(out, turn.calls);
  if (!turn.call_id.empty()) out.key("tool_call_id").string(turn.call_id);
  if (turn.is_error) out.key("is_error").boolean(true);
  if (!turn.reasoning.empty()) out.key("reasoning").string(turn.reasoning);
  if (!turn.thinking.empty()) {
    out.key("thinking").begin_array();
    for (const auto& block : turn.thinking) {
      out.begin_object().key("text").string(block.text).key("signature").string(block.signature);
      out.key("redacted").string(block.redacted).key("id").string(block.id).end_object();
    }
    out.end_array();
  }
  return out.end_object().take();
}

std::string settings_of(chat::request of) {
  of.messages.clear();
  of.params.n.reset();  // A reply holds one answer; the text below would not be one object with more.
  return wire::identity_text(of);
}

std::string added(const std::vector<chat::message>& before, const std::string& settings_before,
                  const chat::request& now) {
  const auto kept = static_cast<std::size_t>(
      std::ranges::mismatch(before, now.messages,
                            [](const auto& a, const auto& b) { return text_of(a) == text_of(b); })
          .in1 -
      before.begin());
  json::writer out;
  out.begin_object().key("kept").number(std::uint64_t{kept}).key("messages").begin_array();
  for (std::size_t i = kept; i < now.messages.size(); ++i) out.raw(text_of(now.messages[i]));
  out.end_array();
  if (auto settings = settings_of(now); settings != settings_before) out.key("settings").raw(settings);
  return out.end_object().take();
}

}  // namespace

std::string added_to(const chat::request& before, const chat::reply& answer, const chat::request& now) {
  return added(chat::continued(before, answer, {}).messages, settings_of(before), now);
}

std::uint64_t family_of(const chat::request& request) {
  // About 256 tokens: a cache in blocks or with a minimum keeps less than that not at all.
  constexpr std::size_t least_bytes = 1024;
  std::string text;
  for (const auto& one : request.tools) {
    text += '\x1d' + one.name + '\x1f' + one.description + '\x1f' + one.parameters;
  }
  for (const auto& turn : request.messages) {
    if (turn.who != chat::role::system && turn.who != chat::role::developer) break;
    text += '\x1e' + turn.text;
  }
  return text.size() < least_bytes ? 0 : std::hash<std::string>()(text) | 1U;
}

std::string all_of(const chat::request& first) { return added({}, "", first); }

}  // namespace evalcore::run
