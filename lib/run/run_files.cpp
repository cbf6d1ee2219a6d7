#include <evalcore/run/run_files.hpp>

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include <evalcore/base/files.hpp>
#include <evalcore/run/ids.hpp>

namespace evalcore::run {
namespace {

error no_folder(const outputs& paths, const std::string& why) {
  return fail(errc::storage, stage::store,
              "cannot make the folder " + paths.folder + ": " + why + "; name another (--out)");
}

/// Whether the folder is there or could be made, without making it: an hour of loading does not end in a
/// folder that cannot be written.
result<void> check_folder(const outputs& paths) {
  std::error_code failed;
  auto existing = std::filesystem::absolute(paths.folder, failed).lexically_normal();
  while (!std::filesystem::exists(existing, failed) && existing.has_relative_path())
    existing = existing.parent_path();
  if (!std::filesystem::is_directory(existing, failed))
    return no_folder(paths, existing.string() + " is no folder");
  if (::access(existing.c_str(), W_OK) != 0)
    return no_folder(paths, existing.string() + " cannot be written");
  return {};
}

/// The store of that name, unless it is the run's own.
result<std::optional<store>> open_cache(const std::string& named, const std::string& own) {
  if (named.empty()) return std::optional<store>();
  std::error_code absent;
  if (!std::filesystem::exists(named, absent)) {
    return fail(errc::not_found, stage::store,
                "there is no store " + named +
                    " to take replies from (--cache); without a name it reuses what " + own + " has");
  }
  if (std::filesystem::equivalent(named, own, absent)) return std::optional<store>();
  auto opened = store::open(named);
  if (!opened) return std::move(opened).error();
  return std::optional(*std::move(opened));
}

}  // namespace

outputs outputs::in(const std::string& folder, const std::string& store) {
  const std::filesystem::path at(folder);
  return {at.string(), store.empty() ? (at / "run.db").string() : store, (at / "rows.jsonl").string(),
          (at / "summary.json").string()};
}

std::string store_in(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_directory(path, failed) ? outputs::in(path).store : path;
}

result<void> make_folder(const outputs& paths) {
  std::error_code failed;
  std::filesystem::create_directories(paths.folder, failed);
  if (!failed) return {};
  return no_folder(paths, failed.message());
}

result<void> write_outputs(const summary& of, const row_labels& labels, const outputs& paths) {
  if (!of.interrupted && of.stopped.empty()) {
    auto dated = labels;
    dated.timestamp = timestamp(unix_ms_now());
    std::string lines;
    for (const auto& one : rows_of(of, dated)) lines += to_line(one);
    if (auto written = write_file_atomically(paths.rows, lines); !written) return written;
  }
  return write_file_atomically(paths.summary, to_json(of));
}

result<run_files> run_files::look(outputs paths, const std::string& cache_file) {
  run_files files;
  files.paths_ = std::move(paths);
  std::error_code unseen;  // Opening it says why.
  if (std::filesystem::exists(files.paths_.store, unseen)) {
    auto opened = store::open(files.paths_.store);
    if (!opened) return std::move(opened).error();
    files.own_ = *std::move(opened);
  }
  auto other = open_cache(cache_file, files.paths_.store);
  if (!other) return std::move(other).error();
  files.other_ = *std::move(other);
  if (auto usable = check_folder(files.paths_); !usable) return std::move(usable).error();
  return files;
}

result<void> run_files::make() {
  if (auto made = make_folder(paths_); !made) return made;
  if (own_) return {};
  auto opened = store::open(paths_.store);
  if (!opened) return std::move(opened).error();
  own_ = *std::move(opened);
  return {};
}

response_cache run_files::cache(bool sampled) const {
  response_cache all{{&*own_}, sampled};
  if (other_) all.stores.push_back(&*other_);
  return all;
}

}  // namespace evalcore::run
