#include <evalcore/chat/call_text.hpp>

#include "chat/python_lexer.hpp"
#include "chat/python_parser.hpp"
#include "chat/python_resolve.hpp"

namespace evalcore::chat {

result<std::vector<python_call>> decode_calls(std::string_view text) {
  static constexpr std::string_view around = "`\n ";
  const auto first = text.find_first_not_of(around);
  text = first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(around) - first + 1);
  std::string source;
  if (!text.starts_with('[')) source += '[';
  source += text;
  if (!source.ends_with(']')) source += ']';
  source = python::with_line_feeds(source);
  const auto parsed = python::parse_list(source);
  if (!parsed) return parsed.error();
  return python::resolve_calls(*parsed);
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
