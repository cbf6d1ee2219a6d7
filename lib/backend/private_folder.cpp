#include "backend/private_folder.hpp"

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace evalcore::backend {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "evalcore-private-";
constexpr std::string_view drawn = "XXXXXX";  ///< As mkdtemp wants it.

/// The process that made a folder of this name; 0 when the name is none of ours.
pid_t maker_of(std::string_view folder) {
  if (folder.substr(0, prefix.size()) != prefix) return 0;
  folder.remove_prefix(prefix.size());
  pid_t maker = 0;
  const auto [end, failed] = std::from_chars(folder.data(), folder.data() + folder.size(), maker);
  if (failed != std::errc()) return 0;
  folder.remove_prefix(static_cast<std::size_t>(end - folder.data()));
  return folder.size() == 1 + drawn.size() && folder.front() == '-' ? maker : 0;
}

/// Somebody else's folder may be named like one of ours.
bool is_private(const fs::path& folder) {
  struct stat facts{};
  return ::lstat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == ::geteuid() &&
         (facts.st_mode & 0777U) == 0700U;
}

void remove_what_the_killed_left(const fs::path& parent) {
  std::error_code ignored;
  for (fs::directory_iterator at(parent, ignored), none; !ignored && at != none; at.increment(ignored)) {
    const pid_t maker = maker_of(at->path().filename().string());
    const bool gone = maker > 0 && ::kill(maker, 0) != 0 && errno == ESRCH;
    std::error_code kept;
    if (gone && is_private(at->path())) fs::remove_all(at->path(), kept);
  }
}

}  // namespace

result<private_folder> private_folder::make() {
  std::error_code wrong;
  const auto parent = fs::temp_directory_path(wrong);
  auto pattern = (parent / (std::string(prefix) + std::to_string(::getpid()) + "-").append(drawn)).string();
  if (wrong || ::mkdtemp(pattern.data()) == nullptr) {
    return fail(errc::storage, stage::start,
                "cannot make a temporary folder; set TMPDIR to one that can be written");
  }
  remove_what_the_killed_left(parent);
  private_folder made;
  made.path_ = std::move(pattern);
  return made;
}

private_folder::private_folder(private_folder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

private_folder& private_folder::operator=(private_folder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

private_folder::~private_folder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace evalcore::backend
