#pragma once

#include <cstdint>
#include <memory>

#include <evalcore/engine/step_engine.hpp>

namespace evalcore::test {

/// A snapshot of a size without a content. `alive` sums the bytes of all that were made and not destroyed.
class counted_snapshot final : public engine::snapshot {
 public:
  counted_snapshot(std::uint64_t bytes, std::uint64_t& alive) : bytes_(bytes), alive_(alive) {
    alive_ += bytes_;
  }
  ~counted_snapshot() override { alive_ -= bytes_; }
  counted_snapshot(const counted_snapshot&) = delete;
  counted_snapshot& operator=(const counted_snapshot&) = delete;
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }

 private:
  std::uint64_t bytes_;
  std::uint64_t& alive_;
};

}  // namespace evalcore::test
