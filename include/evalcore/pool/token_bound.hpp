#pragma once

#include <cstdint>
#include <optional>

#include <evalcore/base/clock.hpp>
#include <evalcore/pool/goodput_window.hpp>

namespace evalcore::pool {

/// How many tokens to have in flight at one endpoint, found out while requests run: a server whose KV pool is
/// full evicts, computes again and collapses, and how many requests fill it depends on their lengths.
///
/// No bound until goodput (tokens a second, see goodput_window) breaks in. Then it is lowered to where all
/// was well, or a little below where goodput broke in; nothing is sent until so few are in flight, and the
/// bound goes on falling if that is still too much by what goodput is left. From there it climbs while it is
/// used and goodput is what it was: at once where the edge is not known, after a while and slowly where it
/// is. A bound that is not needed climbs out of the way.
///
/// A request's tokens are its prompt and what answers of this run come to. The one that fills the bound may
/// pass it, so that one request is always allowed and a long one does not wait for ever.
///
/// A state machine without clock. Each call takes constant time. Not thread-safe.
class token_bound {
 public:
  struct answer {
    double request_tokens = 0;  ///< As sent() was told.
    double tokens = 0;          ///< Completion tokens.
    double seconds = 0;         ///< From the first token to the end, or from sending.
    double in_flight = 0;       ///< Requests, mean over its life.
    instant began = {};         ///< `seconds` before its end.
    /// Part of the goodput expected, less than 1, below which such answers tell that it broke in.
    double broken = 0.8;
  };

  /// What a request counts for, at least 1; a prompt of 0 tokens is of unknown length.
  [[nodiscard]] double tokens_of(std::uint64_t prompt_tokens) const noexcept;
  void sent(double request_tokens) noexcept { in_flight_ += request_tokens; }
  /// Its end, whatever it is.
  void gone(double request_tokens, instant now);
  /// What its answer tells; after gone(). True: the bound was lowered.
  bool answered(const answer& one, instant now);

  [[nodiscard]] bool has_room() const noexcept { return !bound_ || in_flight_ < *bound_; }
  [[nodiscard]] std::optional<double> bound() const noexcept { return bound_; }

 private:
  [[nodiscard]] double ends_to_tell(double speed, double in_flight, double fall);
  [[nodiscard]] double part() const noexcept;
  void learn(const goodput_sample& one, double part, double memory);
  bool lower_on(double part);
  bool fell(instant now);
  void found_edge(double level, instant now);
  void raise(double request_tokens, instant now);

  double in_flight_ = 0;       // Tokens.
  double answer_tokens_ = 0;   // Mean of an answer.
  double request_tokens_ = 0;  // Mean of a request, with its answer.
  std::optional<double> bound_;

  goodput_window recent_;             // The last few ends.
  goodput_window well_;               // The best for long; what recent_ is compared with.
  std::optional<double> last_speed_;  // Logarithm of the goodput that the last end stands for.
  double noise_ = 0.04;               // Variance of that logarithm from one end to the next, halved.

  bool draining_ = false;       // Until what is in flight is below the bound.
  double level_ = 0;            // In flight when goodput broke in.
  instant settled_{};           // What began before tells of the time before the bound was lowered.
  std::uint32_t falls_ = 0;     // Without being well in between.
  std::optional<double> edge_;  // Just below where goodput broke in.
  instant edge_until_{};        // Until then it is not passed.
  duration edge_for_{};
};

}  // namespace evalcore::pool
