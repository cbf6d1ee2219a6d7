#pragma once

#include <optional>
#include <string>
#include <vector>

#include <evalcore/c/request.h>
#include <evalcore/chat/completion.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/pool/source.hpp>

#include "guard.hpp"
#include "handle.hpp"

struct evc_request : evalcore::capi::handle<evc_request>, evalcore::capi::tells_refusal {
  static constexpr const char* word = "evc_request";

  evalcore::chat::request chat;
  std::string cache_key;
  bool stream = false;
  std::optional<evalcore::chat::prompt> context;
  std::vector<evalcore::chat::prompt> continuations;

  /// As a pool takes it, but for its id. Errors: invalid_argument for what is not whole.
  [[nodiscard]] evalcore::result<evalcore::pool::work> work() const;
};
