#pragma once

#include <string>

namespace evalcore::cli {

/// The command line as JSON, for the store; the values of secrets as "***".
[[nodiscard]] std::string arguments_as_json(int argc, const char* const* argv);

/// Writes over what is secret in `argv`, because every user of the machine can read a process's arguments.
void hide_secrets(int argc, char** argv);

}  // namespace evalcore::cli
