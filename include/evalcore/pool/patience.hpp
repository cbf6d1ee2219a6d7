#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <evalcore/backend/ask_again.hpp>
#include <evalcore/pool/options.hpp>

namespace evalcore::pool {

/// The rules of requests for what is asked before them, such as the list of models: how long to wait after
/// `failures` failures, the question having been asked first `since` ago; nothing: it is not asked again. A
/// server that says that it is busy has all retries. One that cannot be reached or understood is most often
/// a wrong URL: it has five seconds. `unit` is uniform in [0, 1).
[[nodiscard]] std::optional<duration> wait_to_ask_again(const retry_options& how, error& why,
                                                        std::uint32_t failures, duration since, double unit);

/// The same with jitter of its own; a sentence on each wait goes to `note`.
[[nodiscard]] backend::ask_again patient(const retry_options& how,
                                         std::function<void(const std::string&)> note);

}  // namespace evalcore::pool
