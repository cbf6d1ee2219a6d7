#pragma once

#include <optional>
#include <string>

#include <evalcore/base/result.hpp>
#include <evalcore/run/response_cache.hpp>
#include <evalcore/run/store.hpp>
#include <evalcore/run/summary.hpp>

namespace evalcore::run {

/// Where the files of a run go.
struct outputs {
  std::string folder;
  std::string store;
  std::string rows;
  std::string summary;

  /// `store`: empty: in the folder, too.
  static outputs in(const std::string& folder, const std::string& store = {});
};

/// A run as people name it: its store, or the folder that holds it.
[[nodiscard]] std::string store_in(const std::string& path);

/// Errors: storage.
[[nodiscard]] result<void> make_folder(const outputs& paths);

/// The summary, and rows if the run is whole: rows have no place to say that items were not run. Errors:
/// storage.
[[nodiscard]] result<void> write_outputs(const summary& of, const row_labels& labels, const outputs& paths);

/// The files of one run, from before its backend is started to its end. What exists is opened first, so that
/// a store in use is told before a model is loaded; what is new is made last, so that a backend that cannot
/// start leaves nothing behind.
class run_files {
 public:
  /// `cache_file`: another store to take replies from, which must exist, since a name that is mistyped would
  /// make a new store and everything would be sent; the run's own is fine, and empty is none. Errors: those
  /// of store::open(); not_found; storage for a folder that can neither be used nor made.
  [[nodiscard]] static result<run_files> look(outputs paths, const std::string& cache_file);
  /// Makes the folder and the store where they are not there yet. Errors: storage.
  result<void> make();

  [[nodiscard]] const outputs& paths() const noexcept { return paths_; }
  /// After make().
  [[nodiscard]] store& own() { return *own_; }
  /// The run's own store and the other one. After make(); good as long as this is.
  [[nodiscard]] response_cache cache(bool sampled) const;

 private:
  outputs paths_;
  std::optional<store> own_;
  std::optional<store> other_;
};

}  // namespace evalcore::run
