#include "engine/llama_load.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include <evalcore/base/hash.hpp>

#include "engine/llama_log.hpp"
#include "engine/llama_state.hpp"
#include "engine/machine_memory.hpp"
#include "engine/rows_that_fit.hpp"
#include "engine/step_plan.hpp"

namespace evalcore::engine {
namespace {

constexpr std::uint32_t most_context_tokens = 1U << 24;

evalcore::error failed(errc code, std::string message) {
  auto failure = fail(code, stage::start, std::move(message));
  failure.backend_words = take_llama_words();
  return failure;
}

result<void> check_options(const llama_options& options) {
  if (options.max_rows == 0 || options.max_rows > most_llama_rows)
    return failed(errc::invalid_argument, "max_rows is from 1 to " + std::to_string(most_llama_rows));
  if (options.context_tokens == 0 || options.context_tokens > most_context_tokens)
    return failed(errc::invalid_argument,
                  "context_tokens is from 1 to " + std::to_string(most_context_tokens));
  // llama.cpp ends the process when the system refuses it a thread.
  const auto most_threads = std::max(4 * std::thread::hardware_concurrency(), 16U);
  if (options.threads == 0 || options.threads > most_threads)
    return failed(errc::invalid_argument, "threads is from 1 to " + std::to_string(most_threads) + " here");
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(options.model_path, ignored))
    return failed(errc::not_found, "there is no model file " + options.model_path);
  return {};
}

result<void> check_model(const llama_model* model, const std::string& path) {
  const auto* vocabulary = llama_model_get_vocab(model);
  const bool decoder = llama_model_has_decoder(model) && !llama_model_has_encoder(model) &&
                       !llama_model_is_recurrent(model) && !llama_model_is_hybrid(model) &&
                       !llama_model_is_diffusion(model) &&
                       llama_vocab_type(vocabulary) != LLAMA_VOCAB_TYPE_NONE;
  if (!decoder)
    return failed(errc::unsupported,
                  path +
                      " is no decoder with attention and a vocabulary, which is what evalcore runs itself: "
                      "use a server for it");
  return {};
}

/// On a processor, flash attention takes one cell after the other and carries the sum of the values through
/// memory in half precision. Two matrix products and a softmax sum in single precision, in less time for a
/// row that decodes.
bool flash_attention() { return llama_supports_gpu_offload(); }

/// Kernels are of the device that computes. Empty: of the processor alone.
std::string devices_beside_processor() {
  std::string names;
  for (std::size_t index = 0; index < ggml_backend_dev_count(); ++index) {
    auto* device = ggml_backend_dev_get(index);
    if (ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU) continue;
    names += std::string(names.empty() ? "" : ", ") + ggml_backend_dev_description(device);
  }
  return names;
}

std::string described(const llama_model* model) {
  std::array<char, 256> text{};
  for (const char* key : {"general.name", "general.basename"})
    if (llama_model_meta_val_str(model, key, text.data(), text.size()) > 0) return text.data();
  llama_model_desc(model, text.data(), text.size());
  return text.data();
}

/// Of all parts of a model.
result<std::string> hash_of_model(const llama_model* model, const std::string& path) {
  std::array<char, 16> count{};
  const int parts = llama_model_meta_val_str(model, "split.count", count.data(), count.size()) > 0
                        ? std::atoi(count.data())
                        : 0;
  std::array<char, 4096> prefix{};
  if (parts < 2 || llama_split_prefix(prefix.data(), prefix.size(), path.c_str(), 0, parts) <= 0)
    return sha256_of_file(path);
  sha256 all;
  for (int part = 0; part < parts; ++part) {
    std::array<char, 4096> name{};
    llama_split_path(name.data(), name.size(), prefix.data(), part, parts);
    auto one = sha256_of_file(name.data());
    if (!one) return one;
    all.piece(*one);
  }
  return all.hex();
}

result<traits> traits_of(const llama_model* model, const llama_options& options) {
  traits about;
  about.name = "llama.cpp";
  about.model = described(model);
  about.max_rows = options.max_rows;
  const auto trained = llama_model_n_ctx_train(model);
  about.context_tokens = trained > 0 ? std::min(options.context_tokens, static_cast<std::uint32_t>(trained))
                                     : options.context_tokens;
  about.prefix_grid = options.mode == evaluation::parity ? grid : 1;
  about.per_row_sampling = true;
  about.snapshots = true;
  about.scoring = true;
  auto hash = hash_of_model(model, options.model_path);
  if (!hash) return std::move(hash).error();
  about.identity["model_sha256"] = *std::move(hash);
  about.identity["runtime"] = std::string("llama.cpp ") + llama_version();
  about.identity["processor"] = llama_print_system_info();
  if (auto devices = devices_beside_processor(); !devices.empty())
    about.identity["devices"] = std::move(devices);
  about.identity["evaluation"] = options.mode == evaluation::parity ? "parity" : "fast";
  about.identity["attention"] = flash_attention() ? "flash" : "products";
  about.identity["threads"] = std::to_string(options.threads);
  const char* chat_template = llama_model_chat_template(model, nullptr);
  about.identity["template_sha256"] = sha256().raw(chat_template == nullptr ? "" : chat_template).hex();
  return about;
}

/// Memory is set aside in units of so many tokens.
constexpr std::uint32_t unit = 256;

std::uint32_t in_units(std::uint32_t tokens) { return (tokens + unit - 1) / unit * unit; }

/// Values are kept by their dimension, a row's memory apart: a power of two would put them all into the same
/// lines of a cache.
std::uint32_t in_odd_units(std::uint32_t tokens) { return in_units(tokens) | unit; }

std::uint32_t row_tokens(const llama_options& options, const traits& about) {
  return options.mode == evaluation::fast ? in_units(about.context_tokens)
                                          : in_odd_units(about.context_tokens);
}

std::uint32_t memory_tokens(const llama_options& options, const traits& about) {
  const auto all = about.max_rows * row_tokens(options, about);
  return options.mode == evaluation::fast ? in_odd_units(all) : all;
}

/// A batch has a score for each of its tokens, each head, and each token in memory.
std::uint64_t scores_of_a_token(const llama_model* model, const llama_options& options) {
  if (flash_attention() || options.mode == evaluation::parity) return 0;  // There, of one row's memory only.
  return std::uint64_t{grid + options.max_rows} * static_cast<std::uint64_t>(llama_model_n_head(model)) *
         sizeof(float);
}

llama_context_params context_params(const llama_options& options, const traits& about,
                                    std::atomic<bool>& stop) {
  const bool shared = options.mode == evaluation::fast;
  auto wanted = llama_context_default_params();
  wanted.n_ctx = memory_tokens(options, about);
  wanted.n_seq_max = about.max_rows + (shared ? shared_snapshots : 0);
  wanted.kv_unified = shared;
  // One decode is one tensor batch: what an interrupt undoes is then the whole of it.
  wanted.n_batch = grid + about.max_rows;
  wanted.n_ubatch = wanted.n_batch;
  wanted.n_threads = static_cast<std::int32_t>(options.threads);
  wanted.n_threads_batch = wanted.n_threads;
  wanted.flash_attn_type = flash_attention() ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  wanted.abort_callback = [](void* flag) {
    return static_cast<std::atomic<bool>*>(flag)->load(std::memory_order_relaxed);
  };
  wanted.abort_callback_data = &stop;
  return wanted;
}

context_handle make_context(const loaded_model& of, const traits& about, const llama_options& options,
                            std::atomic<bool>& stop) {
  return context_handle(llama_init_from_model(of.model.get(), context_params(options, about, stop)));
}

std::string in_megabytes(std::uint64_t bytes) { return std::to_string(bytes / 1'000'000) + " MB"; }

/// Lowers the rows to what there is memory for. What a token takes depends on the model's every layer, so it
/// is measured in a context for one short row.
result<void> fit_rows(loaded_model& loaded, const llama_options& options, std::atomic<bool>& stop) {
  auto one_short = loaded.about;
  one_short.max_rows = 1;
  one_short.context_tokens = 2;
  const auto context = make_context(loaded, one_short, options, stop);
  if (!context) return failed(errc::no_memory, "llama.cpp cannot make a context of a few tokens");
  const auto state = measure_state(context.get());
  if (!state) return state.error();
  const auto memory = machine_memory();
  // Rows that share their memory keep prefixes in it.
  const auto prefixes = options.mode == evaluation::fast
                            ? 0
                            : options.fit_beside->max_bytes.value_or(prefix_cache_budget(memory.working_set));
  const auto a_token = state->a_token + scores_of_a_token(loaded.model.get(), options);
  const row_room room{.a_row = state->empty + a_token * row_tokens(options, loaded.about),
                      .free = memory.free_ram,
                      .leave = options.fit_beside->reserve_bytes + prefixes,
                      .most = options.max_rows};
  loaded.about.max_rows = rows_that_fit(room);
  if (loaded.about.max_rows > 0) return {};
  return failed(errc::no_memory, "a context of " + std::to_string(loaded.about.context_tokens) +
                                     " tokens takes " + in_megabytes(room.a_row) + ", and " +
                                     in_megabytes(*room.free) + " of memory are free: ask for a shorter one");
}

}  // namespace

