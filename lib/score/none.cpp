#include "score/scorers.hpp"

namespace evalcore::score {
namespace {

class none final : public scorer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "none"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "none"; }
  [[nodiscard]] result<void> check(const task& /*what*/) const override { return {}; }
  [[nodiscard]] verdict score(const task& /*what*/, const chat::reply& /*answer*/) const override {
    verdict out;
    out.reason = "the suite only asks";
    return out;
  }
};

}  // namespace

made_scorer make_none(const options& how) {
  if (auto fit = how.only({}); !fit) return std::move(fit).error();
  return made<none>();
}

}  // namespace evalcore::score
