#pragma once

#include <array>
#include <string_view>

#include <evalcore/wire/dialect.hpp>

// Every server that evalcore knows, and what is peculiar to it. Nothing else in lib/ names one.

namespace evalcore::wire::dialect_table {

using words = std::string_view;
inline constexpr words usual_cached = "/usage/prompt_tokens_details/cached_tokens";

// ── Gateways and paid APIs ──
inline constexpr std::array gateway_phrases{
    error_sign{"insufficient balance", errc::quota},  // DeepSeek
    error_sign{"insufficient credits", errc::quota},  // OpenRouter
};
inline constexpr std::array openai_codes{
    error_sign{"context_length_exceeded", errc::context_overflow},
    error_sign{"insufficient_quota", errc::quota},
    error_sign{"billing_hard_limit_reached", errc::quota},
    error_sign{"content_filter", errc::refused_content},
    error_sign{"content_policy_violation", errc::refused_content},
    // What a response failed of.
    error_sign{"bio_policy", errc::refused_content},
    error_sign{"misalignment_policy_violation", errc::refused_content},
    error_sign{"image_content_policy_violation", errc::refused_content},
    error_sign{"invalid_prompt", errc::invalid_request},
    error_sign{"data_residency_mismatch", errc::invalid_request},
    error_sign{"invalid_image", errc::invalid_request},
    error_sign{"invalid_image_format", errc::invalid_request},
    error_sign{"invalid_base64_image", errc::invalid_request},
    error_sign{"invalid_image_url", errc::invalid_request},
    error_sign{"invalid_image_mode", errc::invalid_request},
    error_sign{"image_too_large", errc::invalid_request},
    error_sign{"image_too_small", errc::invalid_request},
    error_sign{"image_parse_error", errc::invalid_request},
    error_sign{"image_file_too_large", errc::invalid_request},
    error_sign{"image_file_not_found", errc::invalid_request},
    error_sign{"unsupported_image_media_type", errc::invalid_request},
    error_sign{"empty_image_file", errc::invalid_request},
    error_sign{"failed_to_download_image", errc::invalid_request},
};
inline constexpr std::array openai_phrases{
    error_sign{"maximum context length", errc::context_overflow},
    error_sign{"exceeded your current quota", errc::quota},          // With status 429.
    error_sign{"content management policy", errc::refused_content},  // Azure
};
inline constexpr std::array anthropic_codes{error_sign{"billing_error", errc::quota}};
inline constexpr std::array anthropic_phrases{error_sign{"prompt is too long", errc::context_overflow}};

inline constexpr std::array<words, 7> broken_off{
    "error",  // PostTrainLLM, in the middle of a stream
    "abort",  // SGLang
    "aborted",
    "cancelled",  // Gateways
    "canceled",
    "timeout",                       //
    "insufficient_system_resource",  // DeepSeek
};

// ── llama.cpp ──
inline constexpr std::array llama_steps{
    start_step{"--model", "{model}"},
    start_step{"--host", "127.0.0.1"},
    start_step{"--port", "{port}"},
    start_step{"--parallel", "{slots}"},
    start_step{"--ctx-size", "{total_context}"},
    start_step{"--threads", "{threads}"},
    start_step{"--slot-save-path", "{slot_folder}"},
};
inline constexpr std::array<words, 4> llama_aliases{"-m", "-np", "-c", "-t"};
// Any required call is some call there, and "none" is not read.
inline constexpr std::array<words, 5> llama_messages_ignores{
    "tool_choice.name", "tool_choice.none", "parallel_tool_calls", "response_format", "reasoning_effort"};
inline constexpr std::array llama_codes{error_sign{"exceed_context_size_error", errc::context_overflow}};
inline constexpr std::array llama_phrases{
    error_sign{"exceeds the available context size", errc::context_overflow},
    // Status 500: the cells that all slots share ran out. Alone the request may fit.
    error_sign{"context size has been exceeded", errc::overloaded},
    // Status 500: the request's own fault, the same every time.
    error_sign{"image input is not supported", errc::invalid_request},
    error_sign{"failed to parse tool call arguments", errc::invalid_request},
};

// ── PostTrainLLM ──
inline constexpr std::array posttrainllm_steps{
    start_step{"serve", "{model}"},
    start_step{"--host", "127.0.0.1"},
    start_step{"--port", "{port}"},
    start_step{"--max-context", "{context}"},
};
inline constexpr std::array<words, 9> posttrainllm_ignores{
    "model",       "max_completion_tokens", "seed",          "top_p", "n", "tools",
    "tool_choice", "response_format",       "stream_options"};

// ── oMLX ──
// What it is started with it saves as the user's settings; they land in the private folder.
inline constexpr std::array omlx_steps{
    start_step{"serve"},
    start_step{"--base-path", "{folder}"},
    start_step{"--model-dir", "{model_parent}"},
    start_step{"--host", "127.0.0.1"},
    start_step{"--port", "{port}"},
};
inline constexpr std::array<words, 5> omlx_ignores{"n", "logprobs", "top_logprobs", "echo", "logit_bias"};
inline constexpr std::array omlx_phrases{error_sign{"exceeds max context window", errc::context_overflow}};

// ── mlx_lm ──
// Its prompt cache grows with the longest prompts until the machine is out of memory.
inline constexpr std::array mlx_steps{
    start_step{"--model", "{model}"},
    start_step{"--host", "127.0.0.1"},
    start_step{"--port", "{port}"},
    start_step{"--prompt-cache-bytes", "4294967296", true},
};
inline constexpr std::array<words, 5> mlx_ignores{"n", "tool_choice", "response_format", "echo",
                                                  "stream.logprobs"};
inline constexpr std::array mlx_phrases{error_sign{"generation thread died", errc::backend_fault}};

// ── Other servers ──
inline constexpr std::array vllm_phrases{
    error_sign{"exceeds model's maximum context length", errc::context_overflow}};
inline constexpr std::array sglang_phrases{
    error_sign{"longer than the model's context length", errc::context_overflow},
    error_sign{"requested token count exceeds", errc::context_overflow},
};
inline constexpr std::array<words, 4> ollama_ignores{"max_completion_tokens", "n", "tool_choice",
                                                     "logit_bias"};
inline constexpr std::array ollama_phrases{error_sign{"server busy", errc::overloaded}};

inline constexpr std::array rows{
    dialect{
        .name = "generic",
        .what = "any server of OpenAI's API; only what all of them understand is sent",
        .error_phrases = gateway_phrases,
    },
    dialect{
        .name = "posttrainllm",
        .what = "posttrainllm serve",
        .start = {.program = "posttrainllm",
                  .other_program = "posttrainllm-cli",
                  .install = "install PostTrainLLM",
                  .steps = posttrainllm_steps,
                  .model = model_form::file_or_folder,
                  .sent_model = "posttrainllm",
                  .one_at_a_time = true},
        .ready = {.status = ready_rule::bound::below_500},
        .ignores = posttrainllm_ignores,
        .images = trait::no,  // Content in parts becomes an empty string.
        .responses = trait::no,
        .prompt_logprobs = trait::yes,
        .prompt_tokens = true,
        .reports_cached_tokens = trait::no,
        .think_text_in_content = true,
    },
    dialect{
        .name = "omlx",
        .what = "oMLX, which reports cached tokens in prompt_tokens_details",
        .owned_by = "omlx",
        .start =
            {.program = "omlx", .install = "install oMLX", .steps = omlx_steps, .model = model_form::folder},
        .ready = {.path = "/health"},
        .ignores = omlx_ignores,
        .logprobs = trait::no,
        .responses = trait::yes,
        .prompt_logprobs = trait::no,
        .thinking_switch = true,
        .thinking_budget = "thinking_budget",
        .cache = {.sure = 2048},  // It counts whole blocks of up to that.
        .cached_tokens = usual_cached,
        .reports_cached_tokens = trait::yes,
        .reasoning = "reasoning_content",
        .error_phrases = omlx_phrases,
    },
    dialect{
        .name = "omlx-old",
        .what = "oMLX before that: cached tokens at the top of usage, in streams only, null for none",
        .owned_by = "omlx",
        .ready = {.path = "/health"},
        .ignores = omlx_ignores,
        .logprobs = trait::no,
        .prompt_logprobs = trait::no,
        .cached_tokens = "/usage/cached_tokens",
        .reasoning = "reasoning_content",
    },
    dialect{
        .name = "mlx-server",
        .what = "mlx_lm.server",
        .start = {.program = "mlx_lm.server",
                  .install = "install mlx-lm (pip install mlx-lm)",
                  .steps = mlx_steps,
                  // Any other name makes it unload the model.
                  .sent_model = "default_model"},
        // Its list of models is an empty body where nothing was ever downloaded.
        .ready = {.path = "/health"},
        .ignores = mlx_ignores,
        .logprobs = trait::yes,
        .logprobs_flag = true,
        .responses = trait::no,
        .prompt_logprobs = trait::no,
        .cache = {.entries = 10},
        .cached_tokens = usual_cached,
        .reports_cached_tokens = trait::yes,
        .reasoning = "reasoning",
        .error_phrases = mlx_phrases,
    },
    dialect{
        .name = "vllm-mlx",
        .what = "vllm-mlx",
        .owned_by = "vllm-mlx",
        .ready = {.path = "/health", .member = "model_loaded"},
        .prompt_logprobs = trait::no,
        .reports_cached_tokens = trait::no,
        .reasoning = "reasoning_content",
    },
    dialect{
        .name = "llama-server",
        .what = "llama.cpp's server",
        .owned_by = "llamacpp",
        .start = {.program = "llama-server",
                  .install = "install llama.cpp",
                  .steps = llama_steps,
                  .aliases = llama_aliases,
                  .model = model_form::gguf_file},
        .ready = {.path = "/health"},
        .slot_pinning = true,
        .cache_switch = true,
        .slot_save_restore = true,
        .tokenizes = true,
        .reports_slots = true,
        .logprobs = trait::yes,
        // Its route says "completed" of an answer that max_output_tokens cut, and drops the text's format.
        .responses = trait::no,
        .prompt_logprobs = trait::no,  // Those of the generated tokens come in their place.
        .messages_ignores = llama_messages_ignores,
        .messages_apart = true,
        .thinking_switch = true,
        .thinking_budget = "thinking_budget_tokens",
        .prompt_arrays = true,
        .prompt_tokens = true,
        .empty_prompt = true,
        .logit_bias = true,
        .cached_tokens = usual_cached,
        .reports_cached_tokens = trait::yes,
        .reasoning = "reasoning_content",
        .done_proves_end = false,
        .usage_of_one = true,
        .whole_repeats_begun = true,
        .error_codes = llama_codes,
        .error_phrases = llama_phrases,
    },
    dialect{
        .name = "vllm",
        .what = "vLLM; cached tokens with --enable-prompt-tokens-details",
        .owned_by = "vllm",
        .ready = {.path = "/health"},
        .logprobs = trait::yes,
        .responses = trait::yes,
        .prompt_logprobs = trait::yes,
        .determinism = "VLLM_BATCH_INVARIANT=1",
        .cache_salt = true,
        .thinking_switch = true,
        .thinking_budget = "thinking_token_budget",
        .prompt_arrays = true,
        .prompt_tokens = true,
        .empty_prompt = true,
        .logit_bias = true,
        .cache = {.shares_in_flight = true, .page = 16},
        .cached_tokens = usual_cached,
        .reasoning = "reasoning",
        .error_phrases = vllm_phrases,
    },
    dialect{
        .name = "sglang",
        .what = "SGLang; cached tokens with --enable-cache-report",
        .owned_by = "sglang",
        .ready = {.path = "/health"},
        .logprobs = trait::yes,
        .prompt_logprobs = trait::yes,
        .determinism = "--enable-deterministic-inference",
        .cache_salt = true,
        .thinking_switch = true,
        .prompt_arrays = true,
        .prompt_tokens = true,
        .empty_prompt = true,
        .logit_bias = true,
        .cached_tokens = usual_cached,
        .reasoning = "reasoning_content",
        .error_phrases = sglang_phrases,
    },
    dialect{
        .name = "ollama",
        .what = "Ollama's OpenAI routes",
        .owned_by = "library",
        .ignores = ollama_ignores,
        .prompt_logprobs = trait::no,
        .reports_cached_tokens = trait::no,
        .reasoning = "reasoning",
        .done_proves_end = false,  // A failure ends in an empty chunk.
        .error_phrases = ollama_phrases,
    },
    dialect{
        .name = "lmstudio",
        .what = "LM Studio",
        .prompt_logprobs = trait::no,
        .reports_cached_tokens = trait::no,
        .reasoning = "reasoning_content",
    },
    dialect{
        .name = "abstractcore",
        .what = "AbstractCore's endpoint",
        .ready = {.path = "/health"},
        .responses = trait::no,
        .prompt_logprobs = trait::no,  // It has no completions.
        .cache_key = true,
        .cached_tokens = usual_cached,
    },
    dialect{
        .name = "openai",
        .what = "OpenAI",
        .logprobs = trait::yes,
        .images = trait::yes,
        .responses = trait::yes,
        .prompt_logprobs = trait::no,
        .tool_strict = true,
        .paid = true,
        .max_tokens_field = "max_completion_tokens",
        .cache_key = true,
        .prompt_arrays = true,
        .prompt_tokens = true,
        .empty_prompt = true,
        .logit_bias = true,
        .cache = {.page = 128, .least = 1024, .lives_s = 300},
        .cached_tokens = usual_cached,
        .reports_cached_tokens = trait::yes,
        .error_codes = openai_codes,
        .error_phrases = openai_phrases,
    },
    dialect{
        .name = "anthropic",
        .what = "Anthropic",
        .logprobs = trait::no,
        .images = trait::yes,
        .responses = trait::no,
        .prompt_logprobs = trait::no,
        .tool_strict = true,
        .paid = true,
        .cache = {.least = 1024, .sure = 4096, .lives_s = 300},  // What is least depends on the model.
        .cached_tokens = "/usage/cache_read_input_tokens",
        .reports_cached_tokens = trait::yes,
        .reasoning = "thinking",
        .done_proves_end = false,  // message_stop does.
        .error_codes = anthropic_codes,
        .error_phrases = anthropic_phrases,
    },
};

}  // namespace evalcore::wire::dialect_table
