#pragma once

#include <string>

#include <evalcore/base/result.hpp>

namespace evalcore::backend {

/// A folder for this process's user alone, removed with what is in it. What a killed process left behind goes
/// when the next one makes its own: the process id stands in the name.
class private_folder {
 public:
  /// Errors: storage.
  [[nodiscard]] static result<private_folder> make();
  private_folder() = default;
  private_folder(private_folder&& other) noexcept;
  private_folder& operator=(private_folder&& other) noexcept;
  ~private_folder();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace evalcore::backend
