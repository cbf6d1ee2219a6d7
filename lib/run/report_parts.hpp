#pragma once

#include <string_view>

namespace evalcore::run {

/// A file of lib/run/report/, by its name; besides `chart.js`, the chart library that was found when evalcore
/// was built: empty if none was. Empty for an unknown name.
[[nodiscard]] std::string_view report_part(std::string_view name) noexcept;

}  // namespace evalcore::run
