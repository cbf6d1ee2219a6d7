#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

namespace evalcore {

/// Collects bytes that come piece by piece. It grows by half of what it holds, 16 MiB at most, and in place
/// where the system can move pages instead of copying: a std::string that doubles holds twice a large body,
/// and the copy beside it, before a limit ends it.
class byte_buffer {
 public:
  void append(std::string_view piece) {
    if (piece.size() > capacity_ - size_) grow(piece.size() - (capacity_ - size_));
    if (!piece.empty()) std::memcpy(bytes_.get() + size_, piece.data(), piece.size());
    size_ += piece.size();
  }

  /// Keeps the memory for what comes next.
  void clear() noexcept { size_ = 0; }

  /// Valid until the next call of append() or clear().
  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.get(), size_}; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  static constexpr std::size_t first_step = 1024;
  static constexpr std::size_t longest_step = std::size_t{16} * 1024 * 1024;

  struct freed {
    void operator()(char* bytes) const noexcept { std::free(bytes); }
  };

  void grow(std::size_t least) {
    const std::size_t step = std::max(least, std::clamp(capacity_ / 2, first_step, longest_step));
    auto* moved = static_cast<char*>(std::realloc(bytes_.get(), capacity_ + step));
    if (moved == nullptr) throw std::bad_alloc();
    static_cast<void>(bytes_.release());
    bytes_.reset(moved);
    capacity_ += step;
  }

  std::unique_ptr<char, freed> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace evalcore
