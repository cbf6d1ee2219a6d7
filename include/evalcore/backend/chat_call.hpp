#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/backend/credentials.hpp>
#include <evalcore/backend/http_backend.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/wire/anthropic_messages.hpp>

namespace evalcore::backend {

/// What goes to a server for a chat request, but for what opens the server.
struct chat_call {
  std::string path;  ///< "/v1/chat/completions", behind the base URL.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;                  ///< To the byte.
  std::vector<std::string> dropped;  ///< As wire::encoded has it.
  bool messages = false;             ///< Anthropic's API.
};

/// The call that the backend with this info::identity makes. `version` is for Anthropic's API. Errors:
/// unsupported for a backend without a server, and for choices, each of which is a request of its own; those
/// of encoding.
[[nodiscard]] result<chat_call> chat_call_of(const std::map<std::string, std::string>& identity,
                                             const chat::request& request, bool stream,
                                             wire::anthropic_version version);

/// The call as a command of the shell (POSIX). No secret stands in it: a key is read from an environment
/// variable (that of `opens`, else OPENAI_API_KEY or ANTHROPIC_API_KEY), as are the values of headers and of
/// the query. `base_url` with or without /v1; empty: a server on this machine, on port $PORT.
[[nodiscard]] std::string curl_command(const chat_call& of, const std::string& base_url,
                                       const credentials& opens);

}  // namespace evalcore::backend
