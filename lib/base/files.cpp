#include <evalcore/base/files.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

namespace evalcore {
namespace {

error cannot_write(const std::string& path, int why) {
  return fail(errc::storage, stage::store, "cannot write " + path + ": " + std::strerror(why));
}

/// A new file beside `path`, of a name that nobody else has: killed processes leave such files behind, and a
/// process number is one's own on one machine alone. Below 0: errno says why.
int open_beside(const std::string& path, std::string& name) {
  static std::atomic<unsigned> files = 0;
  int descriptor = -1;
  do {
    name = path + "." + std::to_string(::getpid()) + "." + std::to_string(files++) + ".partial";
    descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  return descriptor;
}

/// A rename is safe against a power loss once the folder is flushed. Some file systems cannot do that.
int flush_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int why = ::fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
  ::close(descriptor);
  return why;
}

}  // namespace

result<std::string> read_file(const std::string& path, std::string_view what, stage at) {
  const auto refuse = [&](int why) {
    return fail(why == ENOENT ? errc::not_found : errc::storage, at,
                "cannot read the " + std::string(what) + " " + path + ": " + std::strerror(why));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) return refuse(errno);
  std::string out;
  std::array<char, 65536> piece{};
  while (const auto got = std::fread(piece.data(), 1, piece.size(), file.get()))
    out.append(piece.data(), got);
  if (std::ferror(file.get()) != 0) return refuse(errno);
  return out;
}

atomic_file::atomic_file(std::string path, std::string temporary, int descriptor)
    : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}

atomic_file::atomic_file(atomic_file&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

atomic_file::~atomic_file() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

result<atomic_file> atomic_file::create(const std::string& path) {
  std::string temporary;
  const int descriptor = open_beside(path, temporary);
  if (descriptor < 0) return cannot_write(path, errno);
  return atomic_file(path, std::move(temporary), descriptor);
}

result<void> atomic_file::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::write(descriptor_, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return cannot_write(path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

result<void> atomic_file::keep() {
  int why = ::fsync(descriptor_) == 0 ? 0 : errno;
  if (::close(std::exchange(descriptor_, -1)) != 0 && why == 0) why = errno;
  if (why == 0 && ::rename(temporary_.c_str(), path_.c_str()) != 0) why = errno;
  if (why != 0) {
    ::unlink(temporary_.c_str());
    return cannot_write(path_, why);
  }
  const auto folder = std::filesystem::path(path_).parent_path();
  why = flush_folder(folder.empty() ? "." : folder.string());
  if (why != 0) return cannot_write(path_, why);
  return {};
}

result<void> write_file_atomically(const std::string& path, std::string_view bytes) {
  auto file = atomic_file::create(path);
  if (!file) return std::move(file).error();
  if (auto written = file->append(bytes); !written) return written;
  return file->keep();
}

}  // namespace evalcore
