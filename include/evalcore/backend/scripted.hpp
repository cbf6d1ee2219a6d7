#pragma once

#include <memory>
#include <string>

#include <evalcore/backend/backend.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/net/loop.hpp>

namespace evalcore::backend {

/// Replies, delays and faults from a file, for tests and dry runs. The file holds one JSON object a line;
/// blank lines are skipped. Its members, all optional:
///
/// | member           | meaning                                                                        |
/// |------------------|--------------------------------------------------------------------------------|
/// | `match`          | for requests whose last user message contains this text; absent: for any other |
/// | `text`           | the reply's text                                                               |
/// | `calls`          | native calls: `{"id"?, "name", "arguments"?: object or JSON text}`             |
/// | `finish`         | `stop`, `length`, `tool_calls`, `content_filter`; otherwise `tool_calls` when  |
/// |                  | there are calls and `stop` when there are none                                 |
/// | `usage`          | `prompt_tokens`, `cached_tokens`, `cache_write_tokens`, `completion_tokens`,   |
/// |                  | `reasoning_tokens`                                                             |
/// | `delay_ms`       | from the request to the end, 0 when absent                                     |
/// | `first_token_ms` | from the request to the first token, with all the text; `delay_ms` when absent |
/// | `error`          | `{"code": a name of evalcore::errc, "message"}` in place of a reply; with      |
/// |                  | `first_token_ms` the fault comes after the first token                         |
///
/// A request takes the first line not yet used among those whose `match` it contains or, when there is
/// none such, among those without `match`; the last of them serves again and again. A request that no
/// line can serve ends in `invalid_request`.
///
/// Errors: not_found, storage, invalid_argument ("FILE:LINE: what is wrong").
/// Threads: call from any but the loop; destroy on any, before the loop.
[[nodiscard]] result<std::unique_ptr<backend>> open_scripted(net::loop& owner, const std::string& path);

}  // namespace evalcore::backend
