#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <evalcore/base/errc.hpp>

namespace evalcore::wire {

/// What is known of a server without asking it.
enum class trait : std::uint8_t { unknown, no, yes };

/// One step of a start line: a flag, a value, or both. A value in braces stands for what the start knows:
///
/// | value             | meaning                                                          |
/// |-------------------|------------------------------------------------------------------|
/// | `{model}`         | the model as it was named                                        |
/// | `{model_parent}`  | the folder that the model lies in                                |
/// | `{port}`          | the port                                                         |
/// | `{slots}`         | requests computed side by side                                   |
/// | `{context}`       | tokens of context for one request                                |
/// | `{total_context}` | tokens of context for all slots together                         |
/// | `{threads}`       | compute threads                                                  |
/// | `{folder}`        | a private folder that is gone with the server                    |
/// | `{slot_folder}`   | the same with '/' at its end; only if slots are to share prefixes |
///
/// A step whose value is not there is left out whole.
struct start_step {
  std::string_view flag = {};
  std::string_view value = {};
  bool yields = false;  ///< Only a default: left out where the user passes the flag.
};

/// How the model of a managed server is named.
enum class model_form : std::uint8_t {
  gguf_file,       ///< A GGUF file.
  file_or_folder,  ///< A path that exists.
  folder,          ///< A folder that exists; its name is the model's id.
  path_or_name,    ///< A path, or a name that the server looks up itself.
};

/// How evalcore starts a server as a child; a dialect without a program is only reached by URL.
struct start_line {
  std::string_view program = {};
  std::string_view other_program = {};  ///< Looked for when `program` is not on PATH.
  std::string_view install = {};        ///< The mend for a missing program.
  std::span<const start_step> steps = {};
  std::span<const std::string_view> aliases = {};  ///< Other names of flags that the steps set.
  model_form model = model_form::path_or_name;
  std::string_view sent_model = {};  ///< The model's name in requests, where it is always the same.
  bool one_at_a_time = false;        ///< Requests are computed one after the other.
};

/// What counts as ready.
struct ready_rule {
  enum class bound : std::uint8_t { ok, below_500 };

  std::string_view path = "/v1/models";
  bound status = bound::ok;      ///< Exactly 200, or any status below 500.
  std::string_view member = {};  ///< A member of the JSON answer that must be true; empty: none.
};

/// How a server keeps the prompts that it computed, where requests share one cache; in tokens.
struct cache_ways {
  bool keeps = true;              ///< False: nothing is found again, and the rest means nothing.
  bool shares_in_flight = false;  ///< A prompt is found while it is still being computed.
  std::uint32_t page = 1;         ///< Found in multiples of this.
  std::uint32_t least = 0;        ///< A shorter prefix is not kept.
  std::uint32_t sure = 64;        ///< Of one that has this many, and `least`, a part is kept for certain.
  std::uint32_t entries = 0;      ///< Whole prompts that it keeps, from their end on; 0: not counted so.
  std::uint32_t lives_s = 0;      ///< Seconds that a prefix is kept after its last use; 0: not known.
};

/// What a server's own words mean, lower case.
struct error_sign {
  std::string_view text;
  errc means;
};

/// A server's ways, as data: code asks the dialect and never the server's name.
struct dialect {
  std::string_view name;
  std::string_view what = {};      ///< One line for people.
  std::string_view owned_by = {};  ///< Whom it names as the owner of the models that it lists; empty: nobody.
  start_line start = {};
  ready_rule ready = {};

  // What the server understands beyond the common fields.
  bool slot_pinning = false;       ///< `id_slot` in the request.
  bool cache_switch = false;       ///< `cache_prompt` in the request.
  bool slot_save_restore = false;  ///< POST /slots/N?action=save|restore.
  bool tokenizes = false;          ///< POST /apply-template and /tokenize.
  bool reports_slots = false;      ///< GET /props says total_slots and n_ctx.

