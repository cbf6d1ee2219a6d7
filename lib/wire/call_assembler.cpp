#include "wire/call_assembler.hpp"

#include <algorithm>

#include <evalcore/base/json.hpp>

namespace evalcore::wire {
namespace {

error nameless() { return fail(errc::bad_reply, stage::decode, "a tool call names no function"); }

bool is_complete(const std::string& arguments) { return json::parse(arguments).has_value(); }

/// Whether a fragment that names a function, at an index already in use, is another call.
bool begins_another(const chat::tool_call& held, std::string_view id, std::string_view name) {
  if (name.empty()) return false;
  if (!id.empty() && !held.id.empty()) return id != held.id;
  return is_complete(held.arguments);
}

}  // namespace

result<std::string> arguments_text(const element& function) {
  const auto arguments = member(function, "arguments");
  if (!arguments) return std::string{};
  if (const auto text = text_of(*arguments)) return std::string(*text);
  if (arguments->is_object()) return simdjson::minify(*arguments);
  return fail(errc::bad_reply, stage::decode, "a tool call's arguments are neither text nor an object");
}

std::size_t call_assembler::open() {
  calls_.emplace_back();
  return calls_.size() - 1;
}

std::size_t call_assembler::slot_for(const element& fragment, std::string_view id, std::string_view name) {
  std::int64_t index = 0;
  const auto given = member(fragment, "index");
  if (given && given->get_int64().get(index) == simdjson::SUCCESS) {
    const auto held = by_index_.find(index);
    if (held != by_index_.end() && !begins_another(calls_[held->second], id, name)) return held->second;
    return by_index_[index] = open();
  }
  if (const auto held = by_id_.find(id); held != by_id_.end()) return held->second;
  if (!name.empty() || calls_.empty()) return open();
  return calls_.size() - 1;
}

result<void> call_assembler::add(const element& fragment) {
  // Null stands for "nothing new" about the call before it, and so needs one.
  if (fragment.is_null() && !calls_.empty()) return {};
  if (!fragment.is_object()) return nameless();
  const std::string_view id = text_member(fragment, "id").value_or("");
  const auto function = member(fragment, "function");
  const std::string_view name = function ? text_member(*function, "name").value_or("") : "";
  auto& call = calls_[slot_for(fragment, id, name)];
  if (call.id.empty() && !id.empty()) {
    call.id = id;
    by_id_.emplace(call.id, static_cast<std::size_t>(&call - calls_.data()));
  }
  // A name may come in pieces, or again and again as a whole.
  if (call.name != name) call.name += name;
  if (!function) return {};
  auto arguments = arguments_text(*function);
  if (!arguments) return std::move(arguments).error();
  call.arguments += *arguments;
  return {};
}

result<std::vector<chat::tool_call>> call_assembler::take() {
  if (std::ranges::any_of(calls_, [](const auto& call) { return call.name.empty(); })) return nameless();
  return std::move(calls_);
}

}  // namespace evalcore::wire
