#pragma once

#include <termios.h>

#include <optional>

namespace evalcore::cli {

/// Single keys from the terminal, without waiting and without an echo. Does nothing where standard input is
/// no terminal or belongs to somebody else at the moment. Gives the terminal back as it was.
class keys {
 public:
  keys();
  ~keys();
  keys(const keys&) = delete;
  keys& operator=(const keys&) = delete;

  [[nodiscard]] bool listening() const noexcept { return before_.has_value(); }
  /// The next key that was pressed, if any.
  [[nodiscard]] std::optional<char> pressed();

 private:
  std::optional<termios> before_;
};

}  // namespace evalcore::cli
