#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evalcore/base/error.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::run {

/// 10⁻¹² US dollars, whole, so that a sum does not depend on its order: a token at 1 USD per million costs
/// 1,000,000. What exceeds the type (18 million USD) stays at its largest value.
using pico_usd = std::uint64_t;

[[nodiscard]] constexpr double in_usd(pico_usd amount) noexcept { return static_cast<double>(amount) / 1e12; }

/// What something cost: at least `least`, and no more than `most`. They differ where a token count is not
/// known that a price depends on; `most` is absent where nothing bounds it.
struct cost {
  pico_usd least = 0;
  std::optional<pico_usd> most = 0;

  [[nodiscard]] bool exact() const noexcept { return most == least; }
  cost& operator+=(const cost& other) noexcept;
  friend bool operator==(const cost&, const cost&) = default;
};

/// The prices of one model, of one token of each class.
struct price {
  pico_usd input = 0;        ///< Of the prompt, neither cached nor written to a cache.
  pico_usd cached = 0;       ///< Of the prompt, found in a cache.
  pico_usd cache_write = 0;  ///< Of the prompt, put into a paid cache.
  pico_usd output = 0;       ///< Of the completion, reasoning apart.
  pico_usd reasoning = 0;    ///< Of the completion.

  friend bool operator==(const price&, const price&) = default;
};

/// `tokens` at one price.
[[nodiscard]] pico_usd times(pico_usd each, std::uint64_t tokens) noexcept;

/// What an answer with these token counts costs. A count that the backend does not tell matters only where
/// classes have different prices: the tokens in question then cost the least or the most that they may.
[[nodiscard]] cost cost_of(const chat::usage& used, const price& at) noexcept;

/// The most that one attempt of this request can cost. `prompt_tokens`: as the backend counts them; absent:
/// no more than the request's text has bytes. With choices the prompt counts once for each, and one token
/// of answer, which some servers generate. Nothing where the answer has no max_tokens, or the prompt has
/// images, whose tokens nobody tells beforehand.
[[nodiscard]] std::optional<pico_usd> cost_bound(const chat::request& of,
                                                 std::optional<std::uint64_t> prompt_tokens, const price& at);

/// Whether a failed attempt may be on the bill: the backend may have computed something before it failed.
[[nodiscard]] bool may_be_billed(const error& failure) noexcept;

/// What an attempt cost, as far as its outcome tells. `bound`: cost_bound() of its request.
[[nodiscard]] cost cost_of(const result<chat::reply>& outcome, std::optional<pico_usd> bound,
                           const price& at);

/// Prices by model, from a file as docs/cost.md describes it.
class price_list {
 public:
  /// `name`: of the file, for messages. Errors: invalid_argument, with what is wrong and where.
  [[nodiscard]] static result<price_list> parse(std::string_view text, std::string name);
  /// Errors: not_found; as parse().
  [[nodiscard]] static result<price_list> open(const std::string& path);

  /// The first entry whose pattern fits the model's name. Errors: invalid_argument when none does.
  [[nodiscard]] result<price> find(std::string_view model) const;

 private:
  std::string name_;
  std::vector<std::pair<std::string, price>> entries_;  ///< By pattern, in the order of the file.
};

/// The file at that path; nothing where none is named. Errors: as price_list::open().
[[nodiscard]] result<std::optional<price_list>> open_prices(const std::string& path);

/// An amount for a person: "0.0125 USD", with four digits after the point or as many as show three figures.
[[nodiscard]] std::string usd_text(pico_usd amount);
/// "0.0125 USD", "0.01 to 0.02 USD", "at least 0.01 USD".
[[nodiscard]] std::string usd_text(const cost& amount);

}  // namespace evalcore::run
