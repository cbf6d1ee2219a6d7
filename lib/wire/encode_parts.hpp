#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/wire/dialect.hpp>

/// What all ways of writing a chat request have in common.
namespace evalcore::wire {

/// Which of a server's routes a request is for, OpenAI's or Anthropic's: each ignores other fields.
enum class route : std::uint8_t { chat, messages };

[[nodiscard]] bool ignored(const dialect& ways, route at, std::string_view field);

/// The fields that a server does not honour, each once, in the order in which they were met. `ways` must
/// outlive it.
class drop_list {
 public:
  drop_list(const dialect& ways, route at) : ways_(ways), at_(at) {}

  void add(std::string_view field);
  /// Whether to write `field`; where the server ignores it, it is added.
  [[nodiscard]] bool honours(std::string_view field);
  /// Whether to write a tool's `strict`; where the server has no such thing, it is added.
  [[nodiscard]] bool honours_strict(const chat::tool& tool);
  [[nodiscard]] std::vector<std::string> take() { return std::move(fields_); }

 private:
  const dialect& ways_;
  route at_;
  std::vector<std::string> fields_;
};

/// Refuses what would not mean the same without a field that the server ignores. Errors: unsupported;
/// invalid_argument for a request that contradicts itself.
[[nodiscard]] result<void> check_request(const chat::request& request, const dialect& ways, route at);

/// Writes the hints that the server understands on OpenAI's chat routes. One that it does not is no loss that
/// a reply would have to tell of.
void put_cache_hints(json::writer& out, const chat::cache_hints& hints, const dialect& ways);

/// Writes what OpenAI's chat and completions have in common of how to sample; `max_tokens_field` is the name
/// that the route has for the bound.
void put_sampling(json::writer& out, const chat::parameters& params, std::string_view max_tokens_field,
                  drop_list& dropped);

/// The arguments of a call in the history, unchanged; blank ones are an empty object, as some servers refuse
/// a call whose arguments are no JSON.
[[nodiscard]] std::string_view sent_arguments(std::string_view arguments);

/// About how long a body will be, to make room for it once.
[[nodiscard]] std::size_t expected_bytes(const chat::request& request);

[[nodiscard]] error refuse(errc code, std::string message);

}  // namespace evalcore::wire
