#include "run.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include <evalcore/backend/probe.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/base/json_optional.hpp>
#include <evalcore/base/signals_blocked.hpp>
#include <evalcore/run/cost.hpp>
#include <evalcore/run/prepare.hpp>
#include <evalcore/run/run_files.hpp>

#include "guard.hpp"
#include "inputs.hpp"
#include "pool_options.hpp"
#include "queue_calls.hpp"
#include "suite.hpp"
#include "verdict.hpp"

namespace capi = evalcore::capi;
namespace json = evalcore::json;
namespace run = evalcore::run;
using evalcore::result;

namespace {

std::string text_of(const run::progress& at) {
  return json::to_text(json::object{{"items", at.items},
                                    {"reused", at.reused},
                                    {"done", at.done},
                                    {"running", at.running},
                                    {"retrying", at.retrying},
                                    {"errors", at.errors},
                                    {"prompt_tokens", at.prompt_tokens},
                                    {"cached_tokens", json::or_null(at.cached_tokens)},
                                    {"completion_tokens", at.completion_tokens},
                                    {"elapsed_s", at.elapsed_s},
                                    {"paused_s", json::or_null(at.paused_s)}});
}

result<void> check_options(const evc_run_options& options) {
  if (options.out.empty()) return capi::misuse("a run needs out, a folder for its files");
  if (options.how.max_cost && options.price.empty()) return capi::misuse("max_cost needs a price file");
  return {};
}

}  // namespace

evc_run::evc_run(std::shared_ptr<const run::suite> suite,
                 std::vector<std::shared_ptr<capi::shared_backend>> endpoints, const evc_run_options& options)
    : suite_(std::move(suite)), endpoints_(std::move(endpoints)), options_(options) {
  if (!options_.host_scorer.empty()) {
    scorer_ = std::make_shared<run::host_scorer>(
        options_.host_scorer, [this](run::score_question&& what) { ask_score(std::move(what)); });
  }
  const evalcore::signals_blocked quiet;
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

void evc_run::set_concurrency(std::uint32_t requests) {
  const std::lock_guard held(mutex_);
  if (pool_ != nullptr) pool_->set_max_in_flight(requests);
}

void evc_run::work(const std::stop_token& stop) noexcept {
  capi::pool_event last;
  try {
    last = run(stop);
  } catch (...) {
    last = capi::failed_event(EVC_EVENT_RUN_END, capi::caught());
  }
  events.push(std::move(last), true);
}

capi::pool_event evc_run::run(const std::stop_token& stop) {
  const auto items = std::min(suite_->size(), options_.how.limit.value_or(suite_->size()));
  if (auto checked = run::check_items(*suite_, items, scorer_ != nullptr); !checked) {
    return capi::failed_event(EVC_EVENT_RUN_END, checked.error());
  }
  auto files =
      run::run_files::look(run::outputs::in(options_.out, options_.store), options_.cache.value_or(""));
  if (!files) return capi::failed_event(EVC_EVENT_RUN_END, files.error());
  auto how = prepared(stop);
  if (!how) return capi::failed_event(EVC_EVENT_RUN_END, how.error());
  if (auto made = files->make(); !made) return capi::failed_event(EVC_EVENT_RUN_END, made.error());
  if (options_.cache || options_.cache_sampled) how->cache = files->cache(options_.cache_sampled);

  const auto ran = run::run_suite(*suite_, endpoints_.front()->runtime->loop, capi::answering(endpoints_),
                                  files->own(), *how, watch(), stop);
  if (!ran) return capi::failed_event(EVC_EVENT_RUN_END, ran.error());
  const auto written = run::write_outputs(*ran, how->labels, files->paths());
  auto last = written ? std::make_unique<evc_event>(EVC_EVENT_RUN_END)
                      : capi::failed_event(EVC_EVENT_RUN_END, written.error());
  last->json = run::to_json(*ran);
  return last;
}

result<run::run_options> evc_run::prepared(const std::stop_token& stop) {
  auto how = options_.how;
  const auto& first = *endpoints_.front();
  const auto& about = first.answers->about();
  const auto prices = run::open_prices(options_.price);
  if (!prices) return prices.error();
  if (*prices) {
    const auto price = (*prices)->find(about.model);
    if (!price) return price.error();
    how.price = *price;
  }
  if (options_.probe) {
    auto report = evalcore::backend::probe(first.runtime->loop, *first.answers, {}, stop);
    if (!report) return std::move(report).error();
    if (!report->alive) return evalcore::backend::no_answers(*report);
    how.probe = *std::move(report);
  }
  how.scorer = scorer_;
  if (first.at_url) how.request.model = about.model;
  how.pool.seed = std::random_device{}();
  how.options_json = json::to_text(options_.given);
  auto& labels = how.labels;
  if (labels.model_name.empty()) labels.model_name = about.model;
  labels.model_path = first.model.empty() ? about.model : first.model;
  return how;
}

void evc_run::ask_score(run::score_question&& what) {
  auto made = std::make_unique<evc_event>(EVC_EVENT_SCORE_ASKED);
  made->ticket = what.ticket;
  made->json = R"({"id":)";
  json::append_quoted(made->json, what.item_id);
  made->json += ",\"epoch\":" + std::to_string(what.epoch) + ",\"target\":" + json::to_text(what.target) +
                ",\"item\":" + what.line + "}";
  made->reply = std::make_unique<evc_reply>(std::move(what.reply));
  events.push(std::move(made));
}

result<void> evc_run::score(std::uint64_t ticket, evalcore::score::verdict what) {
  if (scorer_) return scorer_->give(ticket, std::move(what));
  return capi::misuse("the host does not score this run: its options have no host_scorer");
}

run::observer evc_run::watch() {
  return {.note =
              [this](const std::string& sentence) {
                auto made = std::make_unique<evc_event>(EVC_EVENT_NOTE);
                made->text = sentence;
                events.push(std::move(made));
              },
          .progressed = [this](const run::progress& at) { events.push_progress(text_of(at)); },
          .pooled =
              [this](evalcore::pool::pool* running) {
                const std::lock_guard held(mutex_);
                pool_ = running;
              }};
}

// The functions.

namespace {

template <class Do>
evc_status with(const evc_run* of, Do&& work, evc_error** error = nullptr) noexcept {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::check_usable(of); !good) return good;
    return work();
  });
}

