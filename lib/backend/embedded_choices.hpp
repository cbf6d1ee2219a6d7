#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/base/clock.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/engine/answer.hpp>

namespace evalcore::backend {

/// The choices of one request, collected into a reply. An engine scores them as branches of one context, or
/// of several where the end of the prompt is cut into tokens in different ways before them.
class embedded_choices {
 public:
  embedded_choices(const chat::request& request, std::string model, std::shared_ptr<sink> to);

  /// Part of an engine's work, before the likelihoods that it gave come.
  void count(const engine::answer& whole);
  /// True: it has just ended, with the last of them or with the first that failed.
  bool came(std::size_t choice, result<chat::loglikelihood> one);
  /// Unless it has ended.
  void end(result<chat::reply> outcome);
  [[nodiscard]] bool ended() const noexcept { return to_ == nullptr; }

  std::vector<ticket> parts;  ///< The engine's requests.
  bool given_up = false;      ///< Nothing more of it is to be asked of the engine; its end may be on its way.

 private:
  std::shared_ptr<sink> to_;  ///< Null: it has ended.
  instant began_ = std::chrono::steady_clock::now();
  std::vector<std::optional<chat::loglikelihood>> scores_;
  chat::reply reply_;
};

}  // namespace evalcore::backend
