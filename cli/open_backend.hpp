#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/backend/ask_again.hpp>
#include <evalcore/backend/backend.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/net/loop.hpp>

#include "arguments.hpp"

namespace evalcore::cli {

/// One row of `evalcore backends`.
struct selector {
  std::string_view name;
  std::string_view what;
  std::string_view needs;
};
[[nodiscard]] std::span<const selector> selectors() noexcept;
/// Whether a word that should name a backend is rather meant to say where a server is.
[[nodiscard]] bool looks_like_address(std::string_view word);
/// "llama-server, openai-url, scripted", for messages.
[[nodiscard]] std::string selector_names();

/// With --concurrency auto the embedded backend may choose its slots: no more than that may try and `items`
/// can fill, and with --no-prompt-cache in the memory of prefixes, too.
[[nodiscard]] backend_arguments sized_for(backend_arguments arguments, const suite_arguments& how,
                                          std::uint64_t items);

/// Starts or reaches the backend that was asked for; of a base URL without a selector it finds out which API
/// is spoken there. A URL that does not answer well is asked again as `again` says. Errors: invalid_argument
/// (stage config) for what was named or left out wrongly; the backend's own.
[[nodiscard]] result<std::unique_ptr<backend::backend>> open_backend(net::loop& owner,
                                                                     const backend_arguments& arguments,
                                                                     const backend::ask_again& again,
                                                                     const std::stop_token& stop);

/// The same for all base URLs. Errors besides: invalid_argument when they do not answer for the same model.
[[nodiscard]] result<std::vector<std::unique_ptr<backend::backend>>> open_backends(
    net::loop& owner, const backend_arguments& arguments, const backend::ask_again& again,
    const std::stop_token& stop);

}  // namespace evalcore::cli
