#pragma once

#include <array>
#include <span>
#include <string_view>

#include "faults/judge.hpp"

namespace evalcore::faults {

/// One fault. `run` makes it, lets a host meet it and says what was wrong; each run has a process of its own.
struct fault {
  std::string_view name;
  std::string_view what;
  void (*run)(const form& how, judge& verdict);
  bool busy = false;  ///< It computes rather than waits: two processors do two at once.
};

/// F01 to F24, in this order.
[[nodiscard]] std::span<const fault> faults();

// What servers say.
void retry_after(const form& how, judge& verdict);
void passing_statuses(const form& how, judge& verdict);
void final_statuses(const form& how, judge& verdict);
void errors_within_answers(const form& how, judge& verdict);
void redirects(const form& how, judge& verdict);

// How connections fail.
void outage(const form& how, judge& verdict);
void disconnects(const form& how, judge& verdict);
void no_connection(const form& how, judge& verdict);
void packet_loss(const form& how, judge& verdict);
void slow_link(const form& how, judge& verdict);
void names(const form& how, judge& verdict);
void bad_certificates(const form& how, judge& verdict);

// When answers come.
void jitter(const form& how, judge& verdict);
void stalls(const form& how, judge& verdict);
void slow_first_token(const form& how, judge& verdict);

// What answers hold.
void clean_truncation(const form& how, judge& verdict);
void malformed_chunks(const form& how, judge& verdict);
void stream_framing(const form& how, judge& verdict);
void broken_utf8(const form& how, judge& verdict);
void http_framing(const form& how, judge& verdict);
void json_edges(const form& how, judge& verdict);

// How much of it.
void header_floods(const form& how, judge& verdict);
void gzip_bombs(const form& how, judge& verdict);
void endless_answers(const form& how, judge& verdict);

/// Makes what the floods share, once, before any of them runs in a process of its own.
void prepare_floods();

}  // namespace evalcore::faults
