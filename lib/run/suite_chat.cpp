#include "run/suite_chat.hpp"

#include <array>
#include <utility>

#include "run/suite_members.hpp"

namespace evalcore::run {
namespace {

std::string element_name(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

result<void> read_parts(const json::array& parts, chat::message& into, const std::string& where) {
  for (const auto& part : parts) {
    const auto* kind = part.find("type");
    const auto* type = kind != nullptr ? kind->if_string() : nullptr;
    if (type == nullptr) return bad_line(where + ": a part of the content lacks \"type\"");
    if (*type == "text") {
      const auto* text = part.find("text");
      if (text == nullptr || text->if_string() == nullptr) {
        return bad_line(where + ": a text part lacks \"text\"");
      }
      // A turn holds its text before its images; moving this text would change the prompt.
      if (!into.image_urls.empty()) {
        return bad_line(where + ": text after an image is not supported; put the text first");
      }
      if (!into.text.empty()) into.text += '\n';
      into.text += *text->if_string();
    } else if (*type == "image_url") {
      const auto* image = part.find("image_url");
      const auto* url = image != nullptr ? image->find("url") : nullptr;
      if (url == nullptr || url->if_string() == nullptr) {
        return bad_line(where + ": an image_url part lacks \"image_url\": {\"url\": …}");
      }
      into.image_urls.push_back(*url->if_string());
    } else {
      return bad_line(where + ": a content part of type " + quoted(*type) +
                      " is not supported; known are text, image_url");
    }
  }
  return {};
}

result<chat::tool_call> read_call(const json::value& call, const std::string& where) {
  const auto* function = call.find("function");
  if (function == nullptr) return bad_line(where + " lacks \"function\"");
  auto id = optional_string(call, "id", where);
  if (!id) return std::move(id).error();
  auto name = required_string(*function, "name", where);
  if (!name) return std::move(name).error();
  const auto* arguments = function->find("arguments");
  std::string text = "{}";
  if (arguments != nullptr && !arguments->is_null()) {
    const auto* already_text = arguments->if_string();
    text = already_text != nullptr ? *already_text : json::to_text(*arguments);
  }
  return chat::tool_call{*std::move(id), *std::move(name), std::move(text)};
}

result<void> read_calls(const json::value& list, chat::message& into, const std::string& where) {
  const auto* calls = list.if_array();
  if (calls == nullptr) return bad_line(where + ": \"tool_calls\" is not a list");
  if (into.who != chat::role::assistant)
    return bad_line(where + ": only an assistant turn has \"tool_calls\"");
  for (std::size_t i = 0; i < calls->size(); ++i) {
    auto call = read_call((*calls)[i], where + "." + element_name("tool_calls", i));
    if (!call) return std::move(call).error();
    into.calls.push_back(*std::move(call));
  }
  return {};
}

result<chat::message> read_message(const json::value& turn, const std::string& where) {
  const auto* members = turn.if_object();
  if (members == nullptr) return bad_line(where + " is not an object");
  static constexpr std::array<std::string_view, 4> known{"role", "content", "tool_calls", "tool_call_id"};
  if (auto clean = only_known(*members, known, where); !clean) return std::move(clean).error();

  auto role = required_string(turn, "role", where);
  if (!role) return std::move(role).error();
  const auto who = chat::role_from(*role);
  if (!who) {
    return bad_line(where + ": unknown role " + quoted(*role) +
                    "; known are system, developer, user, assistant, tool");
  }
  chat::message out;
  out.who = *who;

  const auto* calls = turn.find("tool_calls");
  if (calls != nullptr && !calls->is_null()) {
    if (auto read = read_calls(*calls, out, where); !read) return std::move(read).error();
  }
  const auto* content = turn.find("content");
  if (content == nullptr || content->is_null()) {
    if (out.calls.empty()) return bad_line(where + " lacks \"content\"");
  } else if (const auto* text = content->if_string()) {
    out.text = *text;
  } else if (const auto* parts = content->if_array()) {
    if (auto read = read_parts(*parts, out, where); !read) return std::move(read).error();
  } else {
    return bad_line(where + ": \"content\" is neither a string nor a list of parts");
  }
  auto call_id = *who == chat::role::tool ? required_string(turn, "tool_call_id", where)
                                          : optional_string(turn, "tool_call_id", where);
  if (!call_id) return std::move(call_id).error();
  out.call_id = *std::move(call_id);
  return out;
}

result<chat::tool> read_tool(const json::value& entry, const std::string& where) {
  const auto* wrapped = entry.find("function");
  const auto& function = wrapped != nullptr ? *wrapped : entry;
  chat::tool out;
  auto name = required_string(function, "name", where);
  if (!name) return std::move(name).error();
  out.name = *std::move(name);
  auto description = optional_string(function, "description", where);
  if (!description) return std::move(description).error();
  out.description = *std::move(description);
  const auto* parameters = function.find("parameters");
  if (parameters == nullptr || parameters->is_null()) {
    out.parameters = R"({"type":"object","properties":{}})";
  } else if (parameters->if_object() != nullptr) {
    out.parameters = json::to_text(*parameters);
  } else {
    return bad_line(where + ": \"parameters\" is not an object");
  }
  if (const auto* strict = given(function, "strict")) {
    if (strict->if_bool() == nullptr) return bad_line(where + ": \"strict\" is neither true nor false");
    out.strict = *strict->if_bool();
  }
  return out;
}

}  // namespace

result<std::vector<chat::message>> read_messages(const json::value& list, std::string_view name) {
  const auto* turns = list.if_array();
  if (turns == nullptr) return bad_line(quoted(name) + " is not a list");
  if (turns->empty()) return bad_line(quoted(name) + " is empty");
  std::vector<chat::message> out;
  out.reserve(turns->size());
  for (std::size_t i = 0; i < turns->size(); ++i) {
    auto message = read_message((*turns)[i], element_name(name, i));
    if (!message) return std::move(message).error();
    out.push_back(*std::move(message));
  }
  return out;
}

result<std::vector<chat::tool>> read_tools(const json::value& list, std::string_view name) {
  const auto* entries = list.if_array();
  if (entries == nullptr) return bad_line(quoted(name) + " is not a list");
  std::vector<chat::tool> out;
  out.reserve(entries->size());
  for (std::size_t i = 0; i < entries->size(); ++i) {
    auto tool = read_tool((*entries)[i], element_name(name, i));
    if (!tool) return std::move(tool).error();
    out.push_back(*std::move(tool));
  }
  return out;
}

}  // namespace evalcore::run