  // What it does with requests.
  /// Request fields that it drops without a word; "stream.logprobs" is that field in streams alone.
  std::span<const std::string_view> ignores = {};
  trait logprobs = trait::unknown;         ///< Chat: logprobs of the generated tokens.
  bool logprobs_flag = false;              ///< `logprobs` is true or false there, also for completions.
  trait images = trait::unknown;           ///< Image parts reach the model.
  trait responses = trait::unknown;        ///< OpenAI's Responses API can be used for evaluations.
  trait prompt_logprobs = trait::unknown;  ///< Completions: `echo` with `logprobs` scores the whole prompt.
  bool tool_strict = false;                ///< A tool's `strict` holds the arguments to its schema.
  bool paid = false;                       ///< Its requests cost money.
  std::string_view determinism = {};  ///< The server's own switch to answers that batching does not change.

  /// The same at /v1/messages, by the chat route's names; "tool_choice.none" and "tool_choice.name" are those
  /// two forms of the field alone.
  std::span<const std::string_view> messages_ignores = {};
  /// At /v1/messages turns of one side stay apart: joined, they would be another prompt than those of the
  /// chat route, with a user's text in front of the tool results.
  bool messages_apart = false;
  std::string_view max_tokens_field = "max_tokens";  ///< Or "max_completion_tokens".
  bool cache_key = false;                            ///< `prompt_cache_key` in the request.
  bool cache_salt = false;                           ///< `cache_salt` in the request.
  bool thinking_switch = false;           ///< `chat_template_kwargs.enable_thinking` in the request.
  std::string_view thinking_budget = {};  ///< The field that bounds the tokens of reasoning; empty: none.
  bool messages_count_cached = false;     ///< /v1/messages: `input_tokens` holds the cached ones too.

  // What must never be sent where it is false: it ends some server for all its clients, so that it is
  // allowed only where it is known to be safe.
  bool prompt_arrays = false;  ///< Completions: several prompts in one request, each of them answered.
  bool prompt_tokens = false;  ///< Completions: a prompt as token ids.
  bool empty_prompt = false;   ///< Completions: "".
  bool logit_bias = false;     ///< Token ids that the model may not have.

  cache_ways cache = {};

  // How its answers read.
  std::string_view cached_tokens = {};  ///< Where they stand, as a JSON pointer; empty: nowhere known.
  trait reports_cached_tokens = trait::unknown;  ///< `yes`: always, `no`: never, else if it was started so.
  std::string_view reasoning = {};               ///< The member that holds it; empty: unknown.
  bool think_text_in_content = false;            ///< It leaves `<think>` text in the content.
  /// [DONE] proves the end of a stream even where no finish reason came before it.
  bool done_proves_end = true;
  bool usage_of_one = false;  ///< Usage counts one answer where a request brought several.
  /// Where the last turn is an assistant's, a whole answer repeats it in front of what goes on; a stream does
  /// not.
  bool whole_repeats_begun = false;

  // How its failures read: exact values of an error's `type` or `code`, and parts of its message.
  std::span<const error_sign> error_codes = {};
  std::span<const error_sign> error_phrases = {};

  /// Whether the server drops this request field without a word.
  [[nodiscard]] bool ignores_field(std::string_view field) const noexcept;
};

/// Every dialect that evalcore knows. The first is `generic`.
[[nodiscard]] std::span<const dialect> dialects() noexcept;
/// Null when there is none of that name.
[[nodiscard]] const dialect* find_dialect(std::string_view name) noexcept;
/// Of the servers that name this owner of their models; null when no known one does.
[[nodiscard]] const dialect* dialect_of_owner(std::string_view owned_by) noexcept;

/// Whether a finish reason says that the answer was not finished. The words of every server are tried
/// whatever the dialect, since gateways hand on the words of others.
[[nodiscard]] bool broke_off(std::string_view finish_reason) noexcept;

/// Whether an answer to GET `ways.ready.path` says that the server can take requests.
[[nodiscard]] bool says_ready(const dialect& ways, int status, std::string_view body);

/// What a server's error means by its own words, lower case; the words of every dialect count, because a
/// gateway hands on those of whom it stands for. Absent: they say nothing.
[[nodiscard]] const error_sign* read_error_words(std::string_view type, std::string_view code,
                                                 std::string_view message) noexcept;

}  // namespace evalcore::wire
