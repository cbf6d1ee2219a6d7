#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/backend/http_backend.hpp>
#include <evalcore/base/error.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/net/loop.hpp>

namespace evalcore::backend {

/// "yes", "no", "unknown".
[[nodiscard]] std::string_view name(ability what) noexcept;

/// One thing that a backend does or does not, and how that is known.
struct finding {
  std::string name;
  ability answer = ability::unknown;
  std::string evidence;  ///< For a person. Never a secret; may hold words of the server.
};

/// How much a probe may ask.
enum class probe_depth : std::uint8_t {
  facts,  ///< Nothing: what is known without a request.
  cheap,  ///< What a paid API is asked: a handful of answers of a few tokens.
  full,
};
[[nodiscard]] std::string_view name(probe_depth depth) noexcept;

/// What is known of a backend. Findings stand in a fixed order; docs/backends.md says what each means.
struct probe_report {
  info about;
  probe_depth depth = probe_depth::facts;
  std::vector<std::string> models;  ///< Ids that the server lists.
  std::string looks_like;           ///< Another dialect that the server's own words tell of; empty: none.
  std::vector<finding> findings;
  std::uint32_t questions = 0;  ///< Asked; some take two requests.
  bool alive = true;            ///< False: it stopped answering, and the rest was not asked.

  /// Null when there is none of that name.
  [[nodiscard]] const finding* find(std::string_view name) const noexcept;
};

/// What is known of a backend without asking it anything.
[[nodiscard]] probe_report facts_of(const backend& of);

struct probe_options {
  std::chrono::milliseconds each = std::chrono::seconds(60);  ///< For one request, answer included.
  std::function<void(const std::string&)> note;               ///< What is asked next; empty: nobody listens.
};

/// Finds out what a backend does, with fewer than thirty requests of at most 32 tokens; where its dialect
/// says that requests are paid for, with six. Nothing is sent that its dialect does not know to be safe. A
/// failure is a finding `unknown`, never an error. When the backend stops answering, the rest is not asked.
///
/// Errors: cancelled (`stop`).
/// Threads: call from any but the loop, it blocks; at most `each` for one request.
[[nodiscard]] result<probe_report> probe(net::loop& owner, backend& of, const probe_options& how,
                                         const std::stop_token& stop = {});

/// Of a backend that was probed and is not alive: what it said to a plain request.
[[nodiscard]] error no_answers(const probe_report& of);

/// Whether a server speaks Anthropic's messages and not OpenAI's chat completions, by how it answers or
/// refuses GET /v1/models. False where it says nothing; connecting to it then tells what is wrong. Threads:
/// call from any but the loop, it blocks, a minute at most.
[[nodiscard]] bool speaks_messages(net::loop& owner, const http_options& how,
                                   const std::stop_token& stop = {});

/// The report as JSON, for `--json` and the run store; the schema is in docs/backends.md.
[[nodiscard]] json::value to_json(const probe_report& report);

}  // namespace evalcore::backend
