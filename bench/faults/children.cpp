#include "faults/children.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>

namespace evalcore::faults {
namespace {

struct child {
  std::size_t run = 0;
  pid_t process = 0;
  int reads = -1;
  instant began;
  std::string said;
};

/// One letter for each flag, then what was not kept.
std::string to_text(const verdict& found) {
  std::string text = "v";
  if (found.hang) text += 'h';
  if (found.silent) text += 's';
  if (found.untyped) text += 'u';
  if (found.skipped) text += 'x';
  return text + "\n" + found.unkept;
}

verdict from_text(const std::string& text) {
  verdict found;
  const auto line = text.find('\n');
  if (line == std::string::npos) {
    found.unkept = "the process ended without a word";
    return found;
  }
  const auto flags = text.substr(0, line);
  found.hang = flags.find('h') != std::string::npos;
  found.silent = flags.find('s') != std::string::npos;
  found.untyped = flags.find('u') != std::string::npos;
  found.skipped = flags.find('x') != std::string::npos;
  found.unkept = text.substr(line + 1);
  return found;
}

[[noreturn]] void work(const run& one, pid_t parent, int tells) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) std::_Exit(1);
  judge verdict;
  try {
    one.which->run(one.how, verdict);
  } catch (const std::exception& failure) {
    verdict.must(false, failure.what());
  }
  const auto text = to_text(verdict.found());
  const bool told = ::write(tells, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  std::_Exit(told ? 0 : 1);
}

child start(const std::vector<run>& all, std::size_t which) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  const pid_t parent = ::getpid();
  child one{.run = which,
            .process = ::fork(),
            .reads = ends[0],
            .began = std::chrono::steady_clock::now(),
            .said = {}};
  if (one.process == 0) work(all[which], parent, ends[1]);
  if (one.process < 0) std::abort();
  ::close(ends[1]);
  return one;
}

/// False: it has said all that it will.
bool listen(child& one) {
  char buffer[4096];
  const auto got = ::read(one.reads, buffer, sizeof(buffer));
  if (got <= 0) return false;
  one.said.append(buffer, static_cast<std::size_t>(got));
  return true;
}

}  // namespace

void run_in_children(std::vector<run>& all, std::size_t at_once, duration patience) {
  // Those that compute last, so that they do not make the others late.
  std::ranges::stable_sort(all, {}, [](const run& one) { return one.which->busy; });
  std::vector<child> out;
  for (std::size_t next = 0; next < all.size() || !out.empty();) {
    const auto room = [&] { return next < all.size() && out.size() < (all[next].which->busy ? 2 : at_once); };
    while (room()) out.push_back(start(all, next++));
    std::vector<pollfd> waits;
    for (const auto& one : out) waits.push_back({one.reads, POLLIN, 0});
    constexpr int tick_ms = 100;
    ::poll(waits.data(), waits.size(), tick_ms);
    const auto now = std::chrono::steady_clock::now();
    for (std::size_t i = out.size(); i-- > 0;) {
      auto& one = out[i];
      const bool late = now - one.began > patience;
      if (!late && (waits[i].revents == 0 || listen(one))) continue;
      if (late) ::kill(one.process, SIGKILL);
      ::waitpid(one.process, nullptr, 0);
      ::close(one.reads);
      auto& done = all[one.run];
      done.took = now - one.began;
      done.found = from_text(one.said);
      done.found.hang = done.found.hang || late;
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

std::string name_of(const run& one) {
  return std::string(one.which->name) + " " + (one.how.messages ? "Anthropic" : "OpenAI") +
         (one.how.streamed ? ", streamed" : ", whole") + ", run " + std::to_string(one.how.number);
}

std::vector<run> runs_of(const fault& which, std::size_t count) {
  std::vector<run> all;
  for (std::size_t number = 0; number < count; ++number) {
    all.push_back({.which = &which,
                   .how = {.messages = number % 2 == 1, .streamed = number % 4 >= 2, .number = number},
                   .found = {}});
  }
  return all;
}

}  // namespace evalcore::faults
