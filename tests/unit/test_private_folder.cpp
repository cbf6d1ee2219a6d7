#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

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
  const auto left = parent / ("evalcore-" + std::to_string(ended_process()) + "-abcdef");
  const auto living = parent / ("evalcore-" + std::to_string(::getppid()) + "-abcdef");
  const auto foreign = parent / "evalcore-notes-abcdef";
  for (const auto& path : {left, living, foreign}) fs::create_directory(path);
  std::ofstream(left / "slot.bin") << "x";
  const auto folder = backend::private_folder::make();
  REQUIRE(folder);
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(living));
  CHECK(fs::exists(foreign));
  for (const auto& path : {living, foreign}) fs::remove(path);
}
