#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/prefix/dispatch.hpp>

#include "suites.hpp"

namespace evalcore::bench {

/// How a simulated server keeps and computes prompts.
struct server_kind {
  std::string name;
  prefix::cache_model told;      ///< What the dispatcher is told of it.
  std::uint32_t in_flight = 16;  ///< Requests side by side.

  std::uint32_t slots = 0;        ///< Each keeps its last prompt; 0: one common cache.
  std::uint32_t entries = 0;      ///< Whole prompts that are kept, from their end on; 0: pages instead.
  std::uint32_t page = 1;         ///< Tokens that are found together.
  std::uint64_t capacity = 0;     ///< Tokens that the cache has room for; 0: all.
  bool shares_in_flight = false;  ///< A prompt is found from its arrival on, not from its first token on.
  double lives_s = 0;             ///< How long a page is kept after its last use; 0: for ever.
  bool tells = true;              ///< Answers say what was found.
  std::uint32_t least = 0;        ///< A prompt shorter than this many tokens is not kept.

  bool one_prefill = true;      ///< Prompts are computed one after the other, else side by side.
  double prefill_rate = 5'000;  ///< Tokens a second.
  double decode_rate = 50;      ///< Tokens a second of one request.
  double overhead_s = 0.01;     ///< Before the first token, and for a copy between slots.
};

/// The pages of a suite's prompts, numbered so that a prefix has the same number wherever it stands.
struct paged_suite {
  paged_suite(const token_suite& suite, std::uint32_t page);

  std::vector<std::vector<std::uint32_t>> pages;  ///< By request, from its start.
  std::uint32_t distinct = 0;
};

/// What a server keeps of prompts that it has computed.
class kept_prompts {
 public:
  virtual ~kept_prompts() = default;
  /// Tokens of this prompt that are found, and the slot that it goes to, if there are any.
  struct found {
    std::uint32_t tokens = 0;
    std::uint32_t slot = 0;
  };
  virtual found arrive(std::uint32_t item, std::optional<std::uint32_t> slot, double now) = 0;
  virtual void first_token(std::uint32_t item, double now) = 0;
  virtual void end(std::uint32_t item, std::uint32_t slot) = 0;
  virtual void copy(std::uint32_t from, std::uint32_t to) = 0;
};
[[nodiscard]] std::unique_ptr<kept_prompts> make_kept(const server_kind& kind, const token_suite& suite,
                                                      const paged_suite& pages);

/// The five kinds, some of them with more than one size.
[[nodiscard]] std::vector<server_kind> server_kinds();
/// Others: other sizes, servers that tell nothing, and servers that keep nothing.
[[nodiscard]] std::vector<server_kind> unseen_server_kinds();
/// One common cache that finds single tokens and has no room for all prefixes of five_interleaved().
[[nodiscard]] server_kind small_radix_cache();

}  // namespace evalcore::bench
