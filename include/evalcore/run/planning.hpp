#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include <evalcore/backend/ask_again.hpp>
#include <evalcore/backend/backend.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/prefix/dispatch.hpp>
#include <evalcore/prefix/plan.hpp>
#include <evalcore/run/prepare.hpp>
#include <evalcore/run/suite.hpp>

namespace evalcore::run {

/// Whether the backend hands declared tools to the model, found out once per run. `text` when it drops
/// them; `native` when it does not, when it cannot be told, or when the suite has no tools. A sentence about
/// it goes to `note`, if there is something to say.
[[nodiscard]] result<tools_mode> choose_tools_mode(tools_mode asked, const suite& from, net::loop& owner,
                                                   backend::backend& to,
                                                   const std::function<void(const std::string&)>& note,
                                                   const backend::ask_again& again,
                                                   const std::stop_token& stop);

/// Deals items by chance, always the same for the same suite, so that what is done at any moment is a fair
/// sample of the suite.
void deal(const suite& from, std::vector<std::uint32_t>& indices);

/// Plans these items of a suite: on the tokens of their prompts where the backend tokenizes (a few requests
/// in flight), else on the bytes of tools, system and turns in the order in which templates put them. Prompts
/// are not kept, so that memory does not grow with them; more than a million items, or 4 million tokens, are
/// planned in windows. Errors: bad_suite, with file and line also for what the backend would refuse;
/// cancelled, or the backend's when it cannot tokenize although it said so.
[[nodiscard]] result<prefix::plan> plan_items(const suite& from, const std::vector<std::uint32_t>& indices,
                                              const request_options& how, const prefix::options& order,
                                              net::loop& owner, backend::backend& to,
                                              const backend::ask_again& again, const std::stop_token& stop);
/// Without a backend: on bytes.
[[nodiscard]] result<prefix::plan> plan_items(const suite& from, const std::vector<std::uint32_t>& indices,
                                              const request_options& how, const prefix::options& order);

/// What the dispatcher may count on, from what the backend says of itself and its dialect of its cache.
[[nodiscard]] prefix::cache_model cache_model_of(const backend::backend& to, bool use_prompt_cache,
                                                 std::uint32_t concurrency);

}  // namespace evalcore::run
