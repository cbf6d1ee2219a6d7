#pragma once

#include <cstddef>
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
  bool strict = false;  ///< Whether the arguments must follow the schema.
};

/// A piece of reasoning that its server wants back unchanged: Anthropic's API checks the signature, and
/// hands out some reasoning only as data that nobody else can read. OpenAI's Responses API names each piece,
/// and the signature is its encrypted content.
struct thinking_block {
  std::string text;
  std::string signature;  ///< Empty where a server does not sign.
  std::string redacted;   ///< The data of a redacted block; such a block has nothing else.
  std::string id = {};    ///< Empty where a server gives no names.
};

/// One turn. Text and images stand in the order text first.
struct message {
  role who = role::user;
  std::string text;
  std::vector<std::string> image_urls;   ///< data: or http(s) URLs.
  std::vector<tool_call> calls;          ///< Assistant turns only.
  std::string call_id;                   ///< Tool turns only: the call that this answers.
  bool is_error = false;                 ///< Tool turns only: the tool failed, and `text` says how.
  std::string reasoning;                 ///< Assistant turns only.
  std::vector<thinking_block> thinking;  ///< Assistant turns only: the same reasoning as it was sent.
};

/// Whether and how the model must call a tool.
struct tool_choice {
  enum class kind : std::uint8_t {
    automatic,  ///< As the model likes.
    none,
    required,  ///< At least one, whichever.
    named,     ///< The one of this `name`.
  };
  kind how = kind::automatic;
  std::string name = {};
};

/// The form that the text of the answer must have.
struct response_format {
  enum class kind : std::uint8_t { json_object, json_schema };
  kind how = kind::json_object;
  // Of a json_schema:
  std::string name = {};
  std::string schema = {};  ///< JSON text, sent unchanged.
  std::optional<bool> strict = {};
};

/// Sampling and bounds. Absent means: the backend's own default.
struct parameters {
  std::optional<double> temperature;  ///< 0 is greedy.
  std::optional<double> top_p;
  std::optional<std::uint32_t> top_k;
  std::optional<std::uint32_t> max_tokens;
  std::optional<std::int64_t> seed;
  std::vector<std::string> stop;
  std::optional<std::uint32_t> n;  ///< Answers wanted. A reply holds one: more are refused.
  std::optional<response_format> format;
  bool logprobs = false;  ///< Of the tokens of the answer.
  std::optional<std::uint32_t>
      top_logprobs;  ///< With each token, the likeliest this many; implies `logprobs`.
};

/// How much the model may think before it answers. Absent and empty mean: the backend's own default.
struct thinking_control {
  std::optional<bool> enabled;
  std::string effort;                          ///< The backend's word: "low", "high", …
  std::optional<std::uint32_t> budget_tokens;  ///< Implies `enabled` where that is absent.
};

/// Ends of prefixes that requests to come will share.
struct cache_breakpoints {
  bool after_tools = false;
  bool after_system = false;                ///< After the leading system turns.
  std::vector<std::size_t> after_messages;  ///< Indices into request::messages.
};

/// What a prefix cache may be told. Never part of a request's identity: a hint must not change an answer.
struct cache_hints {
  std::optional<std::uint32_t> slot;  ///< llama.cpp's id_slot.
  std::optional<bool> use_cache;      ///< llama.cpp's cache_prompt.
  std::string prompt_cache_key;       ///< Requests of one key share a prefix; empty: none.
  std::string cache_salt;             ///< Only requests of the same salt share a cache; empty: none.
  cache_breakpoints breakpoints;      ///< Anthropic's cache_control.
  /// Numbers of tokens of the prompt after which requests to come go on differently, rising: the embedded
  /// engine keeps what it has computed there. Absent: not known.
  std::optional<std::vector<std::uint32_t>> shared_tokens;
};

/// A chat request in evalcore's one internal form; wire/ turns it into a backend's bytes.
struct request {
  std::string model;  ///< Empty: the backend's default model.
  std::vector<message> messages;
  std::vector<tool> tools;
  std::optional<chat::tool_choice> tool_choice;  ///< Only together with tools.
  std::optional<bool> parallel_tool_calls;       ///< Whether one answer may make several calls.
  parameters params;
  thinking_control thinking;
  cache_hints hints;
  /// Not empty: nothing is generated. The text of the only turn stands as it is, without a template, and each
  /// of these is scored as what follows it.
  std::vector<std::string> choices = {};
};

[[nodiscard]] std::string_view name(role who) noexcept;
[[nodiscard]] std::optional<role> role_from(std::string_view text) noexcept;

}  // namespace evalcore::chat
