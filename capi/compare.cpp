#include <evalcore/c/compare.h>

#include <cstddef>
#include <vector>

#include <evalcore/run/comparison.hpp>

#include "guard.hpp"
#include "inputs.hpp"
#include "run_paths.hpp"
#include "text.hpp"

namespace capi = evalcore::capi;
namespace run = evalcore::run;
using evalcore::result;

evc_status evc_compare_runs(const evc_str* runs, size_t count, evc_str suite, evc_str answers, evc_text** out,
                            evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    const auto stores = capi::read_stores(runs, count);
    if (!stores) return stores.error();
    if (stores->size() < 2) return capi::misuse("two runs at least are compared");
    const auto suite_path = capi::read_text(suite, "the path of the suite");
    if (!suite_path) return suite_path.error();
    const auto answers_path = capi::read_text(answers, "the path of the answers");
    if (!answers_path) return answers_path.error();
    const auto read = run::read_runs(*stores, *suite_path, *answers_path);
    if (!read) return read.error();
    std::vector<run::comparison> all;
    for (std::size_t second = 1; second < read->runs.size(); ++second)
      all.push_back(run::compare(*read, 0, second));
    *out = new evc_text(evalcore::json::to_text(run::comparison_json(*read, all)) + "\n");
    return {};
  });
}
