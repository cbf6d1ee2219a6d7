#pragma once

#include <string>
#include <vector>

#include <evalcore/chat/request.hpp>

namespace evalcore::chat {

/// The tools as text for a system turn, for models whose template knows no tools, in the style of BFCL's
/// prompting mode: what to do, the answer format `[f(a=1, b=2), g()]`, and one JSON object per tool, a line
/// each, its parameters byte for byte as the suite has them. decode_calls() reads the answer.
[[nodiscard]] std::string render_tool_block(const std::vector<tool>& tools);

/// The same request with the block in front of the system turn (which is made when there is none) and no
/// declared tools. Native calls in the history become their text form, and what a tool returned becomes a
/// user turn: a template without tools has no place for either. A tool choice goes, since nothing can enforce
/// it; cache breakpoints stay where they were, that of the tools goes to the system turn. A request without
/// tools is unchanged.
[[nodiscard]] request with_tools_as_text(const request& original);

}  // namespace evalcore::chat
