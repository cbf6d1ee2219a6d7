#pragma once

#include <llama.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/engine/llama.hpp>

namespace evalcore::engine {

/// The first tokens of a row, of one engine, and how that engine finds their state again.
struct llama_snapshot : snapshot {
  std::vector<token> tokens;
};

/// Makes snapshots of the sequences of one context, and puts them back.
class snapshot_keeper {
 public:
  virtual ~snapshot_keeper() = default;

  /// Of a sequence that holds exactly `tokens`, of which it has the first `shared` from `base` (null: none).
  /// Errors: no_memory, busy.
  virtual result<std::shared_ptr<const llama_snapshot>> take(llama_seq_id sequence, std::vector<token> tokens,
                                                             std::shared_ptr<const snapshot> base,
                                                             std::uint32_t shared) = 0;
  /// The first `count` tokens of one that this keeper took, into an empty sequence. False: it failed, and the
  /// sequence is empty.
  [[nodiscard]] virtual bool restore(const llama_snapshot& kept, std::uint32_t count,
                                     llama_seq_id sequence) = 0;
  /// Whether this keeper took it.
  [[nodiscard]] virtual bool owns(const llama_snapshot& kept) const = 0;
  /// Tokens of the memory of the rows that snapshots hold; a row goes on using those of the snapshot that it
  /// came from or gave. Absent: snapshots hold none.
  [[nodiscard]] virtual std::optional<std::uint64_t> held() const noexcept = 0;
};

/// Snapshots are copies of the state, in bytes.
[[nodiscard]] std::unique_ptr<snapshot_keeper> copying_keeper(llama_context* context);
/// Snapshots are sequences of a unified memory, from number `first` on, `count` at most. `token_bytes`: what
/// one token takes there.
[[nodiscard]] std::unique_ptr<snapshot_keeper> sharing_keeper(llama_context* context, llama_seq_id first,
                                                              std::uint32_t count, std::uint64_t token_bytes);

}  // namespace evalcore::engine
