#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/engine/answer.hpp>

namespace evalcore::engine {

/// What one request has to say and nobody has read yet: a bounded number of records, then exactly one end.
class outlet {
 public:
  explicit outlet(std::size_t most) : most_(most) {}

  /// A sight of the prefill uses at most half of the room: what is left belongs to the answer.
  void see(const prefill_seen& sight) {
    if (records_.size() < most_ / 2) records_.emplace_back(sight);
  }
  /// False: the reader is too slow, and the record is lost.
  [[nodiscard]] bool push(piece&& one) {
    if (records_.size() >= most_) return false;
    records_.emplace_back(std::move(one));
    return true;
  }

  /// Only the first end counts; what was pushed before is still read.
  void end(result<answer>&& how) {
    if (!ended_) end_ = std::move(how);
    ended_ = true;
  }
  /// Nothing that was pushed is read any more.
  void suppress() { records_.clear(); }

  [[nodiscard]] bool ended() const noexcept { return ended_; }
  /// Whether take() has something to give.
  [[nodiscard]] bool ready() const noexcept { return !records_.empty() || end_.has_value(); }

  /// Exchanges the records with those of `read`, whose memory is used again, and gives the end if it has come
  /// and was not given before.
  [[nodiscard]] std::optional<result<answer>> take(std::vector<record>& read) {
    read.clear();
    records_.swap(read);
    return std::exchange(end_, std::nullopt);
  }

 private:
  std::size_t most_;
  std::vector<record> records_;
  std::optional<result<answer>> end_;
  bool ended_ = false;
};

}  // namespace evalcore::engine
