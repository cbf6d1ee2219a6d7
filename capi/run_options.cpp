#include "run_options.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/run/request_json.hpp>

#include "guard.hpp"
#include "inputs.hpp"
#include "pool_options.hpp"

namespace capi = evalcore::capi;
namespace json = evalcore::json;
using evalcore::result;

namespace {

/// What is set again counts as it was set last.
void keep(json::object& given, const std::string& name, json::value value) {
  std::erase_if(given, [&](const auto& one) { return one.first == name; });
  given.emplace_back(name, std::move(value));
}

/// `change` returns result<void>; what it refuses counts as not given.
template <class Change>
evc_status set(evc_run_options* options, const char* name, const json::value& value,
               Change&& change) noexcept {
  return capi::guard_set(options, [&]() -> result<void> {
    if (auto good = change(*options); !good) return good;
    keep(options->given, name, value);
    return {};
  });
}

template <class Take>
evc_status set_text(evc_run_options* options, const char* name, evc_str text, Take&& take,
                    evc_error** error = nullptr) noexcept {
  const auto change = [&]() -> result<void> {
    auto read = capi::read_text(text, name);
    if (!read) return std::move(read).error();
    if (auto good = take(*options, *read); !good) return good;
    keep(options->given, name, *std::move(read));
    return {};
  };
  return capi::guard_set(options, change, error);
}

template <class Place>
evc_status keep_text(evc_run_options* options, const char* name, evc_str text, Place&& place) noexcept {
  return set_text(options, name, text, [&](auto& o, const std::string& read) -> result<void> {
    place(o) = read;
    return {};
  });
}

template <class Place>
evc_status keep_flag(evc_run_options* options, const char* name, std::int32_t flag, Place&& place) noexcept {
  return set(options, name, flag != 0, [&](auto& o) -> result<void> {
    place(o) = flag != 0;
    return {};
  });
}

template <class Place>
evc_status keep_count(evc_run_options* options, const char* name, std::uint64_t count, std::uint64_t least,
                      Place&& place) noexcept {
  return set(options, name, count, [&](auto& o) -> result<void> {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    if (auto good = capi::check_range(name, count, least, std::uint64_t{most}); !good) return good;
    place(o) = count;
    return {};
  });
}

}  // namespace

evc_run_options* evc_run_options_new(void) EVC_NOEXCEPT {
  try {
    return new evc_run_options;
  } catch (...) {
    return nullptr;
  }
}
void evc_run_options_free(evc_run_options* options) EVC_NOEXCEPT { capi::free_handle(options); }
evc_str evc_run_options_refusal(const evc_run_options* options) EVC_NOEXCEPT {
  return capi::refusal_of(options);
}

evc_status evc_run_options_cancel_plan(evc_run_options* options) EVC_NOEXCEPT {
  return capi::guard(nullptr, [&]() -> result<void> {
    if (auto good = capi::check_live(options); !good) return good;
    options->planning.request_stop();
    return {};
  });
}

