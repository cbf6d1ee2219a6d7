#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/result.hpp>

namespace evalcore::backend {

/// How a process ended: by itself with a code, or by a signal.
struct exit_status {
  int code = 0;    ///< Meaningful when `signal` is 0.
  int signal = 0;  ///< 0: it was not ended by a signal.

  /// "exit code 1" or "signal 9", for messages.
  [[nodiscard]] std::string text() const;
};

/// A child process in a process group of its own: standard input is empty, what it prints is drained into
/// a ring of limits::process_log_bytes, its death is noticed at once. The group is ended with the object,
/// and also when this process is killed.
///
/// Threads: any, for every function.
class managed_process {
 public:
  /// `program` is a path (see find_program); `arguments` go to it as they are, through no shell.
  /// Errors: backend_fault when it cannot be started.
  [[nodiscard]] static result<std::unique_ptr<managed_process>> start(
      const std::string& program, const std::vector<std::string>& arguments);
  /// Stops it.
  ~managed_process();
  managed_process(const managed_process&) = delete;
  managed_process& operator=(const managed_process&) = delete;

  /// Absent while it runs.
  [[nodiscard]] std::optional<exit_status> exited() const;
  /// Waits for the end for at most `patience`; absent when it still runs then.
  [[nodiscard]] std::optional<exit_status> wait(std::chrono::milliseconds patience) const;
  /// SIGTERM to the group; SIGKILL to what is left of it once the child is gone or the grace is over.
  /// Returns when the child is reaped. Idempotent.
  void stop(std::chrono::milliseconds grace = std::chrono::seconds(3));

  /// What it printed on standard output and standard error, the oldest part forgotten.
  [[nodiscard]] std::string log() const;
  [[nodiscard]] std::int64_t pid() const noexcept;

 private:
  struct impl;
  explicit managed_process(std::unique_ptr<impl> state);
  std::unique_ptr<impl> impl_;
};

/// The last `lines` lines of a log that hold more than blanks, joined by " | ", at most 400 bytes.
[[nodiscard]] std::string last_lines(std::string_view log, std::size_t lines);

/// The path of a program: `name` itself when it holds a '/', otherwise searched on PATH.
/// Errors: not_found ("cannot find llama-server on PATH"), invalid_argument when it cannot be executed.
[[nodiscard]] result<std::string> find_program(const std::string& name);

/// A TCP port that nobody listens on at 127.0.0.1 now. Errors: transport.
[[nodiscard]] result<std::uint16_t> free_port();
/// Whether somebody listens on `port` at 127.0.0.1.
[[nodiscard]] bool port_in_use(std::uint16_t port);

}  // namespace evalcore::backend
