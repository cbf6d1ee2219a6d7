#pragma once

#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/engine/request.hpp>

namespace evalcore::backend {

/// Refuses what no engine in this process can honour. Errors: unsupported, with the field and the mend.
[[nodiscard]] result<void> check_for_engine(const chat::request& request);

/// What choices follow, without the blanks at its end, which belong to each of them.
[[nodiscard]] std::string_view context_of(const chat::request& request);

/// The request as an engine takes it; one that check_for_engine() has passed.
[[nodiscard]] engine::request for_engine(const chat::request& request);

/// Who shares prefixes with whom, and where; absent: nobody.
[[nodiscard]] std::optional<engine::prefix_sharing> sharing_of(const chat::cache_hints& hints);

}  // namespace evalcore::backend
