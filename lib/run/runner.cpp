#include <evalcore/run/runner.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/pool/pool.hpp>
#include <evalcore/run/ids.hpp>
#include <evalcore/run/planning.hpp>
#include <evalcore/score/scorer.hpp>

#include "run/planned_source.hpp"

namespace evalcore::run {
namespace {

using std::chrono::steady_clock;

/// How often committed replies are flushed to the disk, and progress is told at least.
constexpr auto sync_interval = std::chrono::milliseconds(200);

void add(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& part) {
  if (part) sum = sum.value_or(0) + *part;
}

/// Beyond this no model has a context; sums of counts up to it cannot overflow.
constexpr std::uint64_t most_tokens = 1'000'000'000;

bool believable(const chat::usage& usage) {
  for (const auto& count : {usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens}) {
    if (count.value_or(0) > most_tokens) return false;
  }
  return !usage.prompt_tokens || usage.cached_tokens.value_or(0) <= *usage.prompt_tokens;
}

/// The failure with what the backend said of it, unless that is in it already.
std::string in_words(const error& failure) {
  if (failure.backend_words.empty() || failure.message.find(failure.backend_words) != std::string::npos) {
    return failure.message;
  }
  constexpr std::size_t shown = 200;
  const auto words = failure.backend_words.substr(0, shown);
  return failure.message + ": " + words + (failure.backend_words.size() > shown ? "…" : "");
}

/// One run, on the host's thread: from the store to the pool and back.
class runner {
 public:
  runner(const suite& what, net::loop& owner, backend::backend& to, store& into, const run_options& how,
         const observer& watch, std::stop_token stop)
      : suite_(what),
        loop_(owner),
        backend_(to),
        store_(into),
        how_(how),
        watch_(watch),
        stop_(std::move(stop)) {}

  result<summary> run() {
    begin_summary();
    auto tools = choose_tools_mode(how_.request.tools, suite_, loop_, backend_, watch_.note, stop_);
    if (!tools) return std::move(tools).error();
    request_ = how_.request;
    request_.tools = *tools;

    if (auto read = read_store(); !read) return std::move(read).error();
    summary_.tools = !any_tools_ ? "none" : request_.tools == tools_mode::text ? "text" : "native";
    if (auto planned = plan(); !planned) return std::move(planned).error();
    if (auto begun = store_.begin_run(record_); !begun) return std::move(begun).error();
    if (summary_.reused > 0) {
      watch_.note(std::to_string(summary_.reused) + " of " + std::to_string(summary_.items) +
                  " items are answered in the store and reused; " + std::to_string(pending_.size()) +
                  " are sent");
    }
    if (!pending_.empty()) {
      if (auto sent = send(); !sent) return std::move(sent).error();
    }
    return finish();
  }

 private:
  void begin_summary() {
    summary_.run_id = new_run_id();
    summary_.suite_path = suite_.path();
    summary_.suite_hash = suite_.hash();
    summary_.task = how_.task.empty() ? suite_.task() : how_.task;
    summary_.backend = backend_.about();
    summary_.probe = how_.probe ? *how_.probe : backend::facts_of(backend_);
    summary_.order = how_.suite_order ? "suite" : "prefix";
    summary_.items = std::min(suite_.size(), how_.limit.value_or(suite_.size()));
    record_.run_id = summary_.run_id;
    record_.suite_path = summary_.suite_path;
    record_.suite_hash = summary_.suite_hash;
    record_.identity = summary_.backend.identity;
    record_.options_json = how_.options_json;
    record_.started_unix_ms = unix_ms_now();
    record_.probe_json = json::to_text(backend::to_json(summary_.probe));
  }

  /// Takes from the store what it has, and lists the rest.
  result<void> read_store() {
    std::uint64_t sampled = 0;
    for (std::size_t index = 0; index < summary_.items; ++index) {
      auto one = suite_.get(index);
      if (!one) return std::move(one).error();
      any_tools_ = any_tools_ || !one->request.tools.empty();
      auto scorer = score::find_scorer(one->scorer);
      if (!scorer) return std::move(scorer).error();
      auto request = prepare(*one, request_);
      if (!request) return std::move(request).error();
      metric_for(*one, **scorer).items += 1;

      const auto record = record_of(*one, *request);
      auto stored = store_.find(record);
      if (!stored) return std::move(stored).error();
      if (!*stored) {
        pending_.push_back(index);
        sampled += request->params.temperature ? 0U : 1U;
        continue;
      }
      // Scored again: it is cheap, and a scorer that was mended counts at once.
      const auto& reply = (*stored)->reply;
      const auto verdict = (*scorer)->score(task_of(*one), reply);
      if (auto kept = store_.put_verdict(record, verdict); !kept) return kept;
      summary_.reused += 1;
      count_answer(*one, **scorer, reply, verdict);
    }
    if (sampled > 0) {
      watch_.note(std::to_string(sampled) + " of " + std::to_string(pending_.size()) +
                  " items are sent without a temperature, so the backend's default holds and may sample; "
                  "--temperature 0 makes them greedy");
    }
    auto twice = store_.possibly_paid_twice();
    if (!twice) return std::move(twice).error();
    summary_.possibly_paid_twice = *twice;
    return {};
  }

