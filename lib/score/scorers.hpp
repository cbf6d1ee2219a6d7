#pragma once

#include <memory>
#include <utility>

#include <evalcore/score/scorer.hpp>

#include "score/bfcl_check.hpp"
#include "score/options.hpp"

namespace evalcore::score {

using made_scorer = result<std::shared_ptr<const scorer>>;

template <class Scorer, class... Arguments>
made_scorer made(Arguments&&... arguments) {
  return std::shared_ptr<const scorer>(std::make_shared<const Scorer>(std::forward<Arguments>(arguments)...));
}

[[nodiscard]] made_scorer make_exact(const options& how);
[[nodiscard]] made_scorer make_includes(const options& how);
[[nodiscard]] made_scorer make_regex(const options& how);
[[nodiscard]] made_scorer make_numeric(const options& how);
[[nodiscard]] made_scorer make_letter(const options& how);
[[nodiscard]] made_scorer make_f1(const options& how);
[[nodiscard]] made_scorer make_math(const options& how);
[[nodiscard]] made_scorer make_json(const options& how);
[[nodiscard]] made_scorer make_json_schema(const options& how);
[[nodiscard]] made_scorer make_bfcl(const options& how);
[[nodiscard]] made_scorer make_bfcl_strict(const options& how);
[[nodiscard]] made_scorer make_choice(const options& how);
[[nodiscard]] made_scorer make_brier(const options& how);
[[nodiscard]] made_scorer make_perplexity(const options& how);
[[nodiscard]] made_scorer make_none(const options& how);

}  // namespace evalcore::score
