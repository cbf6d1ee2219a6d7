#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/c/error.h>

namespace evalcore::capi {

/// The stores of runs that are named as people do, by the store or its folder. Errors: as read_text().
[[nodiscard]] result<std::vector<std::string>> read_stores(const evc_str* given, std::size_t count);

}  // namespace evalcore::capi
