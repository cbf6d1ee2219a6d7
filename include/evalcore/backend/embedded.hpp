#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include <evalcore/backend/backend.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/engine/llama.hpp>
#include <evalcore/engine/options.hpp>
#include <evalcore/engine/prefix_cache.hpp>
#include <evalcore/engine/runtime.hpp>
#include <evalcore/net/loop.hpp>

namespace evalcore::backend {

struct embedded_options {
  engine::llama_options model;  ///< `max_rows` is schedule.max_batch_size, `fit_beside` is of fit_slots.
  /// Its queue holds 65,536 and a request waits a day in it, at least: the pool bounds what is out.
  engine::options schedule;
  engine::prefix_cache_options prefixes;
  /// Compare bits on the loaded model before anything is scored, where `model.mode` is parity.
  bool check_parity = true;
  std::string verdict_folder;  ///< As engine::loaded_engine has it: a folder, or empty.
  /// Of schedule.max_batch_size slots open only as many as free memory has room for beside kept prefixes, and
  /// where parity is checked no more than check_parity() looks at: wider batches are not computed, so that
  /// more slots gain nothing. info::slots and info::notes tell.
  bool fit_slots = false;
  /// No request asks for a kept prefix: fit_slots leaves no memory for any.
  bool leave_prefixes_out = false;
  /// Text completions: the text of a request's only turn stands as it is, without a template.
  bool completions = false;
};

/// A GGUF model in this process. In `parity` the check_parity() of the loaded model bounds how many rows
/// share a batch, and decides whether prefixes are kept; info::notes tell it.
///
/// Its hints: `shared_tokens` says where prefixes are kept, `prompt_cache_key` and `cache_salt` who shares
/// them, and `use_cache` off leaves the cache alone. Its likelihoods, and those of a request's `choices`, are
/// computed as branches of their context; one that does not fit is a context_overflow. Text that only looks
/// like reasoning in `<think>` is split off as on a server. Tokens in `logprobs` are spelled token_id:N.
///
/// Errors: those of engine::open_llama() and engine::check(options); cancelled (`stop`, once the model is
/// loaded). Threads: call from any but the loop, it blocks while the model is loaded; destroy on any, before
/// the loop.
[[nodiscard]] result<std::unique_ptr<backend>> open_embedded(net::loop& owner, const embedded_options& how,
                                                             const std::stop_token& stop = {});

/// The same on any engine, and with the same queue. What its loader found out bounds the batches, and whether
/// prefixes are kept.
[[nodiscard]] result<std::unique_ptr<backend>> open_embedded(net::loop& owner, engine::runtime::loader load,
                                                             const engine::options& schedule,
                                                             const engine::prefix_cache_options& prefixes,
                                                             bool completions = false);

}  // namespace evalcore::backend
