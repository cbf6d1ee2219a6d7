#include "engine/trust.hpp"

#include <algorithm>
#include <utility>

#include <evalcore/engine/parity.hpp>

#include "engine/kept_verdicts.hpp"

namespace evalcore::engine {
namespace {

result<parity_verdict> checked_or_known(const loaded_engine& made) {
  const kept_verdicts kept(made.verdict_folder);
  if (auto known = kept.find(made.engine->about())) return *std::move(known);
  auto found = check_parity(*made.engine);
  if (found) kept.keep(made.engine->about(), *found);
  return found;
}

}  // namespace

result<std::string> check_trust(loaded_engine& made, const options& how) {
  const auto& about = made.engine->about();
  parity_verdict found{.width = made.safe_width.value_or(about.max_rows),
                       .restores = made.keep_prefixes,
                       .why = "whoever loaded the engine says so"};
  if (!made.safe_width && !about.exact) {
    auto verdict = checked_or_known(made);
    if (!verdict) return std::move(verdict).error();
    found = *std::move(verdict);
    made.safe_width = found.width;
    made.keep_prefixes = made.keep_prefixes && found.restores;
  }
  return note_of(found, about, how.max_batch_size);
}

options narrowed(options how, std::optional<std::uint32_t> safe_width) {
  if (!safe_width) return how;
  if (*safe_width == 0) how.max_batch_size = 1;
  how.max_width = std::max(1U, std::min(*safe_width, how.max_width.value_or(how.max_batch_size)));
  return how;
}

}  // namespace evalcore::engine
