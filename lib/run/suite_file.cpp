#include "run/suite_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <evalcore/base/limits.hpp>

#include "run/gzip.hpp"

namespace evalcore::run {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

error cannot_read(const std::string& path, int why) {
  return fail(why == ENOENT ? errc::not_found : errc::storage, stage::suite,
              "cannot read " + path + ": " + std::strerror(why));
}

std::int64_t modified_ns(const struct stat& about) {
#if defined(__APPLE__)
  const auto& when = about.st_mtimespec;
#else
  const auto& when = about.st_mtim;
#endif
  return std::int64_t{when.tv_sec} * 1'000'000'000 + when.tv_nsec;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r") == std::string_view::npos; }

/// Cuts a stream of blocks into lines and counts them.
class line_cutter {
 public:
  line_cutter(const suite_file& file, const suite_file::visitor& visit) : file_(file), visit_(visit) {}

  result<void> block(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      if (end == std::string_view::npos) {
        begun_ += bytes;
        return begun_.size() > limits::suite_line_bytes ? too_long() : result<void>{};
      }
      const auto piece = bytes.substr(0, end);
      bytes.remove_prefix(end + 1);
      if (begun_.empty()) {
        if (auto done = line(piece); !done) return done;
      } else {
        begun_ += piece;
        if (auto done = line(begun_); !done) return done;
        begun_.clear();
      }
      ++next_.line;
    }
    return {};
  }
  result<void> end() { return begun_.empty() ? result<void>{} : line(begun_); }

 private:
  result<void> line(std::string_view text) {
    const auto with_end = text.size() + 1;
    extent where = next_;
    next_.offset += with_end;
    if (text.size() > limits::suite_line_bytes) return too_long();
    if (where.line == 1 && text.substr(0, 3) == "\xEF\xBB\xBF") {
      text.remove_prefix(3);
      where.offset += 3;
    }
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (is_blank(text)) return {};
    where.length = static_cast<std::uint32_t>(text.size());
    return visit_(text, where);
  }

  [[nodiscard]] result<void> too_long() const {
    return fail(errc::bad_suite, stage::suite,
                file_.at(next_) + "longer than " + std::to_string(limits::suite_line_bytes) +
                    " bytes; one item stands on one line");
  }

  const suite_file& file_;
  const suite_file::visitor& visit_;
  extent next_{0, 0, 1};
  std::string begun_;  ///< The start of a line that the next block goes on with.
};

}  // namespace

suite_file::~suite_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

suite_file::suite_file(suite_file&& other) noexcept
    : path_(std::move(other.path_)),
      lines_(std::move(other.lines_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      modified_ns_(other.modified_ns_) {}

suite_file& suite_file::operator=(suite_file&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lines_, other.lines_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(modified_ns_, other.modified_ns_);
  return *this;
}

result<suite_file> suite_file::open(const std::string& path) {
  suite_file file;
  file.path_ = path;
  // Without O_NONBLOCK a pipe that nobody writes to would hang here.
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat about{};
  if (file.descriptor_ < 0 || ::fstat(file.descriptor_, &about) != 0) return cannot_read(path, errno);
  if (!S_ISREG(about.st_mode)) {
    return fail(errc::bad_suite, stage::suite, path + " is not a regular file; give a JSONL file");
  }
  if (is_gzip(file.descriptor_)) {
    auto inflated = inflate_to_temporary(file.descriptor_, path, limits::inflated_suite_bytes);
    if (!inflated) return std::move(inflated).error();
    ::close(std::exchange(file.descriptor_, *inflated));
    if (::fstat(file.descriptor_, &about) != 0) return cannot_read(path, errno);
  }
  file.size_ = about.st_size;
  file.modified_ns_ = modified_ns(about);
  return file;
}

suite_file suite_file::in_memory(std::string name, std::string lines) {
  suite_file made;
  made.path_ = std::move(name);
  made.lines_ = std::move(lines);
  return made;
}

result<void> suite_file::for_each_line(sha256& hash, const visitor& visit) const {
  line_cutter cutter(*this, visit);
  if (descriptor_ < 0) {
    hash.raw(lines_);
    if (auto done = cutter.block(lines_); !done) return done;
    return cutter.end();
  }
  std::string buffer(block_bytes, '\0');
  for (off_t offset = 0;;) {
    const auto got = ::pread(descriptor_, buffer.data(), buffer.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(path_, errno);
    if (got == 0) return cutter.end();
    offset += got;
    const std::string_view block(buffer.data(), static_cast<std::size_t>(got));
    hash.raw(block);
    if (auto done = cutter.block(block); !done) return done;
  }
}

result<void> suite_file::check_unchanged() const {
  if (descriptor_ < 0) return {};
  struct stat about{};
  if (::fstat(descriptor_, &about) != 0) return cannot_read(path_, errno);
  if (about.st_size == size_ && modified_ns(about) == modified_ns_) return {};
  return fail(errc::storage, stage::suite, path_ + " was changed while it was in use; run again");
}

result<std::string> suite_file::read(const extent& where) const {
  if (descriptor_ < 0) return lines_.substr(where.offset, where.length);
  if (auto same = check_unchanged(); !same) return std::move(same).error();
  std::string text(where.length, '\0');
  for (std::size_t have = 0; have < text.size();) {
    const auto got =
        ::pread(descriptor_, text.data() + have, text.size() - have, static_cast<off_t>(where.offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return cannot_read(path_, got < 0 ? errno : EIO);
    have += static_cast<std::size_t>(got);
  }
  return text;
}

std::string suite_file::at(const extent& where) const {
  return path_ + ":" + std::to_string(where.line) + ": ";
}

}  // namespace evalcore::run
