#include "run/gzip.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace evalcore::run {
namespace {

constexpr std::size_t block_bytes = std::size_t{256} * 1024;

std::string temporary_folder() {
  const char* named = std::getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? named : "/tmp";
}

error cannot_write(const std::string& path, int why) {
  return fail(errc::storage, stage::suite,
              "cannot inflate " + path + " into " + temporary_folder() + ": " + std::strerror(why) +
                  "; free space there, or name another folder in TMPDIR");
}

/// A file that is gone when its last descriptor is closed, whatever ends the process.
result<int> open_temporary(const std::string& path) {
  std::string name = temporary_folder() + "/evalcore-suite-XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return cannot_write(path, errno);
  ::unlink(name.c_str());
  return descriptor;
}

/// 0, or errno.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::write(descriptor, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
}

class inflater {
 public:
  inflater(int from, int to, const std::string& path, std::uint64_t bound)
      : from_(from), to_(to), path_(path), bound_(bound) {
    constexpr int gzip_only = 16 + MAX_WBITS;
    ready_ = inflateInit2(&stream_, gzip_only) == Z_OK;
  }
  ~inflater() { inflateEnd(&stream_); }
  inflater(const inflater&) = delete;
  inflater& operator=(const inflater&) = delete;

  result<void> run() {
    if (!ready_) return fail(errc::no_memory, stage::suite, "no memory to inflate " + path_);
    bool inside_member = false;
    for (;;) {
      const auto got = ::pread(from_, input_.data(), input_.size(), offset_);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        return fail(errc::storage, stage::suite, "cannot read " + path_ + ": " + std::strerror(errno));
      }
      if (got == 0) break;
      offset_ += got;
      stream_.next_in = input_.data();
      stream_.avail_in = static_cast<uInt>(got);
      while (stream_.avail_in > 0) {
        inside_member = true;
        auto ended = step();
        if (!ended) return std::move(ended).error();
        if (!*ended) continue;
        inside_member = false;
        if (inflateReset(&stream_) != Z_OK) return damaged("the next member cannot be read");
      }
    }
    if (inside_member) return damaged("it ends in the middle");
    return {};
  }

 private:
  /// One call of inflate() and the write of what came out; true at the end of a member.
  result<bool> step() {
    stream_.next_out = output_.data();
    stream_.avail_out = static_cast<uInt>(output_.size());
    const int code = ::inflate(&stream_, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      return damaged(stream_.msg != nullptr ? stream_.msg : "inflate failed");
    }
    const std::size_t produced = output_.size() - stream_.avail_out;
    written_ += produced;
    if (written_ > bound_) {
      return fail(errc::bad_suite, stage::suite,
                  path_ + ": holds more than " + std::to_string(bound_) + " bytes once inflated; split it");
    }
    const char* bytes = reinterpret_cast<const char*>(output_.data());
    if (const int why = write_all(to_, {bytes, produced}); why != 0) return cannot_write(path_, why);
    return code == Z_STREAM_END;
  }

  [[nodiscard]] error damaged(const std::string& how) const {
    return fail(errc::bad_suite, stage::suite,
                path_ + ": damaged gzip data (" + how + "); fetch or compress the file again");
  }

  int from_;
  int to_;
  const std::string& path_;
  std::uint64_t bound_;
  std::uint64_t written_ = 0;
  off_t offset_ = 0;
  bool ready_ = false;
  z_stream stream_{};
  std::vector<unsigned char> input_ = std::vector<unsigned char>(block_bytes);
  std::vector<unsigned char> output_ = std::vector<unsigned char>(block_bytes);
};

}  // namespace

bool is_gzip(int descriptor) {
  std::array<unsigned char, 2> magic{};
  return ::pread(descriptor, magic.data(), magic.size(), 0) == 2 && magic[0] == 0x1F && magic[1] == 0x8B;
}

result<int> inflate_to_temporary(int descriptor, const std::string& path, std::uint64_t bound) {
  auto temporary = open_temporary(path);
  if (!temporary) return temporary;
  if (auto done = inflater(descriptor, *temporary, path, bound).run(); !done) {
    ::close(*temporary);
    return std::move(done).error();
  }
  return temporary;
}

}  // namespace evalcore::run
