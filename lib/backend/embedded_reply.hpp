#pragma once

#include <string>
#include <vector>

#include <evalcore/base/clock.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/engine/answer.hpp>

namespace evalcore::backend {

/// Collects what an engine says of one request, and makes a reply of it.
class embedded_reply {
 public:
  /// The text that `one` completes: whole characters only, what is cut stays for the next.
  [[nodiscard]] std::string add(const engine::piece& one);
  /// `took`: from sending to the end.
  [[nodiscard]] chat::reply finish(const engine::answer& whole, const std::string& model, duration took);

  [[nodiscard]] bool begun() const noexcept { return begun_; }

 private:
  std::string text_;
  std::size_t told_ = 0;  ///< Bytes of text_ that add() gave out.
  bool begun_ = false;
  std::vector<chat::token_logprob> logprobs_;
};

}  // namespace evalcore::backend
