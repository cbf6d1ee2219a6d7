#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <evalcore/base/clock.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/loglikelihood.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::pool {

using item_id = std::uint64_t;

/// One request to send.
struct work {
  item_id id = 0;
  chat::request request;
  /// Requests of the same affinity go to the same endpoint where they can, since it has their prefix in its
  /// cache; 0: anywhere.
  std::uint64_t affinity = 0;
  std::uint64_t prompt_tokens =
      0;                    ///< As far as is known, for limits on tokens and an adaptive limit; 0: unknown.
  bool wants_text = false;  ///< The answer's text is told as it comes.
  /// If there are any, they are asked in the place of `request`, all together, and the reply has nothing but
  /// `choices`, in their order.
  std::vector<chat::loglikelihood_request> scores = {};
};
/// A request that must not be sent, since it is known to fail: its item ends with this.
struct refused {
  item_id id = 0;
  error why;
};
/// Copy one slot's cache into others (backend::share_prefix), then ask again.
struct share_prefix {
  std::uint32_t from = 0;
  std::vector<std::uint32_t> to;
};
/// Nothing now; the pool asks again after the next first token, end or share, and at `until` at the latest.
struct hold {
  std::optional<instant> until = {};
};
/// Nothing now, even if nothing is in flight: the pool asks again after pool::look_again() as well.
struct later {};
/// Nothing any more.
struct exhausted {};
using pull = std::variant<work, refused, share_prefix, hold, later, exhausted>;

/// Where the pool takes its requests from, one at a time and only when there is room, so that a suite of a
/// million items costs what is in flight. All calls come on the loop.
///
/// A source that answers `hold` while nothing is in flight would wait for ever; the pool ends such a run
/// with `internal`.
class source {
 public:
  virtual ~source() = default;
  virtual pull next() = 0;
  virtual void on_first_token(item_id id) { static_cast<void>(id); }
  /// From now on nothing goes out whatever next() would say, since every endpoint asked for that, is away or
  /// has its rate (true); that is over (false).
  virtual void on_pause(bool paused) { static_cast<void>(paused); }
  /// An attempt failed, and the item is to be sent again.
  virtual void on_retry(item_id id, const error& why) { static_cast<void>(id), static_cast<void>(why); }
  /// The item's end, after all attempts; not for what the source itself refused.
  virtual void on_end(item_id id, const result<chat::reply>& outcome) = 0;
  virtual void on_shared(const result<void>& outcome) { static_cast<void>(outcome); }
};

}  // namespace evalcore::pool
