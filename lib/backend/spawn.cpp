#include "backend/spawn.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>

extern char** environ;

namespace evalcore::backend {

descriptor::~descriptor() {
  if (number_ >= 0) ::close(number_);
}

result<pipe_pair> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(errc::internal, stage::start, "cannot make a pipe");
  return pipe_pair{descriptor(ends[0]), descriptor(ends[1])};
}

pid_t spawn(const spawn_plan& plan) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (plan.input >= 0) {
    posix_spawn_file_actions_adddup2(&files, plan.input, 0);
  } else {
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  }
  if (plan.output >= 0) {
    posix_spawn_file_actions_adddup2(&files, plan.output, 1);
  } else {
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  }
  if (plan.keep_errors) {
    posix_spawn_file_actions_adddup2(&files, 1, 2);
  } else {
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  }
#ifdef __GLIBC__
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
#endif

  // The host may block or ignore signals; a child that inherited that could not be ended by SIGTERM.
  sigset_t none;
  sigset_t usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD}) sigaddset(&usual, number);
  posix_spawnattr_t ways;
  posix_spawnattr_init(&ways);
  posix_spawnattr_setflags(&ways, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&ways, plan.group);
  posix_spawnattr_setsigmask(&ways, &none);
  posix_spawnattr_setsigdefault(&ways, &usual);

  std::vector<std::string> words{plan.program};
  words.insert(words.end(), plan.arguments.begin(), plan.arguments.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  pid_t pid = -1;
  const int wrong = ::posix_spawn(&pid, plan.program.c_str(), &files, &ways, argv.data(), environ);
  posix_spawnattr_destroy(&ways);
  posix_spawn_file_actions_destroy(&files);
  return wrong == 0 ? pid : -wrong;
}

}  // namespace evalcore::backend
