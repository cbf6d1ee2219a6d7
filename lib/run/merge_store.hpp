#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/run/store.hpp>

#include "run/store_sql.hpp"

namespace evalcore::run {

/// A run as its row has it.
struct stored_run {
  std::string suite_path;
  std::string suite_hash;
  std::string identity;  ///< JSON.
  std::string setup;     ///< JSON.
  std::string probe;     ///< JSON.
  std::string run_id;
  std::string options;  ///< JSON.
  std::int64_t started_unix_ms = 0;
  double wall_s = 0;      ///< Of all runs of the file on this suite with this backend that came to their end.
  double own_wall_s = 0;  ///< Of this run; 0 where it did not come to its end.
};

/// The runs of a store, newest first. Errors: as store::open_to_read().
[[nodiscard]] result<std::vector<stored_run>> runs_of(const std::string& path);

/// Removes a store's files, as far as they are there.
void remove_store(const std::string& path) noexcept;

/// The store that a merge makes: what was wanted is copied from one part after the other. Left before keep(),
/// it is removed.
class merge_store {
 public:
  /// Errors: invalid_argument when there is such a file.
  [[nodiscard]] static result<merge_store> create(const std::string& path);
  ~merge_store();
  merge_store(merge_store&& other) noexcept;
  merge_store& operator=(merge_store&&) = delete;

  result<void> want(const item_record& one);
  /// Errors: invalid_argument for an item that an earlier part answers.
  result<void> add(const std::string& part);

  struct history {
    std::uint64_t attempts = 0;
    std::uint64_t items = 0;                               ///< That were ever sent.
    std::map<std::string, std::uint64_t> failed_attempts;  ///< By class.
    /// Of items without a reply, by item key: the class of their last failure; empty: it was out when its
    /// process ended.
    std::map<std::string, std::string> last_failure;
  };
  [[nodiscard]] result<history> attempts();
  void keep() noexcept { kept_ = true; }

 private:
  merge_store(sql_database database, std::string path);
  result<void> copy(const std::string& part);

  std::string path_;
  sql_database database_;
  statement want_;
  std::vector<std::string> parts_;
  bool kept_ = false;
};

}  // namespace evalcore::run
