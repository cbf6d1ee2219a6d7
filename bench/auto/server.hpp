#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <queue>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace evalcore::bench {

/// What the server does with more requests than it has room for.
enum class overload { queues, rejects, crashes, fills_kv, has_tenants };

/// One simulated server. `slots` requests run at full speed; it changes once, at `step_at` (seconds).
struct server_facts {
  overload kind = overload::queues;
  std::uint32_t slots = 16;
  std::uint32_t slots_after_step = 16;
  double step_at = std::numeric_limits<double>::infinity();
};

/// Tokens of one request.
struct request_size {
  double prompt = 0;
  double output = 0;
};

/// Requests of mixed lengths: prompt and output are lognormal.
[[nodiscard]] std::vector<request_size> mixed_requests(std::size_t count, std::uint64_t seed);

/// What the server tells about a request, at the time until which it was advanced.
struct server_event {
  enum class what { first_token, answered, lost } what = what::answered;
  std::uint32_t request = 0;
};

/// A server that generates min(n, slots) * 50 tokens a second for n requests, shared evenly by those that
/// run. A prompt token costs a twentieth of an output token. Time is virtual, in seconds.
class server {
 public:
  server(const server_facts& facts, std::uint64_t seed);

  enum class verdict { accepted, rejected, failed };
  /// After advance(now); failed: it crashed just now, or is down.
  verdict arrive(std::uint32_t request, const request_size& size, double now);

  /// The next time at which something happens inside.
  [[nodiscard]] double next_event() const;
  /// Lets everything happen that is due until `now`, at most next_event().
  std::span<const server_event> advance(double now);

 private:
  using due = std::pair<double, std::uint32_t>;  // Work done for each when it happens, request.
  using due_queue = std::priority_queue<due, std::vector<due>, std::greater<>>;
  struct waiting {
    std::uint32_t request;
    request_size size;
  };

  void run(std::uint32_t request, const request_size& size);
  void leave(std::uint32_t request);
  void crash(double now);
  void change_room();
  [[nodiscard]] std::uint32_t room() const;
  [[nodiscard]] bool kv_is_full() const;
  void set_speed();

  server_facts facts_;
  std::mt19937_64 random_;
  double kv_pool_;
  double now_ = 0;
  double done_ = 0;   // Work done so far for a request that ran all the time, in output tokens.
  double speed_ = 0;  // Of each running request, work a second.
  double next_walk_;
  double tenants_ = 0.25;  // Their part of the slots.
  double down_until_ = 0;
  double kv_tokens_ = 0;  // Held by what runs.
  std::uint32_t running_ = 0;
  std::uint32_t decoding_ = 0;
  std::vector<double> kv_at_end_;  // By request.
  due_queue first_tokens_;
  due_queue ends_;
  std::deque<waiting> queue_;
  std::vector<server_event> events_;  // To be told by the next advance().
  std::vector<server_event> told_;
};

}  // namespace evalcore::bench
