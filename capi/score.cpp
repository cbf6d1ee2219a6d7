#include <evalcore/c/score.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <evalcore/run/score_replies.hpp>

#include "guard.hpp"
#include "inputs.hpp"
#include "suite.hpp"
#include "text.hpp"

namespace capi = evalcore::capi;
namespace run = evalcore::run;
using evalcore::result;

struct evc_score_options : capi::handle<evc_score_options>, capi::tells_refusal {
  static constexpr const char* word = "evc_score_options";
  run::score_options how;
};

evc_score_options* evc_score_options_new(void) EVC_NOEXCEPT {
  try {
    return new evc_score_options;
  } catch (...) {
    return nullptr;
  }
}
void evc_score_options_free(evc_score_options* options) EVC_NOEXCEPT { capi::free_handle(options); }
evc_str evc_score_options_refusal(const evc_score_options* options) EVC_NOEXCEPT {
  return capi::refusal_of(options);
}

evc_status evc_score_options_set_scorer(evc_score_options* options, evc_str scorer) EVC_NOEXCEPT {
  return capi::guard_set(options, [&]() -> result<void> {
    auto named = capi::read_text(scorer, "the scorer");
    if (!named) return std::move(named).error();
    if (!named->empty()) {
      if (const auto found = evalcore::score::find_scorer(*named); !found) return found.error();
    }
    options->how.scorer = *std::move(named);
    return {};
  });
}
evc_status evc_score_options_set_limit(evc_score_options* options, uint64_t items) EVC_NOEXCEPT {
  return capi::guard_set(options, [&]() -> result<void> {
    if (auto good = capi::check_range("limit", items, 1, std::numeric_limits<std::uint64_t>::max()); !good)
      return good;
    options->how.limit = items;
    return {};
  });
}

evc_status evc_suite_score(const evc_suite* suite, evc_str replies, const evc_score_options* options,
                           evc_text** verdicts, uint64_t* unknown, evc_text** out,
                           evc_error** error) EVC_NOEXCEPT {
  if (verdicts != nullptr) *verdicts = nullptr;
  if (unknown != nullptr) *unknown = 0;
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    if (auto good = capi::check_live(suite); !good) return good;
    const auto path = capi::read_text(replies, "the path of the replies");
    if (!path) return path.error();
    run::score_options how;
    if (options != nullptr) {
      if (auto good = capi::check_live(options); !good) return good;
      how = options->how;
    }
    std::string lines;
    if (verdicts != nullptr) {
      how.scored = [&](const run::item& one, const evalcore::score::verdict& verdict) {
        lines += run::to_json(one, verdict) + '\n';
      };
    }
    const auto scored = run::score_replies(*suite->shared, *path, how);
    if (!scored) return scored.error();
    auto summary = std::make_unique<evc_text>(run::to_json(scored->what));
    if (verdicts != nullptr) *verdicts = new evc_text(std::move(lines));
    if (unknown != nullptr) *unknown = scored->unknown;
    *out = summary.release();
    return {};
  });
}
