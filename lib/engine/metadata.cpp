#include <array>
#include <utility>

#include <evalcore/engine/answer.hpp>

namespace evalcore::engine {
namespace {

json::object execution_of(const execution& how) {
  return {
      {"mode", name(how.mode)},
      {"peak_batch_size", static_cast<std::int64_t>(how.peak_batch_size)},
      {"queue_s", seconds(how.queued)},
      {"ttft_s", how.ttft ? json::value(seconds(*how.ttft)) : json::value()},
  };
}

json::object performance_of(const execution& how) {
  json::object known;
  if (how.prompt_tokens_per_second) {
    known.emplace_back("prompt_tokens_per_second", *how.prompt_tokens_per_second);
  }
  if (how.generation_tokens_per_second) {
    known.emplace_back("generation_tokens_per_second", *how.generation_tokens_per_second);
  }
  if (how.peak_memory) known.emplace_back("peak_memory_gb", static_cast<double>(*how.peak_memory) / 1e9);
  return known;
}

json::object prompt_cache_of(const answer& whole) {
  json::object used{
      {"mode", "key"},
      {"key", whole.prefix->key},
      {"backend", "evalcore"},
      {"cached_tokens", static_cast<std::int64_t>(whole.cached_tokens)},
      {"fed_tokens", static_cast<std::int64_t>(whole.prompt_tokens - whole.cached_tokens)},
      {"outcome", whole.cached_tokens > 0 ? "hit_restore" : "cold"},
  };
  if (!whole.prefix->degraded_reason.empty()) {
    used.emplace_back("degraded_reason", whole.prefix->degraded_reason);
  }
  return used;
}

}  // namespace

std::string_view name(run_mode how) noexcept {
  return how == run_mode::continuous ? "continuous" : "exclusive";
}

json::object metadata(const answer& whole) {
  json::object all{{"execution", execution_of(whole.how)}, {"performance", performance_of(whole.how)}};
  if (whole.prefix) all.emplace_back("prompt_cache", prompt_cache_of(whole));
  if (!whole.template_name.empty()) {
    json::object used{{"name", whole.template_name}};
    if (!whole.template_warning.empty()) used.emplace_back("warning", whole.template_warning);
    all.emplace_back("template", std::move(used));
  }
  return all;
}

}  // namespace evalcore::engine
