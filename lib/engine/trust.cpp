#include "engine/trust.hpp"

#include <algorithm>
#include <utility>

#include <evalcore/engine/parity.hpp>

namespace evalcore::engine {

result<std::string> check_trust(loaded_engine& made, const options& how) {
  const auto& about = made.engine->about();
  parity_verdict found{.width = made.safe_width.value_or(about.max_rows),
                       .restores = made.keep_prefixes,
                       .why = "whoever loaded the engine says so"};
  if (!made.safe_width && !about.exact) {
    auto verdict = check_parity(*made.engine);
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
