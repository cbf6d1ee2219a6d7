#include "run_paths.hpp"

#include <evalcore/run/run_files.hpp>

#include "inputs.hpp"

namespace evalcore::capi {

result<std::vector<std::string>> read_stores(const evc_str* given, std::size_t count) {
  if (given == nullptr && count > 0) return misuse("the runs have a count but no data", "null");
  std::vector<std::string> stores;
  for (std::size_t i = 0; i < count; ++i) {
    const auto path = read_text(given[i], "the path of a run");
    if (!path) return path.error();
    stores.push_back(run::store_in(*path));
  }
  return stores;
}

}  // namespace evalcore::capi
