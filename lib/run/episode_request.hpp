#pragma once

#include <cstdint>
#include <string>

#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::run {

/// What a turn's request adds to that of the turn before, as a JSON object for the trace:
/// `kept` messages stand as they stood, the reply among them; `messages` come after those; `settings` is all
/// else of the request, as OpenAI's chat API has it, where it differs.
[[nodiscard]] std::string added_to(const chat::request& before, const chat::reply& answer,
                                   const chat::request& now);
/// The same for the first turn, which adds everything.
[[nodiscard]] std::string all_of(const chat::request& first);

/// Requests of one number begin with the same tools and system turns; 0: these are too short for anybody to
/// wait for them.
[[nodiscard]] std::uint64_t family_of(const chat::request& request);

}  // namespace evalcore::run
