#include "wire/encode_parts.hpp"

#include <algorithm>

namespace evalcore::wire {
namespace {

error lacks(const dialect& ways, std::string_view what) {
  return refuse(errc::unsupported, "the server (" + std::string(ways.name) + ") ignores " +
                                       std::string(what) +
                                       ", and without it the request would mean something else");
}

result<void> check_tools(const chat::request& request, const dialect& ways, route at) {
  if (!request.tools.empty() && ignored(ways, at, "tools")) return lacks(ways, "tools");
  if (!request.tool_choice) return {};
  using kind = chat::tool_choice::kind;
  const auto& choice = *request.tool_choice;
  const bool forced = choice.how == kind::required || choice.how == kind::named;
  if (choice.how == kind::named &&
      std::ranges::find(request.tools, choice.name, &chat::tool::name) == request.tools.end()) {
    return refuse(errc::invalid_argument, "the tool choice names a tool that the request does not declare");
  }
  if (request.tools.empty()) {
    if (forced) return refuse(errc::invalid_argument, "a tool call is required, but no tool is declared");
    return {};
  }
  if (choice.how != kind::automatic && ignored(ways, at, "tool_choice")) return lacks(ways, "tool_choice");
  if (choice.how == kind::none && ignored(ways, at, "tool_choice.none")) {
    return lacks(ways, "the tool choice \"none\"");
  }
  // With one tool, "some tool" is that tool.
  if (choice.how == kind::named && request.tools.size() > 1 && ignored(ways, at, "tool_choice.name")) {
    return lacks(ways, "which tool is required");
  }
  return {};
}

}  // namespace

void drop_list::add(std::string_view field) {
  if (std::ranges::find(fields_, field) == fields_.end()) fields_.emplace_back(field);
}

bool drop_list::honours(std::string_view field) {
  if (!ignored(ways_, at_, field)) return true;
  add(field);
  return false;
}

bool drop_list::honours_strict(const chat::tool& tool) {
  if (tool.strict && !ways_.tool_strict) add("tools.strict");
  return tool.strict && ways_.tool_strict;
}

bool ignored(const dialect& ways, route at, std::string_view field) {
  const auto& fields = at == route::chat ? ways.ignores : ways.messages_ignores;
  return std::ranges::find(fields, field) != fields.end();
}

std::string_view sent_arguments(std::string_view arguments) {
  const bool blank = arguments.find_first_not_of(" \t\r\n") == std::string_view::npos;
  return blank ? std::string_view("{}") : arguments;
}

std::size_t expected_bytes(const chat::request& request) {
  constexpr std::size_t around_all = 640;  // With the head that a client puts before the body.
  constexpr std::size_t around_one = 64;
  std::size_t bytes = around_all;
  for (const auto& turn : request.messages) {
    bytes += around_one + turn.text.size() + turn.reasoning.size();
    for (const auto& call : turn.calls) bytes += around_one + call.arguments.size();
    for (const auto& url : turn.image_urls) bytes += around_one + url.size();
  }
  for (const auto& one : request.tools) {
    bytes += around_one + one.name.size() + one.description.size() + one.parameters.size();
  }
  return bytes;
}

error refuse(errc code, std::string message) { return fail(code, stage::send, std::move(message)); }

result<void> check_request(const chat::request& request, const dialect& ways, route at) {
  if (request.params.n.value_or(1) != 1) {
    return refuse(errc::unsupported, "a reply holds one answer: for n answers send the request n times");
  }
  for (const auto& turn : request.messages) {
    if (!turn.image_urls.empty() && ways.images == trait::no) return lacks(ways, "images");
  }
  return check_tools(request, ways, at);
}

void put_cache_hints(json::writer& out, const chat::cache_hints& hints, const dialect& ways) {
  if (ways.slot_pinning && hints.slot) out.key("id_slot").number(std::uint64_t{*hints.slot});
  if (ways.cache_switch && hints.use_cache) out.key("cache_prompt").boolean(*hints.use_cache);
  if (ways.cache_key && !hints.prompt_cache_key.empty()) {
    out.key("prompt_cache_key").string(hints.prompt_cache_key);
  }
  if (ways.cache_salt && !hints.cache_salt.empty()) out.key("cache_salt").string(hints.cache_salt);
}

void put_sampling(json::writer& out, const chat::parameters& params, std::string_view max_tokens_field,
                  drop_list& dropped) {
  if (params.max_tokens && dropped.honours(max_tokens_field)) {
    out.key(max_tokens_field).number(std::uint64_t{*params.max_tokens});
  }
  if (params.temperature && dropped.honours("temperature"))
    out.key("temperature").number(*params.temperature);
  if (params.top_p && dropped.honours("top_p")) out.key("top_p").number(*params.top_p);
  if (params.top_k && dropped.honours("top_k")) out.key("top_k").number(std::uint64_t{*params.top_k});
  if (params.seed && dropped.honours("seed")) out.key("seed").number(*params.seed);
  if (!params.stop.empty() && dropped.honours("stop")) {
    out.key("stop").begin_array();
    for (const auto& text : params.stop) out.string(text);
    out.end_array();
  }
}

}  // namespace evalcore::wire
