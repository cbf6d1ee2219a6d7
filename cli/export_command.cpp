#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <evalcore/base/files.hpp>
#include <evalcore/run/export.hpp>

#include "commands.hpp"
#include "exit_status.hpp"
#include "printable.hpp"
#include "run_store.hpp"

namespace evalcore::cli {
namespace {

result<void> make_folder_of(const std::filesystem::path& file) {
  const auto folder = file.parent_path();
  if (folder.empty()) return {};
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!failed) return {};
  return fail(errc::storage, stage::store,
              "cannot make the folder " + folder.string() + ": " + failed.message() + "; name another (-o)");
}

/// The files of one export, each whole; none before all are written.
class output_files {
 public:
  explicit output_files(std::string out) : out_(std::move(out)) {}

  result<void> append(const std::string& name, std::string_view text) {
    if (out_.empty()) {
      std::fwrite(text.data(), 1, text.size(), stdout);
      return {};
    }
    auto found = open_.find(name);
    if (found == open_.end()) {
      const auto path = name.empty() ? std::filesystem::path(out_) : std::filesystem::path(out_) / name;
      if (auto made = make_folder_of(path); !made) return made;
      auto file = atomic_file::create(path.string());
      if (!file) return std::move(file).error();
      found = open_.emplace(name, *std::move(file)).first;
    }
    return found->second.append(text);
  }

  result<void> keep() {
    for (auto& [name, file] : open_) {
      if (auto kept = file.keep(); !kept) return kept;
      std::fprintf(stderr, "evalcore: wrote %s\n",
                   printable(name.empty() ? out_ : (std::filesystem::path(out_) / name).string()).c_str());
    }
    return {};
  }

 private:
  std::string out_;
  std::map<std::string, atomic_file> open_;
};

}  // namespace

result<int> export_command(const export_arguments& arguments) {
  const bool folder =
      arguments.format == run::export_format::lm_eval || arguments.format == run::export_format::bfcl;
  if (folder && arguments.out.empty()) {
    return fail(errc::invalid_argument, stage::config,
                "this format is several files; name the folder for them (-o FOLDER)");
  }
  auto how = arguments.what;
  for (auto& one : how.stores) one = store_in(one);
  output_files files(arguments.out);
  const auto done = run::export_runs(
      arguments.format, how,
      [&](const std::string& name, std::string_view text) { return files.append(name, text); });
  if (!done) return done.error();
  if (auto kept = files.keep(); !kept) return std::move(kept).error();
  if (done->missing > 0) {
    std::fprintf(stderr, "evalcore: %llu of %llu items have no reply\n",
                 static_cast<unsigned long long>(done->missing),
                 static_cast<unsigned long long>(done->items));
  }
  return exit_status::done;
}

}  // namespace evalcore::cli