auto on_events_of(evc_run* run) {
  return [run](auto&& work) { return with(run, [&] { return work(run->events); }); };
}

}  // namespace

evc_status evc_run_start(evc_runtime* runtime, const evc_suite* suite, evc_backend* const* endpoints,
                         size_t count, const evc_run_options* options, evc_run** out,
                         evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    auto all = capi::endpoints_of(runtime, endpoints, count);
    if (!all) return std::move(all).error();
    if (auto good = capi::check_live(suite); !good) return good;
    if (auto good = capi::check_live(options); !good) return good;
    if (auto good = check_options(*options); !good) return good;
    *out = new evc_run(suite->shared, *std::move(all), *options);
    return {};
  });
}

evc_status evc_run_cancel(evc_run* run) EVC_NOEXCEPT {
  return with(run, [&]() -> result<void> {
    run->cancel();
    return {};
  });
}

evc_status evc_run_set_concurrency(evc_run* run, uint32_t requests) EVC_NOEXCEPT {
  return with(run, [&]() -> result<void> {
    if (requests == 0 || requests > capi::most_in_flight)
      return capi::misuse("the value is out of its range");
    run->set_concurrency(requests);
    return {};
  });
}

evc_status evc_run_score(evc_run* run, uint64_t ticket, evc_str score, evc_error** error) EVC_NOEXCEPT {
  return with(
      run,
      [&]() -> result<void> {
        auto read = capi::read_verdict(score);
        if (!read) return std::move(read).error();
        return run->score(ticket, *std::move(read));
      },
      error);
}

evc_status evc_run_unscored(evc_run* run, uint64_t ticket, evc_str reason, evc_error** error) EVC_NOEXCEPT {
  return with(
      run,
      [&]() -> result<void> {
        auto why = capi::read_text(reason, "the reason");
        if (!why) return std::move(why).error();
        return run->score(ticket, {false, 0, "", *std::move(why)});
      },
      error);
}

void evc_run_free(evc_run* run) EVC_NOEXCEPT { capi::free_in_its_process(run); }

evc_status evc_run_poll(evc_run* run, int32_t timeout_ms, evc_event** out) EVC_NOEXCEPT {
  return capi::poll_with(on_events_of(run), timeout_ms, out);
}

evc_status evc_run_wake(evc_run* run) EVC_NOEXCEPT { return capi::wake_with(on_events_of(run)); }

int32_t evc_run_event_fd(evc_run* run) EVC_NOEXCEPT { return capi::descriptor_with(on_events_of(run)); }

evc_status evc_run_set_wakeup(evc_run* run, void (*hook)(void* context), void* context) EVC_NOEXCEPT {
  return capi::hook_with(on_events_of(run), hook, context);
}