  result<void> plan() {
    summary_.concurrency = how_.concurrency;
    if (pending_.empty()) return {};
    auto read = read_prompts(suite_, pending_, request_, loop_, backend_, stop_);
    if (!read) return std::move(read).error();
    prompts_ = *std::move(read);
    auto order = prefix::make_plan(prompts_.units, prompts_.exact, {.suite_order = how_.suite_order});
    summary_.plan_exact = order.exact;
    summary_.prefix_groups = order.groups.size();
    summary_.invariant_prefix = order.invariant_units;
    const auto cache = cache_model_of(backend_, request_.use_prompt_cache, how_.concurrency);
    if (summary_.backend.slots) summary_.concurrency = std::min(how_.concurrency, *summary_.backend.slots);
    record_.plan_json = json::to_text(json::object{
        {"unit", order.exact ? "tokens" : "bytes"},
        {"groups", std::uint64_t{order.groups.size()}},
        {"invariant", std::uint64_t{order.invariant_units}},
        {"total", order.total_units},
    });
    source_ = std::make_unique<planned_source>(suite_, pending_, request_,
                                               prefix::dispatcher(std::move(order), prompts_.units, cache),
                                               prompts_.exact);
    return {};
  }

  result<void> send() {
    pool::pool requests(loop_, backend_, *source_,
                        {.max_in_flight = summary_.concurrency, .total_deadline = {}});
    const std::stop_callback cancel(stop_, [&requests] {
      requests.cancel_all();
      requests.wake();
    });
    started_ = steady_clock::now();
    auto synced = started_;
    requests.start();
    for (;;) {
      auto event = requests.poll(sync_interval);
      const auto now = steady_clock::now();
      if (event) {
        if (event->what == pool::event::kind::drained) {
          summary_.wall_s = seconds(now - started_);
          tell(now);
          if (source_->failure()) return *source_->failure();
          if (event->outcome && !*event->outcome && !stop_.stop_requested()) return event->outcome->error();
          return store_.sync();
        }
        if (auto handled = handle(*event); !handled) {
          requests.cancel_all();
          return handled;
        }
      }
      if (now - synced >= sync_interval) {
        if (auto flushed = store_.sync(); !flushed) {
          requests.cancel_all();
          return flushed;
        }
        synced = now;
      }
      tell(now);
    }
  }

  result<void> handle(const pool::event& event) {
    if (event.what == pool::event::kind::started) {
      progress_.running += 1;
      summary_.sent += 1;
      auto one = suite_.get(pending_[event.id]);
      if (!one) return std::move(one).error();
      auto request = prepare(*one, request_);
      if (!request) return std::move(request).error();
      const auto& out = source_->sent(event.id);
      flying_.insert_or_assign(
          event.id,
          flight{record_of(*one, *request), {unix_ms_now(), std::nullopt, out.predicted_cached, out.slot}});
      return store_.begin_attempt(flying_.at(event.id).record, flying_.at(event.id).attempt);
    }
    if (event.what != pool::event::kind::ended) return {};
    progress_.running -= 1;
    progress_.done += 1;
    auto node = flying_.extract(event.id);
    auto& [record, attempt] = node.mapped();
    const auto& outcome = *event.outcome;
    if (!outcome) {
      attempt.failure = outcome.error();
      if (outcome.error().code == errc::cancelled && stop_.stop_requested())
        return store_.put_failure(record, attempt);
      summary_.errors += 1;
      progress_.errors += 1;
      const bool first_of_class = summary_.errors_by_class[std::string(name(outcome.error().code))]++ == 0;
      if (first_of_class)
        watch_.note("item \"" + record.item_id + "\" errored: " + in_words(outcome.error()));
      return store_.put_failure(record, attempt);
    }
    auto one = suite_.get(pending_[event.id]);
    if (!one) return std::move(one).error();
    auto scorer = score::find_scorer(one->scorer);
    if (!scorer) return std::move(scorer).error();
    const auto verdict = (*scorer)->score(task_of(*one), *outcome);
    count_answer(*one, **scorer, *outcome, verdict);
    count_tokens(*outcome, attempt);
    return store_.put_reply(record, attempt, *outcome, verdict);
  }

