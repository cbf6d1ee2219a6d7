#pragma once

#include <memory>

#include <evalcore/score/scorer.hpp>

namespace evalcore::score {

[[nodiscard]] std::shared_ptr<const scorer> make_exact();
[[nodiscard]] std::shared_ptr<const scorer> make_numeric();
[[nodiscard]] std::shared_ptr<const scorer> make_bfcl();
[[nodiscard]] std::shared_ptr<const scorer> make_choice();
[[nodiscard]] std::shared_ptr<const scorer> make_none();

}  // namespace evalcore::score
