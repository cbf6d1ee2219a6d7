#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <evalcore/backend/probe.hpp>
#include <evalcore/wire/dialect.hpp>

/// What a probe asks and what the answers prove, without any I/O.
namespace evalcore::backend {

/// One request of a probe.
struct question {
  enum class kind : std::uint8_t {
    chat,             ///< `request`, as a run would send it. Answer: chat::reply.
    two_answers,      ///< The same for n = 2, as it comes. Answer: raw_answer.
    models,           ///< Answer: the list.
    tools,            ///< check_tools(). Answer: bool.
    prompt_logprobs,  ///< check_prompt_logprobs(). Answer: std::monostate.
  };
  kind how = kind::chat;
  chat::request request = {};
};

using answer = result<std::variant<std::monostate, chat::reply, raw_answer, std::vector<listed_model>, bool>>;

/// Tokens that the answer to the plain request may have: too few for it to end of itself.
inline constexpr std::uint32_t plain_tokens = 16;

struct verdict {
  ability found = ability::unknown;
  std::string evidence;
};

/// What is known so far.
struct probe_state {
  const wire::dialect& ways;
  probe_report report;
  std::optional<chat::reply> plain;   ///< The answer to a plain greedy request; absent: there is none.
  std::optional<answer> again;        ///< The same once more.
  std::optional<chat::reply> scored;  ///< The same with logprobs.
  std::optional<std::string> whole;   ///< The body of an answer that was not streamed.
  std::optional<chat::reply> cold;    ///< The first answer to a prompt that is long enough for a cache.
  std::optional<chat::reply> warm;    ///< The second.
};

/// One check; its finding has its name.
struct check {
  std::string_view name;
  bool paid_too = false;         ///< Also asked where requests are paid for.
  std::size_t side_by_side = 1;  ///< So many go out together, then the others one after the other.
  /// Either the questions or, where it needs none or must not be asked, the verdict.
  std::variant<std::vector<question>, verdict> (*ask)(const probe_state&);
  /// As many answers as there were questions.
  verdict (*judge)(probe_state&, std::span<const answer>);
};

/// The dialect of a backend; `generic` for one that has none.
[[nodiscard]] const wire::dialect& dialect_of(const info& of) noexcept;

/// All of them, in the order in which they are made.
[[nodiscard]] std::span<const check> checks() noexcept;

}  // namespace evalcore::backend
