#pragma once

#include <optional>
#include <string>

#include <evalcore/base/result.hpp>
#include <evalcore/run/cost.hpp>

namespace evalcore::cli {

/// The price file that --price names; nothing without one. Errors: as price_list::open().
[[nodiscard]] inline result<std::optional<run::price_list>> open_prices(const std::string& path) {
  if (path.empty()) return std::optional<run::price_list>();
  auto opened = run::price_list::open(path);
  if (!opened) return std::move(opened).error();
  return std::optional(*std::move(opened));
}

}  // namespace evalcore::cli
