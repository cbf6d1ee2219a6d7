#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <evalcore/run/runner.hpp>

namespace evalcore::cli {

/// done, running, waiting, errors, tokens/s, hit rate and ETA in one line.
[[nodiscard]] std::string describe(const run::progress& at);

/// Shows progress on standard error: one line rewritten in place on a terminal, a line every five seconds
/// in a log.
class progress_line {
 public:
  explicit progress_line(bool quiet);
  ~progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void show(const run::progress& at);
  /// A sentence that stays.
  void note(const std::string& text);
  /// Takes the line away, before something else is printed.
  void clear();

 private:
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace evalcore::cli