evc_status evc_run_options_set_out(evc_run_options* options, evc_str folder) EVC_NOEXCEPT {
  return keep_text(options, "out", folder, [](auto& o) -> auto& { return o.out; });
}
evc_status evc_run_options_set_store(evc_run_options* options, evc_str path) EVC_NOEXCEPT {
  return keep_text(options, "store", path, [](auto& o) -> auto& { return o.store; });
}
evc_status evc_run_options_set_task(evc_run_options* options, evc_str name) EVC_NOEXCEPT {
  return keep_text(options, "task", name, [](auto& o) -> auto& { return o.how.task; });
}
evc_status evc_run_options_set_order(evc_run_options* options, evc_str name) EVC_NOEXCEPT {
  return set_text(options, "order", name, [](auto& o, const std::string& word) -> result<void> {
    if (word != "prefix" && word != "suite") return capi::misuse("order is neither prefix nor suite");
    o.how.suite_order = word == "suite";
    return {};
  });
}
evc_status evc_run_options_set_limit(evc_run_options* options, uint64_t items) EVC_NOEXCEPT {
  return keep_count(options, "limit", items, 1, [](auto& o) -> auto& { return o.how.limit; });
}
evc_status evc_run_options_set_shard(evc_run_options* options, uint32_t index, uint32_t count) EVC_NOEXCEPT {
  const evalcore::run::shard part{index, count};
  return set(options, "shard", part.text(), [&](auto& o) -> result<void> {
    if (index < 1 || index > count) return capi::misuse("the shard is not one of 1 to count");
    o.how.part = part;
    return {};
  });
}
evc_status evc_run_options_set_pool(evc_run_options* options, const evc_pool_options* pool) EVC_NOEXCEPT {
  return capi::guard_set(options, [&]() -> result<void> {
    if (auto good = capi::check_live(pool); !good) return good;
    options->how.pool = pool->whole();
    const auto& how = options->how.pool;
    keep(options->given, "concurrency",
         how.adaptive ? json::value("auto") : json::value(std::uint64_t{how.max_in_flight}));
    return {};
  });
}
evc_status evc_run_options_set_params(evc_run_options* options, evc_str json,
                                      evc_error** error) EVC_NOEXCEPT {
  return set_text(
      options, "params", json,
      [](auto& o, const std::string& text) -> result<void> {
        auto read = evalcore::run::with_params_from_json({}, text);
        if (!read) return std::move(read).error();
        const auto& thinking = read->thinking;
        const auto& params = read->params;
        if (read->parallel_tool_calls || thinking.enabled || !thinking.effort.empty() || params.format ||
            params.logprobs || params.top_logprobs) {
          return evalcore::fail(
              evalcore::errc::invalid_request, evalcore::stage::config,
              "only temperature, top_p, top_k, max_tokens, seed and stop have a default for "
              "a run: what else is asked stands in the items");
        }
        o.how.request.defaults = std::move(read->params);
        return {};
      },
      error);
}
evc_status evc_run_options_set_tools(evc_run_options* options, evc_str name) EVC_NOEXCEPT {
  using evalcore::run::tools_mode;
  return set_text(options, "tools", name, [](auto& o, const std::string& word) -> result<void> {
    if (word != "auto" && word != "native" && word != "text") {
      return capi::misuse("tools is none of auto, native, text");
    }
    o.how.request.tools = word == "auto"     ? tools_mode::automatic
                          : word == "native" ? tools_mode::native
                                             : tools_mode::text;
    return {};
  });
}
evc_status evc_run_options_set_prompt_cache(evc_run_options* options, int32_t wanted) EVC_NOEXCEPT {
  return keep_flag(options, "prompt_cache", wanted,
                   [](auto& o) -> auto& { return o.how.request.use_prompt_cache; });
}
evc_status evc_run_options_set_cache(evc_run_options* options, evc_str path) EVC_NOEXCEPT {
  return keep_text(options, "cache", path, [](auto& o) -> auto& { return o.cache; });
}
evc_status evc_run_options_set_cache_sampled(evc_run_options* options, int32_t wanted) EVC_NOEXCEPT {
  return keep_flag(options, "cache_sampled", wanted, [](auto& o) -> auto& { return o.cache_sampled; });
}
evc_status evc_run_options_set_price(evc_run_options* options, evc_str path) EVC_NOEXCEPT {
  return keep_text(options, "price", path, [](auto& o) -> auto& { return o.price; });
}
evc_status evc_run_options_set_max_cost(evc_run_options* options, double usd) EVC_NOEXCEPT {
  constexpr double most_usd = 1e6;
  constexpr double least_usd = 1e-9;
  constexpr double pico_in_usd = 1e12;
  return set(options, "max_cost", std::isfinite(usd) ? usd : 0, [&](auto& o) -> result<void> {
    if (auto good = capi::check_range("max_cost", usd, least_usd, most_usd); !good) return good;
    o.how.max_cost = static_cast<evalcore::run::pico_usd>(std::llround(usd * pico_in_usd));
    return {};
  });
}
evc_status evc_run_options_set_noise_floor(evc_run_options* options, uint64_t items) EVC_NOEXCEPT {
  return keep_count(options, "noise_floor", items, 1, [](auto& o) -> auto& { return o.how.noise_floor; });
}
evc_status evc_run_options_set_probe(evc_run_options* options, int32_t wanted) EVC_NOEXCEPT {
  return keep_flag(options, "probe", wanted, [](auto& o) -> auto& { return o.probe; });
}
evc_status evc_run_options_set_host_scorer(evc_run_options* options, evc_str name) EVC_NOEXCEPT {
  return set_text(options, "host_scorer", name, [](auto& o, const std::string& read) -> result<void> {
    if (read.empty()) return capi::misuse("a host's scorer needs a name, which its scores are kept under");
    o.host_scorer = read;
    return {};
  });
}
evc_status evc_run_options_set_model_name(evc_run_options* options, evc_str name) EVC_NOEXCEPT {
  return keep_text(options, "model_name", name, [](auto& o) -> auto& { return o.how.labels.model_name; });
}
evc_status evc_run_options_set_model_step(evc_run_options* options, int64_t step) EVC_NOEXCEPT {
  return set(options, "model_step", step, [&](auto& o) -> result<void> {
    o.how.labels.model_step = step;
    return {};
  });
}
evc_status evc_run_options_set_baseline(evc_run_options* options, int32_t is_baseline) EVC_NOEXCEPT {
  return keep_flag(options, "baseline", is_baseline, [](auto& o) -> auto& { return o.how.labels.baseline; });
}
