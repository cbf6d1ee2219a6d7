#include <evalcore/chat/call_text.hpp>

#include <utility>

#include "chat/python_lexer.hpp"
#include "chat/python_parser.hpp"
#include "chat/python_resolve.hpp"
#include "chat/source_call.hpp"

namespace evalcore::chat {

namespace {

/// The text in brackets, which are supplied where they are missing.
std::string bracketed(std::string_view text) {
  static constexpr std::string_view around = "`\n ";
  const auto first = text.find_first_not_of(around);
  text = first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(around) - first + 1);
  std::string source;
  if (!text.starts_with('[')) source += '[';
  source += text;
  if (!source.ends_with(']')) source += ']';
  return source;
}

}  // namespace

result<std::vector<python_call>> decode_calls(std::string_view text) {
  const auto parsed = python::parse_list(python::with_line_feeds(bracketed(text)));
  if (!parsed) return parsed.error();
  return python::resolve_calls(*parsed);
}

result<std::vector<python_call>> decode_calls(std::string_view text, call_language in) {
  if (in == call_language::python) return decode_calls(text);
  const auto source = bracketed(text);
  auto call = source::read_call(std::string_view(source).substr(1, source.size() - 2), in);
  if (!call) return std::move(call).error();
  return std::vector{*std::move(call)};
}

result<std::vector<python_call>> calls_from_native(const std::vector<tool_call>& calls) {
  std::vector<python_call> out;
  for (const auto& call : calls) {
    python_call one;
    one.name = call.name;
    if (call.arguments.find_first_not_of(" \t\r\n") != std::string::npos) {
      const auto parsed = json::parse(call.arguments);
      const auto* members = parsed ? parsed->if_object() : nullptr;
      if (members == nullptr) {
        return fail(errc::bad_reply, stage::decode,
                    "the arguments of call " + call.name + " are not a JSON object");
      }
      for (const auto& [name, value] : *members) one.arguments.emplace_back(name, from_json(value));
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace evalcore::chat
