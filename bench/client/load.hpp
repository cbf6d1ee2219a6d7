#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <evalcore/chat/request.hpp>

/// What a client is asked to do: keep so many requests in flight for so long.
struct load {
  std::uint16_t port = 0;
  std::string path;  ///< How the mock is to answer: what stands before /v1, from its slash.
  unsigned in_flight = 1;
  double seconds = 1;

  [[nodiscard]] std::string base_url() const;
};

/// What it came to. Processor time is that of the whole process, in user and system.
struct figures {
  std::uint64_t requests = 0;
  double wall_s = 0;
  double cpu_s = 0;
};

/// Counts answers for as long as a load lasts, but for those of the first moments, in which connections are
/// opened.
class meter {
 public:
  explicit meter(const load& of);

  /// One answer came; false when no more are wanted.
  bool answered();
  [[nodiscard]] const figures& seen() const noexcept { return seen_; }

 private:
  std::chrono::steady_clock::time_point begin_, end_;
  double cpu_at_begin_ = 0;
  bool counting_ = false;
  figures seen_;
};

[[noreturn]] void give_up(const std::string& why);

/// The request that all clients send.
evalcore::chat::request question();
/// Its bytes, as evalcore sends them: the body, and all of it.
std::string body_text();
std::string request_bytes(const load& of);

figures with_evalcore(const load& what);
figures with_beast(const load& what);
figures with_epoll(const load& what);
/// An easy handle for each transfer, JSON by nlohmann's library.
figures with_libcurl(const load& what);
/// Handles used again, a body written once, simdjson.
figures with_libcurl_simdjson(const load& what);

/// One stream for each request in flight, once.
struct stream_figures {
  std::uint64_t held = 0;  ///< Their first token and their end were read within a token's time of being sent.
  std::uint64_t paced = 0;  ///< The mock sent them at the rate that it was asked for.
  double cpu_share = 0;     ///< Of one core, while all were open.
};
stream_figures hold_streams(const load& what);

/// How far what evalcore says of when first tokens came is from when the mock sent them, in ms: the 99th
/// percentile. With a core of 0 or more, this thread computes on it meanwhile.
double first_token_error_ms(const load& what, int core);
