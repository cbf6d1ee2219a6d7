#pragma once

#include <evalcore/base/result.hpp>
#include <evalcore/c/error.h>
#include <evalcore/score/scorer.hpp>

namespace evalcore::capi {

/// A host's score: {value, extracted, reason}. Errors: invalid_argument.
[[nodiscard]] result<score::verdict> read_verdict(evc_str given);

}  // namespace evalcore::capi
