#include "engine/llama_template.hpp"

#include <llama.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <evalcore/chat/tool_block.hpp>

namespace evalcore::engine {
namespace {

/// What llama.cpp makes of a chat; absent: it does not know the template.
std::optional<std::string> write_chat(const char* chat_template,
                                      const std::vector<llama_chat_message>& turns) {
  std::string text(1024, '\0');
  for (;;) {
    const auto length = llama_chat_apply_template(chat_template, turns.data(), turns.size(), true,
                                                  text.data(), static_cast<std::int32_t>(text.size()));
    if (length < 0) return std::nullopt;
    const bool whole = static_cast<std::size_t>(length) <= text.size();
    text.resize(static_cast<std::size_t>(length));
    if (whole) return text;
  }
}

/// The first built-in template that writes a chat as `own` is understood.
std::string name_of(const char* own) {
  const std::vector<llama_chat_message> sample{
      {"system", "s"}, {"user", "u"}, {"assistant", "a"}, {"user", "v"}};
  const auto wanted = write_chat(own, sample);
  if (!wanted) return {};
  std::array<const char*, 256> names{};
  const auto count = std::min<std::size_t>(
      static_cast<std::size_t>(std::max(llama_chat_builtin_templates(names.data(), names.size()), 0)),
      names.size());
  for (std::size_t at = 0; at < count; ++at)
    if (write_chat(names.at(at), sample) == wanted) return names.at(at);
  return "unnamed";
}

evalcore::error no_place(const std::string& what) {
  return fail(errc::unsupported, stage::send, what + ", for which the chat template has no place");
}

result<void> check(const chat::request& request) {
  const auto& thinking = request.thinking;
  if (thinking.enabled || thinking.budget_tokens || !thinking.effort.empty())
    return no_place("the request says how much to think");
  if (request.messages.empty()) return fail(errc::invalid_argument, stage::send, "the request has no turns");
  for (const auto& turn : request.messages) {
    if (!turn.image_urls.empty()) return no_place("a turn has an image");
    if (request.tools.empty() && (!turn.calls.empty() || turn.who == chat::role::tool))
      return no_place("the history has calls of tools, and the request declares none");
  }
  return {};
}

const char* role_name(chat::role who) {
  switch (who) {
    case chat::role::system:
    case chat::role::developer:
      return "system";
    case chat::role::assistant:
      return "assistant";
    case chat::role::user:
    case chat::role::tool:
      break;
  }
  return "user";
}

bool holds_nul(const chat::request& request) {
  return std::ranges::any_of(
      request.messages, [](const chat::message& turn) { return turn.text.find('\0') != std::string::npos; });
}

std::string warning_for(const std::string& source, const std::string& text, const chat::request& request,
                        const calendar_day& today) {
  if (source.find("strftime_now") != std::string::npos)
    return "the model's chat template prints the date: the same request renders differently another day";
  const bool asked_for = std::ranges::any_of(
      request.messages, [&](const chat::message& turn) { return shows_day(turn.text, today); });
  if (!asked_for && shows_day(text, today))
    return "the rendered prompt holds today's date: the same request may render differently another day";
  return {};
}

}  // namespace

chat_template::chat_template(std::string source) : source_(std::move(source)) {
  if (!source_.empty()) name_ = name_of(source_.c_str());
}

result<rendered> chat_template::render(const chat::request& request, std::string_view beginning,
                                       const calendar_day& today) const {
  if (source_.empty())
    return fail(errc::unsupported, stage::send,
                "the model has no chat template: ask it for completions, or run it behind a server that is "
                "given one");
  if (name_.empty())
    return fail(errc::unsupported, stage::send,
                "the model's chat template is none of those that llama.cpp can write without a template "
                "engine: run the model behind its server");
  if (auto good = check(request); !good) return std::move(good).error();
  const auto plain = chat::with_tools_as_text(request);
  if (holds_nul(plain)) return fail(errc::invalid_argument, stage::send, "a turn holds a NUL character");

  std::vector<llama_chat_message> turns;
  turns.reserve(plain.messages.size());
  for (const auto& turn : plain.messages) turns.push_back({role_name(turn.who), turn.text.c_str()});
  auto text = write_chat(source_.c_str(), turns);
  if (!text) return no_place("llama.cpp cannot write the turns in this order");
  if (!text->starts_with(beginning)) text->insert(0, beginning);

  rendered prompt;
  prompt.template_name = name_ + (request.tools.empty() ? "" : " with the tools as text");
  prompt.warning = warning_for(source_, *text, request, today);
  prompt.text = *std::move(text);
  return prompt;
}

}  // namespace evalcore::engine
