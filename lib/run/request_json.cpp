#include <evalcore/run/request_json.hpp>

#include <utility>

#include <evalcore/base/json.hpp>

#include "run/suite_chat.hpp"
#include "run/suite_params.hpp"

namespace evalcore::run {
namespace {

error refused(error why) {
  why.code = errc::invalid_request;
  why.at = stage::config;
  return why;
}

/// A member that stands twice says two things: neither is guessed.
result<json::value> parsed(std::string_view text) {
  auto read = json::parse(text, json::repeated_keys::refused);
  if (!read) return refused(std::move(read).error());
  return read;
}

}  // namespace

result<std::vector<chat::message>> messages_from_json(std::string_view text) {
  const auto list = parsed(text);
  if (!list) return list.error();
  auto read = read_messages(*list, "messages");
  if (!read) return refused(std::move(read).error());
  return read;
}

result<std::vector<chat::tool>> tools_from_json(std::string_view text) {
  const auto list = parsed(text);
  if (!list) return list.error();
  auto read = read_tools(*list, "tools");
  if (!read) return refused(std::move(read).error());
  return read;
}

result<chat::request> with_params_from_json(const chat::request& of, std::string_view text) {
  const auto params = parsed(text);
  if (!params) return params.error();
  auto made = of;
  made.params = {};
  made.thinking = {};
  made.tool_choice.reset();
  made.parallel_tool_calls.reset();
  if (auto read = read_params(*params, made); !read) return refused(std::move(read).error());
  return made;
}

}  // namespace evalcore::run
