#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/run/suite.hpp>

namespace evalcore::run {

/// How declared tools reach the model.
enum class tools_mode : std::uint8_t {
  automatic,  ///< As the API takes them, unless the backend is seen to drop them: then as text.
  native,
  text,  ///< As a block of text in the system turn; calls are read from the text of the reply.
};

/// What is the same for every request of a run.
struct request_options {
  std::string model;          ///< Empty: the backend's default.
  chat::parameters defaults;  ///< For what an item leaves open.
  tools_mode tools = tools_mode::automatic;
  bool use_prompt_cache = true;
};

/// The request that goes out for this item: defaults filled in, tools in the form asked for
/// (`automatic` counts as `native` here). Errors: bad_suite for a tool that cannot be expressed.
[[nodiscard]] result<chat::request> prepare(const item& one, const request_options& how);

/// Checks the first `count` items for what shows only when they are used: a tool that cannot be expressed,
/// and unless the host scores them, a scorer that does not exist or a target that it cannot use. To be called
/// before a backend is started for them. Errors: bad_suite, with file and line.
/// `scorer`: in the place of the items' own; empty: those.
[[nodiscard]] result<void> check_items(const suite& from, std::size_t count, bool scored_by_host = false,
                                       const std::string& scorer = {});

/// The request's identity: one JSON text, the same for the same request, without cache hints.
[[nodiscard]] std::string canonical_text(const chat::request& request);

}  // namespace evalcore::run
