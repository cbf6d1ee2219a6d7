#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/wire/dialect.hpp>
#include <evalcore/wire/encoded.hpp>

#include "wire/json_view.hpp"

/// What whole and streamed Anthropic messages have in common.
namespace evalcore::wire {

/// Puts the content of a message together. A block of a whole message and the start of a streamed one read
/// alike: the latter has its content yet to come.
class block_assembler {
 public:
  /// Errors: bad_reply for a block that is none, text that is none, a call without a name. Blocks of an
  /// unknown kind are skipped.
  [[nodiscard]] result<void> start(std::optional<std::int64_t> index, const element& from,
                                   stream_progress& made);
  /// Errors: bad_reply for arguments of a call that never began, and for text that is none.
  [[nodiscard]] result<void> add(std::optional<std::int64_t> index, const element& delta,
                                 stream_progress& made);
  /// Once, at the end.
  void finish(chat::reply& into);

 private:
  enum class kind : std::uint8_t { text, thinking, call, unknown };
  struct block {
    kind what = kind::unknown;
    std::string text;
    chat::thinking_block thinking;
    chat::tool_call call;
    std::string given_input;  ///< The start's own, for a block without deltas.
  };

  block& open(std::optional<std::int64_t> index, kind what);
  block& held(std::optional<std::int64_t> index, kind otherwise);

  std::vector<block> blocks_;
  std::map<std::int64_t, std::size_t> by_index_;
};

/// The counts of a message, which a stream tells more than once and each time as a sum: the largest stands.
class message_usage {
 public:
  /// `holder` has the member `usage`, or not.
  void read(const element& holder);
  [[nodiscard]] chat::usage total(const dialect& ways) const;

 private:
  std::optional<std::uint64_t> input_;
  std::optional<std::uint64_t> cache_read_;
  std::optional<std::uint64_t> cache_creation_;
  std::optional<std::uint64_t> output_;
  std::optional<std::uint64_t> thinking_;
};

/// Takes over why the message ended, where `holder` says so: reason, stop string, the details of a refusal.
/// Errors: backend_fault where the server says with the reason that it failed.
[[nodiscard]] std::optional<error> read_message_end(const element& holder, chat::reply& into);

}  // namespace evalcore::wire
