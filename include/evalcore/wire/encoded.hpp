#pragma once

#include <string>
#include <vector>

namespace evalcore::wire {

/// A request as the bytes of its body. What a server cannot honour is left out and listed where the answer
/// means the same without it; where it would not, encoding fails with `unsupported`.
struct encoded {
  std::string body;
  std::vector<std::string> dropped;  ///< By the names of OpenAI's API, each once.
};

/// What a piece of a streamed answer brought.
struct stream_progress {
  bool content = false;  ///< At least one delta with text, reasoning or a call: the first token is here.
  std::string text;      ///< The text that this piece added.
};

}  // namespace evalcore::wire
