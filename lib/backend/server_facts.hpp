#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/base/result.hpp>

namespace evalcore::backend {

/// What GET /v1/models lists. Errors: bad_reply.
[[nodiscard]] result<std::vector<listed_model>> read_model_list(std::string_view body);

/// Whether an answer to GET /v1/models, a refusal too, is written as Anthropic's API writes it.
[[nodiscard]] bool in_messages_form(std::string_view model_list);

/// What llama.cpp's GET /props says: slots, context of each, and for the identity the server's build and the
/// chat template's hash. Errors: bad_reply; what is not said stays absent.
[[nodiscard]] result<void> read_props(std::string_view body, info& into);

}  // namespace evalcore::backend
