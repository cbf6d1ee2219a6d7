#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <evalcore/backend/managed_server.hpp>
#include <evalcore/base/result.hpp>

namespace evalcore::backend {

/// Whether the steps use this value, for example "{slots}".
[[nodiscard]] bool uses(const wire::start_line& start, std::string_view value) noexcept;

/// Errors: invalid_argument for a number that cannot be and for an extra argument that evalcore sets itself,
/// also when it is cut short as many programs allow.
[[nodiscard]] result<void> check_start(const managed_options& how);

/// The arguments of the program. `folder` is the private one; empty: there is none.
[[nodiscard]] std::vector<std::string> start_arguments(const managed_options& how, std::uint16_t port,
                                                       const std::string& folder);

}  // namespace evalcore::backend
