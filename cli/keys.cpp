#include "keys.hpp"

#include <poll.h>
#include <unistd.h>

namespace evalcore::cli {
namespace {

/// A process in the background that changes the terminal's mode, or reads from it, is stopped.
bool ours() { return ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

}  // namespace

keys::keys() {
  termios mode{};
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1 || !ours()) return;
  if (::tcgetattr(STDIN_FILENO, &mode) != 0) return;
  before_ = mode;
  mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C and Ctrl-Z keep their meaning.
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
}

keys::~keys() {
  if (before_ && ours()) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
}

std::optional<char> keys::pressed() {
  if (!before_ || !ours()) return std::nullopt;
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  char key = 0;
  if (::poll(&input, 1, 0) != 1 || ::read(STDIN_FILENO, &key, 1) != 1) return std::nullopt;
  return key;
}

}  // namespace evalcore::cli
