#include <evalcore/run/rows.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include <evalcore/base/json.hpp>

#include "run/foundation_json.hpp"

namespace evalcore::run {
namespace {

/// Members one by one, in the order in which they are sorted by the caller.
class line {
 public:
  line& member(std::string_view key, const std::string& text) {
    begin(key);
    append_as_foundation(out_, text);
    return *this;
  }
  line& member(std::string_view key, double number) {
    begin(key);
    append_as_foundation(out_, number);
    return *this;
  }
  line& literal(std::string_view key, std::string_view text) {
    begin(key);
    out_ += text;
    return *this;
  }
  template <class T>
  line& member_if(std::string_view key, const std::optional<T>& value) {
    return value ? member(key, *value) : *this;
  }
  [[nodiscard]] std::string end() && { return std::move(out_) + "}\n"; }

 private:
  void begin(std::string_view key) {
    out_ += out_.empty() ? '{' : ',';
    json::append_quoted(out_, key);
    out_ += ':';
  }
  std::string out_;
};

error cannot_write(const std::string& path, int why) {
  return fail(errc::storage, stage::store, "cannot write " + path + ": " + std::strerror(why));
}

/// 0, or errno.
int write_and_flush(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::write(descriptor, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return ::fsync(descriptor) == 0 ? 0 : errno;
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

std::string to_line(const row& one) {
  line out;
  out.literal("baseline", one.baseline ? "true" : "false")
      .member_if("harness_version", one.harness_version)
      .member("metric", one.metric)
      .member("model_name", one.model_name)
      .member("model_path", one.model_path);
  if (one.model_step) out.literal("model_step", std::to_string(*one.model_step));
  out.literal("n_examples", std::to_string(one.n_examples))
      .member("run_id", one.run_id)
      .member("score", one.score)
      .member_if("subtask", one.subtask)
      .member("task", one.task)
      .member("timestamp", one.timestamp)
      .member("wall_seconds", one.wall_seconds);
  return std::move(out).end();
}

result<void> write_file_atomically(const std::string& path, const std::string& bytes) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::string temporary = path + "." + std::to_string(::getpid()) + ".partial";
  ::unlink(temporary.c_str());  // What a killed process of the same number left behind.
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return cannot_write(path, errno);
  int why = write_and_flush(descriptor, bytes);
  if (::close(descriptor) != 0 && why == 0) why = errno;
  if (why == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) why = errno;
  if (why != 0) {
    ::unlink(temporary.c_str());
    return cannot_write(path, why);
  }
  why = flush_folder(folder.empty() ? "." : folder.string());
  if (why != 0) return cannot_write(path, why);
  return {};
}

}  // namespace evalcore::run