  void count_answer(const item& one, const score::scorer& scorer, const chat::reply& reply,
                    const score::verdict& verdict) {
    summary_.answered += 1;
    auto& metric = metric_for(one, scorer);
    if (verdict.scored) {
      metric.scored += 1;
      metric.total += verdict.value;
    } else {
      summary_.unscored += 1;
    }
    if (reply.finish == chat::finish_reason::length) summary_.cut_by_length += 1;
    if (reply.finish == chat::finish_reason::other) summary_.unknown_finish += 1;
    if (reply.text.empty() && reply.calls.empty()) summary_.empty_answers += 1;
  }

  void count_tokens(const chat::reply& reply, const attempt_record& attempt) {
    if (believable(reply.usage)) {
      add(summary_.prompt_tokens, reply.usage.prompt_tokens);
      add(summary_.cached_tokens, reply.usage.cached_tokens);
      add(summary_.completion_tokens, reply.usage.completion_tokens);
    } else if (summary_.unbelievable_usage++ == 0) {
      watch_.note(
          "the backend reports token counts that cannot be (such as more cached tokens than the prompt has); "
          "replies with such counts are left out of the sums");
    }
    add(summary_.predicted_cached_tokens, attempt.predicted_cached_tokens);
    if (reply.timing.first_token) {
      ttft_total_ += seconds(*reply.timing.first_token);
      ttft_count_ += 1;
    }
    progress_.completion_tokens = summary_.completion_tokens.value_or(0);
    progress_.prompt_tokens = summary_.prompt_tokens.value_or(0);
    progress_.cached_tokens = summary_.cached_tokens;
  }

  metric_summary& metric_for(const item& one, const score::scorer& scorer) {
    for (auto& held : summary_.metrics) {
      if (held.category == one.category && held.metric == scorer.metric()) return held;
    }
    summary_.metrics.push_back({one.category, std::string(scorer.metric())});
    return summary_.metrics.back();
  }

  result<summary> finish() {
    summary_.interrupted = stop_.stop_requested();
    summary_.not_run = summary_.items - summary_.answered - summary_.errors;
    if (ttft_count_ > 0) summary_.mean_ttft_s = ttft_total_ / static_cast<double>(ttft_count_);
    if (auto done = store_.finish_run(summary_.run_id, to_json(summary_)); !done)
      return std::move(done).error();
    if (auto flushed = store_.sync(); !flushed) return std::move(flushed).error();
    return std::move(summary_);
  }

  void tell(steady_clock::time_point now) {
    progress_.items = summary_.items;
    progress_.reused = summary_.reused;
    progress_.elapsed_s = seconds(now - started_);
    watch_.progressed(progress_);
  }

  [[nodiscard]] item_record record_of(const item& one, const chat::request& request) const {
    return {item_key(summary_.suite_hash, one.id, 0, one.scorer),
            cache_key(summary_.backend.identity, request.model, canonical_text(request), 0), one.id, 0};
  }
  static score::task task_of(const item& one) { return {&one.target, &one.request.tools, one.category}; }

  struct flight {
    item_record record;
    attempt_record attempt;
  };

  const suite& suite_;
  net::loop& loop_;
  backend::backend& backend_;
  store& store_;
  const run_options& how_;
  const observer& watch_;
  std::stop_token stop_;

  request_options request_;  ///< With the tools mode decided.
  bool any_tools_ = false;
  std::vector<std::size_t> pending_;  ///< Suite positions still to send; the pool's ids count these.
  prompts prompts_;
  std::unique_ptr<planned_source> source_;
  std::map<pool::item_id, flight> flying_;
  run_record record_;
  summary summary_;
  progress progress_;
  steady_clock::time_point started_ = steady_clock::now();
  double ttft_total_ = 0;
  std::uint64_t ttft_count_ = 0;
};

}  // namespace

result<summary> run_suite(const suite& what, net::loop& owner, backend::backend& to, store& into,
                          const run_options& how, const observer& watch, const std::stop_token& stop) {
  return runner(what, owner, to, into, how, watch, stop).run();
}

}  // namespace evalcore::run
