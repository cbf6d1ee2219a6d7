#include "progress_line.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "printable.hpp"

namespace evalcore::cli {
namespace {

constexpr auto terminal_interval = std::chrono::milliseconds(200);
constexpr auto log_interval = std::chrono::seconds(5);

std::string one_decimal(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string span(double seconds) {
  const auto whole = static_cast<long long>(std::lround(seconds));
  if (whole < 100) return std::to_string(whole) + " s";
  if (whole < 6'000) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3'600) + " h " + std::to_string(whole % 3'600 / 60) + " min";
}

}  // namespace

std::string describe(const run::progress& at) {
  const auto finished = at.reused + at.done;
  const auto waiting = at.items - finished - at.running - at.retrying;
  std::string line = std::to_string(finished) + "/" + std::to_string(at.items) + " done, " +
                     std::to_string(at.running) + " running, " + std::to_string(waiting) + " waiting, " +
                     std::to_string(at.retrying) + " retrying, " + std::to_string(at.errors) + " errors";
  if (at.paused_s) line += ", paused for " + span(*at.paused_s);
  if (at.elapsed_s > 0 && at.completion_tokens > 0) {
    line += ", " + one_decimal(static_cast<double>(at.completion_tokens) / at.elapsed_s) + " tokens/s";
  }
  if (at.cached_tokens && at.prompt_tokens > 0) {
    line +=
        ", hit rate " +
        one_decimal(100.0 * static_cast<double>(*at.cached_tokens) / static_cast<double>(at.prompt_tokens)) +
        " %";
  }
  if (at.done > 0 && waiting + at.running + at.retrying > 0) {
    line += ", ETA " + span(at.elapsed_s / static_cast<double>(at.done) *
                            static_cast<double>(waiting + at.running + at.retrying));
  }
  return line;
}

progress_line::progress_line(bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), last_(std::chrono::steady_clock::now()) {}

progress_line::~progress_line() { clear(); }

void progress_line::show(const run::progress& at) {
  if (quiet_) return;
  const auto now = std::chrono::steady_clock::now();
  const bool due = terminal_ ? !drawn_ || now - last_ >= terminal_interval : now - last_ >= log_interval;
  if (!due) return;
  last_ = now;
  const auto line = describe(at);
  if (terminal_) {
    std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
    std::fflush(stderr);
    drawn_ = true;
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
}

void progress_line::note(const std::string& text) {
  clear();
  std::fprintf(stderr, "evalcore: %s\n", printable(text).c_str());
}

void progress_line::clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace evalcore::cli
