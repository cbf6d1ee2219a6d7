#pragma once

#include <cstdlib>

#include <evalcore/base/error.hpp>
#include <evalcore/base/limits.hpp>

/// What a fuzz target cannot do without: libFuzzer takes the abort for a finding.
inline void require(bool holds) {
  if (!holds) std::abort();
}

/// A failure says what it is, and does not hand on a whole payload.
inline void require_told(const evalcore::error& failure) {
  require(!failure.message.empty());
  require(failure.backend_words.size() <= evalcore::limits::backend_words_bytes);
}
