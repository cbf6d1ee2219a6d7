#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backend/probe_checks.hpp"

/// What the answers to each check prove.
namespace evalcore::backend {

/// What a dialect knows of a finding without asking; nothing when it does not know.
[[nodiscard]] std::optional<verdict> known_of(const wire::dialect& ways, std::string_view name);
/// The tool that a probe declares.
[[nodiscard]] chat::tool probe_tool();
/// A letter of a text before which something stands, so that stopping there shows.
[[nodiscard]] std::optional<std::string> stop_string_in(std::string_view text);
/// Whether a request failed because nobody is there.
[[nodiscard]] bool nobody_there(const error& failure) noexcept;

[[nodiscard]] verdict judge_models(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_chat(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_streaming(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_stream_end(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_stream_usage(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_cut(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_repeat(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_logprobs(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_batch(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_cached(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_cache(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_after_stop(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_stop(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_seed(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_n(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_reasoning(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_tools(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_tool_choice(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_format(probe_state& state, std::span<const answer> got);
[[nodiscard]] verdict judge_prompt_logprobs_check(probe_state& state, std::span<const answer> got);

}  // namespace evalcore::backend
