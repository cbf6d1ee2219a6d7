#pragma once

#include <optional>

#include <evalcore/base/clock.hpp>
#include <evalcore/net/http_client.hpp>

namespace evalcore::net {

/// How long a connection may wait for its next request when the server names no time. Servers close after
/// 5 s (uvicorn, llama.cpp) to 75 s (nginx); one that was quicker costs a resend, not an error.
inline constexpr duration default_idle_life = std::chrono::seconds(30);

/// How long a connection that is otherwise fit may be kept, by the answer's Keep-Alive header: its timeout
/// less one second for what is under way, so that the server is rarely the first to close. Empty: close.
[[nodiscard]] std::optional<duration> idle_life(const http_head& head);

}  // namespace evalcore::net
