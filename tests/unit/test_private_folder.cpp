#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "backend/private_folder.hpp"

using namespace evalcore;
namespace fs = std::filesystem;

namespace {

/// The id of a process that has ended and was waited for.
pid_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

}  // namespace

TEST_CASE("a private folder is the user's alone and goes with what is in it") {
  std::string path;
  {
    const auto folder = backend::private_folder::make();
    REQUIRE(folder);
    path = folder->path();
    struct stat facts{};
    REQUIRE(::stat(path.c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777U) == 0700U);
    std::ofstream(path + "/slot.bin") << "x";
  }
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("what a killed process left behind is removed, and nothing else") {
  const auto parent = fs::temp_directory_path();
  const auto gone = std::to_string(ended_process());
  const auto left = parent / ("evalcore-private-" + gone + "-abcdef");
  const std::vector<fs::path> others = {
      parent / ("evalcore-private-" + std::to_string(::getppid()) + "-abcdef"),  // Its process lives.
      parent / ("evalcore-private-" + gone + "-shared"), parent / ("evalcore-private-" + gone + "-mine-12"),
      parent / ("evalcore-" + gone + "-abcdef"), parent / "evalcore-private-notes-abcdef"};
  for (const auto& path : others) fs::create_directory(path);
  fs::create_directory(left);
  for (const auto& path : others) fs::permissions(path, fs::perms::owner_all);
  fs::permissions(left, fs::perms::owner_all);
  fs::permissions(others[1], fs::perms::owner_all | fs::perms::group_read);
  std::ofstream(left / "slot.bin") << "x";
  const auto folder = backend::private_folder::make();
  REQUIRE(folder);
  CHECK_FALSE(fs::exists(left));
  for (const auto& path : others) {
    CAPTURE(path);
    CHECK(fs::exists(path));
    fs::remove(path);
  }
}
