#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include <evalcore/base/result.hpp>

namespace evalcore::backend {

/// A file descriptor that is closed with the object.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor();
  [[nodiscard]] int get() const noexcept { return number_; }
  void close() { descriptor gone(std::exchange(number_, -1)); }

 private:
  int number_ = -1;
};

struct pipe_pair {
  descriptor read;
  descriptor write;
};

/// Both ends are closed by exec, so that no other child inherits them.
[[nodiscard]] result<pipe_pair> make_pipe();

struct spawn_plan {
  std::string program;
  std::vector<std::string> arguments;
  int input = -1;           ///< -1: /dev/null.
  int output = -1;          ///< Standard output; -1: /dev/null.
  bool keep_errors = true;  ///< Standard error goes where the output goes, else to /dev/null.
  pid_t group = 0;          ///< 0: a new one.
};

/// The child's pid, or a negative errno.
[[nodiscard]] pid_t spawn(const spawn_plan& plan);

}  // namespace evalcore::backend
