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

std::shared_ptr<const scorer> make_none() { return std::make_shared<none>(); }

}  // namespace evalcore::score
