#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evalcore::chat {

enum class role : std::uint8_t { system, developer, user, assistant, tool };

/// One call that a model made, or that the history says it made. `arguments` is the JSON text as it was
/// given; it is sent back unchanged, key order included, because a prefix cache compares bytes.
struct tool_call {
  std::string id;
  std::string name;
  std::string arguments;
};

/// A tool as the suite declares it. `parameters` is a JSON schema, as text, unchanged.
struct tool {
  std::string name;
  std::string description;
  std::string parameters;
};

/// One turn. Text and images stand in the order text first; `name` and `reasoning` may be empty.
struct message {
  role who = role::user;
  std::string text;
  std::vector<std::string> image_urls;  ///< data: or http(s) URLs.
  std::vector<tool_call> calls;         ///< Assistant turns only.
  std::string call_id;                  ///< Tool turns only: the call that this answers.
};

/// Sampling and bounds. Absent means: the backend's own default.
struct parameters {
  std::optional<double> temperature;  ///< 0 is greedy.
  std::optional<double> top_p;
  std::optional<std::uint32_t> max_tokens;
  std::optional<std::int64_t> seed;
  std::vector<std::string> stop;
};

/// What a prefix cache may be told. Never part of a request's identity: a hint must not change an answer.
struct cache_hints {
  std::optional<std::uint32_t> slot;  ///< llama.cpp's id_slot.
  std::optional<bool> use_cache;      ///< llama.cpp's cache_prompt.
};

/// A chat request in evalcore's one internal form; wire/ turns it into a backend's bytes.
struct request {
  std::string model;  ///< Empty: the backend's default model.
  std::vector<message> messages;
  std::vector<tool> tools;
  parameters params;
  cache_hints hints;
};

[[nodiscard]] std::string_view name(role who) noexcept;
[[nodiscard]] std::optional<role> role_from(std::string_view text) noexcept;

}  // namespace evalcore::chat
