#include "suite_commands.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <evalcore/base/files.hpp>

#include "printable.hpp"

namespace evalcore::cli {
namespace {

constexpr std::string_view out_variable = "TINYGPT_EVAL_OUT";

/// An empty file that is removed with the object.
class scratch_file {
 public:
  scratch_file() {
    std::error_code failed;
    const auto folder = std::filesystem::temp_directory_path(failed);
    if (failed) return;
    path_ = (folder / "evalcore-rows-XXXXXX").string();
    const int descriptor = ::mkstemp(path_.data());
    made_ = descriptor >= 0;
    if (made_) ::close(descriptor);
  }
  ~scratch_file() {
    if (made_) ::unlink(path_.c_str());
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;

  [[nodiscard]] bool made() const noexcept { return made_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  bool made_ = false;
};

std::string with(std::string text, const std::string& name, const std::string& value) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
    text.replace(at, name.size(), value);
  return text;
}

std::vector<std::string> environment(const std::string& rows, std::uint64_t passes,
                                     const std::string& budget) {
  std::vector<std::string> out{std::string(out_variable) + "=" + rows,
                               "TINYGPT_EVAL_PASSES=" + std::to_string(passes)};
  if (!budget.empty()) out.push_back("TINYGPT_EVAL_BUDGET=" + budget);
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view entry(*one);
    bool overlaid = false;
    for (const auto& ours : out) overlaid = overlaid || entry.starts_with(ours.substr(0, ours.find('=') + 1));
    if (!overlaid) out.emplace_back(entry);
  }
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (auto& one : words) out.push_back(one.data());
  out.push_back(nullptr);
  return out;
}

/// The signals of this process as a program expects to find them: cli::interrupt blocks some and ignores
/// others.
class fresh_signals {
 public:
  fresh_signals() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    sigset_t ignored;
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE);
    sigaddset(&ignored, SIGXFSZ);
    ::posix_spawnattr_setsigdefault(&attributes_, &ignored);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~fresh_signals() { ::posix_spawnattr_destroy(&attributes_); }
  fresh_signals(const fresh_signals&) = delete;
  fresh_signals& operator=(const fresh_signals&) = delete;
  [[nodiscard]] const posix_spawnattr_t* get() const noexcept { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

/// The standard streams of a program that is started.
class streams {
 public:
  explicit streams(command_output output) {
    ::posix_spawn_file_actions_init(&actions_);
    if (output == command_output::to_stderr)
      ::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
  }
  ~streams() { ::posix_spawn_file_actions_destroy(&actions_); }
  streams(const streams&) = delete;
  streams& operator=(const streams&) = delete;
  [[nodiscard]] const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// Its exit status as a shell has it. Once `stop` is requested it is asked to end.
int run(std::vector<std::string> words, std::vector<std::string> variables, command_output output,
        const std::stop_token& stop) {
  pid_t child = 0;
  const fresh_signals signals;
  const streams where(output);
  const int refused = ::posix_spawnp(&child, words.front().c_str(), where.get(), signals.get(),
                                     pointers(words).data(), pointers(variables).data());
  if (refused != 0) {
    std::fprintf(stderr, "evalcore: cannot start %s: %s\n", printable(words.front()).c_str(),
                 std::strerror(refused));
    return 127;
  }
  {
    // The child is reaped only once nothing can signal it: then its number may be another process's.
    const std::stop_callback ended(stop, [child] { ::kill(child, SIGTERM); });
    siginfo_t unused{};
    while (::waitid(P_PID, static_cast<id_t>(child), &unused, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

result<command_rows> run_suite_commands(const std::vector<std::vector<std::string>>& commands,
                                        std::uint64_t passes, const std::string& budget,
                                        command_output output, const std::stop_token& stop) {
  const scratch_file rows;
  if (!rows.made()) {
    return fail(errc::storage, stage::store,
                "cannot make a file for rows in the folder of temporary files; TMPDIR names another");
  }
  const auto variables = environment(rows.path(), passes, budget);
  command_rows out;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    for (auto words : commands) {
      for (std::size_t i = 1; i < words.size(); ++i) {
        words[i] = with(words[i], "${" + std::string(out_variable) + "}", rows.path());
        words[i] = with(words[i], "$" + std::string(out_variable), rows.path());
      }
      std::fflush(stdout);
      out.status = run(words, variables, output, stop);
      if (stop.stop_requested())
        return fail(errc::cancelled, stage::config, "interrupted; the gate is not decided");
      if (out.status != 0) return out;
    }
  }
  auto text = read_file(rows.path(), "commands' rows", stage::store);
  if (!text) return std::move(text).error();
  out.rows = *std::move(text);
  return out;
}

}  // namespace evalcore::cli
