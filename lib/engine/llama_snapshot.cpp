#include "engine/llama_snapshot.hpp"

#include <new>
#include <set>
#include <utility>

namespace evalcore::engine {
namespace {

/// Keeps only the first tokens of a sequence.
void trim(llama_context* context, llama_seq_id sequence, std::uint32_t count) {
  llama_memory_seq_rm(llama_get_memory(context), sequence, static_cast<llama_pos>(count), -1);
}

struct copied_state final : llama_snapshot {
  const llama_context* context = nullptr;
  std::vector<std::uint8_t> state;

  [[nodiscard]] std::uint64_t bytes() const noexcept override {
    return state.size() + tokens.size() * sizeof(token);
  }
};

class copying final : public snapshot_keeper {
 public:
  explicit copying(llama_context* context) : context_(context) {}

  result<std::shared_ptr<const llama_snapshot>> take(llama_seq_id sequence, std::vector<token> tokens,
                                                     std::shared_ptr<const snapshot> /*base*/,
                                                     std::uint32_t /*shared*/) override {
    auto kept = std::make_shared<copied_state>();
    kept->context = context_;
    kept->tokens = std::move(tokens);
    const auto size = llama_state_seq_get_size(context_, sequence);
    try {
      kept->state.resize(size);
    } catch (const std::bad_alloc&) {
      return fail(errc::no_memory, stage::body,
                  "no memory for a snapshot of " + std::to_string(size) + " bytes");
    }
    if (size == 0 || llama_state_seq_get_data(context_, kept->state.data(), size, sequence) != size)
      return fail(errc::backend_fault, stage::body, "llama.cpp cannot copy the state of a sequence");
    return std::shared_ptr<const llama_snapshot>(std::move(kept));
  }

  bool restore(const llama_snapshot& kept, std::uint32_t count, llama_seq_id sequence) override {
    const auto& copy = static_cast<const copied_state&>(kept);
    const auto read = llama_state_seq_set_data(context_, copy.state.data(), copy.state.size(), sequence);
    if (read != copy.state.size()) {
      trim(context_, sequence, 0);
      return false;
    }
    trim(context_, sequence, count);
    return true;
  }

  bool owns(const llama_snapshot& kept) const override {
    const auto* copy = dynamic_cast<const copied_state*>(&kept);
    return copy != nullptr && copy->context == context_;
  }

  std::optional<std::uint64_t> held() const noexcept override { return std::nullopt; }

 private:
  llama_context* context_;
};

/// The sequences that snapshots may have.
struct sequences {
  llama_context* context;
  std::set<llama_seq_id> free;
  std::uint64_t held = 0;  ///< Tokens, in all that are taken; what several share counts once.
};

struct shared_cells final : llama_snapshot {
  sequences* pool = nullptr;
  llama_seq_id sequence = 0;
  std::shared_ptr<const snapshot> base;  ///< Whose cells its first ones are.
  std::uint64_t own = 0;                 ///< Tokens behind those.
  std::uint64_t token_bytes = 0;

  shared_cells() = default;
  shared_cells(const shared_cells&) = delete;
  shared_cells& operator=(const shared_cells&) = delete;
  ~shared_cells() override {
    trim(pool->context, sequence, 0);
    pool->free.insert(sequence);
    pool->held -= own;
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept override { return own * token_bytes; }
};

class sharing final : public snapshot_keeper {
 public:
  sharing(llama_context* context, llama_seq_id first, std::uint32_t count, std::uint64_t token_bytes)
      : pool_{context, {}, 0}, token_bytes_(token_bytes) {
    for (std::uint32_t at = 0; at < count; ++at) pool_.free.insert(first + static_cast<llama_seq_id>(at));
  }

  result<std::shared_ptr<const llama_snapshot>> take(llama_seq_id sequence, std::vector<token> tokens,
                                                     std::shared_ptr<const snapshot> base,
                                                     std::uint32_t shared) override {
    if (pool_.free.empty())
      return fail(errc::busy, stage::body, "as many snapshots are kept as one memory can share: let some go");
    auto kept = std::make_shared<shared_cells>();
    kept->pool = &pool_;
    kept->sequence = *pool_.free.begin();
    pool_.free.erase(pool_.free.begin());
    kept->token_bytes = token_bytes_;
    kept->tokens = std::move(tokens);
    kept->own = kept->tokens.size() - shared;
    kept->base = std::move(base);
    pool_.held += kept->own;
    llama_memory_seq_cp(llama_get_memory(pool_.context), sequence, kept->sequence, -1, -1);
    return std::shared_ptr<const llama_snapshot>(std::move(kept));
  }

  bool restore(const llama_snapshot& kept, std::uint32_t count, llama_seq_id sequence) override {
    llama_memory_seq_cp(llama_get_memory(pool_.context), static_cast<const shared_cells&>(kept).sequence,
                        sequence, 0, static_cast<llama_pos>(count));
    return true;
  }

  bool owns(const llama_snapshot& kept) const override {
    const auto* cells = dynamic_cast<const shared_cells*>(&kept);
    return cells != nullptr && cells->pool == &pool_;
  }

  std::optional<std::uint64_t> held() const noexcept override { return pool_.held; }

 private:
  sequences pool_;
  std::uint64_t token_bytes_;
};

}  // namespace

std::unique_ptr<snapshot_keeper> copying_keeper(llama_context* context) {
  return std::make_unique<copying>(context);
}

std::unique_ptr<snapshot_keeper> sharing_keeper(llama_context* context, llama_seq_id first,
                                                std::uint32_t count, std::uint64_t token_bytes) {
  return std::make_unique<sharing>(context, first, count, token_bytes);
}

}  // namespace evalcore::engine
