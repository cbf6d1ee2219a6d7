#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <evalcore/engine/step_engine.hpp>

namespace evalcore::engine {

/// Passes everything on: a test changes what it is about.
class wrapped_engine : public step_engine {
 public:
  explicit wrapped_engine(std::unique_ptr<step_engine> inner) : inner_(std::move(inner)) {}

  [[nodiscard]] const traits& about() const override { return inner_->about(); }
  [[nodiscard]] result<rendered> render(const chat::request& request) override {
    return inner_->render(request);
  }
  [[nodiscard]] result<std::vector<token>> tokenize(std::string_view text, bool special) override {
    return inner_->tokenize(text, special);
  }
  [[nodiscard]] result<row_id> open(row_request request) override { return inner_->open(std::move(request)); }
  [[nodiscard]] result<void> step(std::uint32_t max_width, step_output& out) override {
    return inner_->step(max_width, out);
  }
  [[nodiscard]] bool remove(row_id row) override { return inner_->remove(row); }
  void interrupt() noexcept override { inner_->interrupt(); }
  [[nodiscard]] std::optional<std::uint64_t> snapshot_bytes(std::uint32_t tokens) const override {
    return inner_->snapshot_bytes(tokens);
  }
  [[nodiscard]] result<std::shared_ptr<const snapshot>> take_snapshot(row_id row) override {
    return inner_->take_snapshot(row);
  }
  [[nodiscard]] memory_report memory() const override { return inner_->memory(); }

 protected:
  [[nodiscard]] step_engine& inner() noexcept { return *inner_; }

 private:
  std::unique_ptr<step_engine> inner_;
};

}  // namespace evalcore::engine
