#include <evalcore/chat/tool_block.hpp>

#include <string_view>
#include <utility>

#include <evalcore/base/json.hpp>
#include <evalcore/chat/call_text.hpp>

namespace evalcore::chat {
namespace {

// Short, because a small model reads it; the format line is BFCL's.
constexpr std::string_view instruction =
    "You answer requests by calling functions. Reply with the calls only, in the format "
    "[func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)] "
    "and with no other text. If no function fits the request, or a required parameter is missing from it, "
    "say so instead.\n"
    "The functions, in JSON:\n";

std::string call_text(const tool_call& call) {
  if (const auto read = calls_from_native({call})) return repr(read->front());
  // What the history holds need not be sound; the model sees it as it is.
  return call.name + "(" + call.arguments + ")";
}

std::string calls_text(const std::vector<tool_call>& calls) {
  std::string out = "[";
  std::string_view between;
  for (const auto& call : calls) {
    out += between;
    out += call_text(call);
    between = ", ";
  }
  return out + "]";
}

message as_text(message turn) {
  if (!turn.calls.empty()) {
    if (!turn.text.empty()) turn.text += '\n';
    turn.text += calls_text(turn.calls);
    turn.calls.clear();
  }
  if (turn.who == role::tool) {
    turn.who = role::user;
    turn.call_id.clear();
  }
  return turn;
}

}  // namespace

std::string render_tool_block(const std::vector<tool>& tools) {
  std::string block(instruction);
  std::string_view between;
  for (const auto& one : tools) {
    json::writer line;
    line.begin_object().key("name").string(one.name);
    if (!one.description.empty()) line.key("description").string(one.description);
    if (!one.parameters.empty()) line.key("parameters").raw(one.parameters);
    line.end_object();
    block += between;
    block += line.text();
    between = "\n";
  }
  return block;
}

request with_tools_as_text(const request& original) {
  if (original.tools.empty()) return original;
  request changed = original;
  changed.tools.clear();
  changed.tool_choice.reset();
  changed.parallel_tool_calls.reset();
  auto& ends = changed.hints.breakpoints;
  ends.after_system = ends.after_system || ends.after_tools;
  ends.after_tools = false;
  for (auto& turn : changed.messages) turn = as_text(std::move(turn));

  std::string block = render_tool_block(original.tools);
  auto& turns = changed.messages;
  const bool has_system =
      !turns.empty() && (turns.front().who == role::system || turns.front().who == role::developer);
  if (!has_system) {
    message system;
    system.who = role::system;
    turns.insert(turns.begin(), std::move(system));
    for (auto& index : ends.after_messages) ++index;
  }
  std::string& own = turns.front().text;
  if (!own.empty()) own.insert(0, "\n\n");
  own.insert(0, block);
  return changed;
}

}  // namespace evalcore::chat