bool layout_agrees(const llama_context_params& defaults) {
  return defaults.offload_kqv && defaults.no_perf && defaults.op_offload && defaults.swa_full &&
         defaults.samplers == nullptr;
}

result<loaded_model> load_llama(const llama_options& options, std::atomic<bool>& stop) {
  if (!layout_agrees(llama_context_default_params()))
    return failed(errc::unsupported,
                  "the llama.cpp library that was loaded is not the one that evalcore was compiled for: "
                  "build evalcore again with the library's own headers");
  hush_llama();
  static_cast<void>(take_llama_words());
  if (auto good = check_options(options); !good) return std::move(good).error();

  loaded_model loaded;
  loaded.model.reset(llama_model_load_from_file(options.model_path.c_str(), llama_model_default_params()));
  if (!loaded.model) return failed(errc::invalid_argument, "llama.cpp cannot load " + options.model_path);
  if (auto good = check_model(loaded.model.get(), options.model_path); !good) return std::move(good).error();
  auto about = traits_of(loaded.model.get(), options);
  if (!about) return std::move(about).error();
  loaded.about = *std::move(about);
  if (options.fit_beside) {
    if (auto fitted = fit_rows(loaded, options, stop); !fitted) return std::move(fitted).error();
  }
  loaded.context = make_context(loaded, loaded.about, options, stop);
  if (!loaded.context)
    return failed(errc::no_memory, "llama.cpp cannot make " + std::to_string(loaded.about.max_rows) +
                                       " contexts of " + std::to_string(loaded.about.context_tokens) +
                                       " tokens: ask for fewer or shorter ones");
  return loaded;
}

}  // namespace evalcore::engine
