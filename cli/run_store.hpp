#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace evalcore::cli {

/// A run as it is named on the command line: its store, or the folder that holds it.
[[nodiscard]] inline std::string store_in(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_directory(path, failed) ? (std::filesystem::path(path) / "run.db").string()
                                                     : path;
}

}  // namespace evalcore::cli
