#include <evalcore/c/engine.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <evalcore/engine/phase_watch.hpp>
#include <evalcore/engine/runtime.hpp>

#include "engine_event.hpp"
#include "engine_request.hpp"
#include "guard.hpp"
#include "inputs.hpp"
#include "queue_calls.hpp"
#include "readable_pipe.hpp"
#include "runtime.hpp"
#include "table_engine.hpp"
#include "wakeup_hook.hpp"

namespace engine = evalcore::engine;
using namespace evalcore;

namespace {

using deadline = std::optional<std::chrono::steady_clock::time_point>;

/// Tickets that have something to read. Shared with the engine's thread, which may be about to call while the
/// engine is freed.
class woken_tickets {
 public:
  /// Before as many tickets are out: add() must not want for memory.
  void make_room_for(std::size_t tickets) {
    const std::lock_guard held(mutex_);
    tickets_.reserve(tickets);
  }
  void add(std::uint64_t ticket) noexcept {
    std::unique_lock held(mutex_);
    if (std::ranges::find(tickets_, ticket) == tickets_.end()) tickets_.push_back(ticket);
    const bool quiet = !std::exchange(rung_, true);
    pipe_.show(true);
    changed_.notify_one();
    held.unlock();
    if (quiet) hook_.call();
  }
  /// The first; 0: there is none, and nothing to read until the next add().
  [[nodiscard]] std::uint64_t take() {
    const std::lock_guard held(mutex_);
    if (tickets_.empty()) {
      rung_ = false;
      pipe_.show(false);
      return 0;
    }
    const std::uint64_t first = tickets_.front();
    tickets_.erase(tickets_.begin());
    return first;
  }
  /// False: none came until then, or wake() was called.
  [[nodiscard]] bool wait(const deadline& until) {
    std::unique_lock held(mutex_);
    const auto there = [&] { return !tickets_.empty() || look_again_ || woken_; };
    if (until) {
      if (!changed_.wait_until(held, *until, there)) return false;
    } else {
      changed_.wait(held, there);
    }
    if (std::exchange(woken_, false)) return false;
    look_again_ = false;
    return true;
  }
  void wake() {
    const std::lock_guard held(mutex_);
    woken_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] std::int32_t descriptor() {
    const std::lock_guard held(mutex_);
    return pipe_.descriptor();
  }
  void set_hook(void (*hook)(void*), void* context) { hook_.set(hook, context); }
  /// Wakes one who waits: there is an event for it already.
  void look_again() {
    const std::lock_guard held(mutex_);
    look_again_ = true;
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint64_t> tickets_;
  bool look_again_ = false;
  bool woken_ = false;
  bool rung_ = false;  ///< Something was added since take() found nothing.
  capi::readable_pipe pipe_;
  capi::wakeup_hook hook_;  ///< Called without the lock.
};

struct asked {
  std::uint64_t tag = 0;
  std::stop_source stop;
  engine::phase_watch watch;
  std::unique_ptr<engine::stream> stream;
};

/// A context that nobody else destroys, so far.
class handed_over {
 public:
  handed_over(const evc_step_engine_table& table, void* context) : table_(table), context_(context) {}
  ~handed_over() {
    if (!taken_ && table_.destroy != nullptr) table_.destroy(context_);
  }
  handed_over(const handed_over&) = delete;
  handed_over& operator=(const handed_over&) = delete;
  void let_go() noexcept { taken_ = true; }

 private:
  const evc_step_engine_table& table_;
  void* context_;
  bool taken_ = false;
};

}  // namespace

struct evc_engine : capi::handle<evc_engine>, capi::of_one_process {
  static constexpr const char* word = "evc_engine";

  explicit evc_engine(std::unique_ptr<engine::runtime> started) : runtime(std::move(started)) {}
  ~evc_engine() { woken->set_hook(nullptr, nullptr); }

  result<std::uint64_t> submit(const evc_engine_request& request, std::uint64_t tag);
  void cancel(std::uint64_t ticket);
  [[nodiscard]] woken_tickets& events_to_come() { return *woken; }
  capi::event_ptr poll(std::int32_t timeout_ms);

 private:
  capi::event_ptr next();
  void read(std::uint64_t ticket);
  void add(capi::event_ptr event, std::uint64_t ticket, std::uint64_t tag);

  std::shared_ptr<woken_tickets> woken = std::make_shared<woken_tickets>();
  std::unique_ptr<engine::runtime> runtime;
  std::mutex mutex;  ///< Of what follows. Taken before that of `woken`.
  std::uint64_t last_ticket = 0;
  std::unordered_map<std::uint64_t, asked> running;
  std::deque<capi::event_ptr> events;
};

result<std::uint64_t> evc_engine::submit(const evc_engine_request& request, std::uint64_t tag) {
  const std::lock_guard held(mutex);
  const std::uint64_t ticket = last_ticket + 1;
  asked& one = running[ticket];
  woken->make_room_for(2 * running.size());
  one.tag = tag;
  if (request.progress) {
    const char* setting = std::getenv("EVALCORE_PROGRESS_MIN_INTERVAL_S");
    one.watch = engine::phase_watch(engine::phase_emitter(
        [this, ticket, tag](const engine::phase_event& event) { add(capi::event_of(event), ticket, tag); },
        runtime->about().name, runtime->about().model, std::chrono::steady_clock::now(),
        engine::progress_interval(setting == nullptr ? std::nullopt
                                                     : std::optional<std::string_view>(setting))));
  }
  auto stream =
      runtime->submit(request.what, {one.stop.get_token(), [woken = woken, ticket] { woken->add(ticket); }});
  if (!stream) {
    running.erase(ticket);
    return std::move(stream).error();
  }
  one.stream = std::move(*stream);
  return last_ticket = ticket;
}

void evc_engine::cancel(std::uint64_t ticket) {
  std::stop_source stop(std::nostopstate);
  {
    const std::lock_guard held(mutex);
    if (const auto found = running.find(ticket); found != running.end()) stop = found->second.stop;
  }
  stop.request_stop();  // Without the lock: it calls the table's interrupt.
}

capi::event_ptr evc_engine::poll(std::int32_t timeout_ms) {
  deadline until;
  if (timeout_ms >= 0) until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  do {
    if (auto event = next()) return event;
  } while (woken->wait(until));
  return nullptr;
}

capi::event_ptr evc_engine::next() {
  const std::lock_guard held(mutex);
  while (events.empty()) {
    const std::uint64_t ticket = woken->take();
    if (ticket == 0) return nullptr;
    read(ticket);
  }
  auto first = std::move(events.front());
  events.pop_front();
  if (!events.empty()) woken->look_again();
  return first;
}

void evc_engine::read(std::uint64_t ticket) {
  const auto found = running.find(ticket);
  engine::stream::reading what;
  if (found == running.end() || !found->second.stream || !found->second.stream->read(what)) return;
  asked& one = found->second;
  const auto now = std::chrono::steady_clock::now();
  for (auto& record : what.records) {
    one.watch.saw(record, now);
    if (auto* piece = std::get_if<engine::piece>(&record)) {
      add(capi::event_of(std::move(*piece)), ticket, one.tag);
    }
  }
  if (!what.end) return;
  one.watch.ended(*what.end, now);
  add(capi::event_of(std::move(*what.end), runtime->note()), ticket, one.tag);
  running.erase(found);
}

void evc_engine::add(capi::event_ptr event, std::uint64_t ticket, std::uint64_t tag) {
  event->ticket = ticket;
  event->tag = tag;
  events.push_back(std::move(event));
}

namespace {

/// What was set, or the defaults. Errors: invalid_argument.
result<evc_engine_options> read_options(const evc_engine_options* given, bool per_row_sampling) {
  if (given != nullptr) {
    if (auto good = capi::check_live(given); !good) return std::move(good).error();
  }
  auto read = given == nullptr ? evc_engine_options() : *given;
  read.how.per_row_sampling = read.per_row_sampling.value_or(per_row_sampling);
  if (auto fine = engine::check(read.how); !fine) return std::move(fine).error();
  if (auto fine = engine::check(read.prefixes); !fine) return std::move(fine).error();
  return read;
}

result<void> start(engine::runtime::loader load, const evc_engine_options& how, evc_engine** out) {
  auto started = engine::runtime::start(std::move(load), how.how, how.prefixes);
  if (!started) return std::move(started).error();
  *out = new evc_engine(std::move(*started));
  return {};
}

}  // namespace

evc_status evc_engine_new_table(const evc_step_engine_table* table, void* context,
                                const evc_engine_options* options, evc_engine** out,
                                evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    const auto known = capi::read_table(table);
    if (!known) return known.error();
    handed_over given(*known, context);
    // What is refused leaves the context to its owner; a want of memory, also of reading the options, does
    // not.
    const auto refused = [&](evalcore::error why) -> result<void> {
      given.let_go();
      return why;
    };
    const auto how = read_options(options, false);
    if (!how) return refused(how.error());
    if (how->only_of_a_model != nullptr) {
      return refused(capi::misuse(std::string("an engine given as a table has no use for the option ") +
                                  how->only_of_a_model));
    }
    const auto load = [&]() -> result<engine::loaded_engine> {
      given.let_go();
      auto made = capi::start_table_engine(*known, context);
      if (!made) return std::move(made).error();
      return engine::loaded_engine{std::move(*made)};
    };
    return start(load, *how, out);
  });
}

evc_status evc_engine_open(evc_str model, const evc_engine_options* options, evc_engine** out,
                           evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    auto path = capi::read_text(model, "the path of the model");
    if (!path) return std::move(path).error();
    const auto how = read_options(options, true);
    if (!how) return how.error();
    auto what = how->model;
    what.model_path = *std::move(path);
    what.max_rows = how->how.max_batch_size;
    const auto load = [&what, &how]() -> result<engine::loaded_engine> {
      auto opened = engine::open_llama(what);
      if (!opened) return std::move(opened).error();
      engine::loaded_engine made{.engine = *std::move(opened)};
      if (what.mode == engine::evaluation::fast) made.safe_width = what.max_rows;
      made.verdict_folder = how->verdict_folder;
      return made;
    };
    return start(load, *how, out);
  });
}

void evc_engine_free(evc_engine* engine) EVC_NOEXCEPT { capi::free_in_its_process(engine); }

evc_status evc_engine_submit(evc_engine* engine, const evc_engine_request* request, uint64_t tag,
                             uint64_t* ticket, evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::check_usable(engine); !good) return good;
    if (auto good = capi::check_live(request); !good) return good;
    const auto given = engine->submit(*request, tag);
    if (!given) return given.error();
    if (ticket != nullptr) *ticket = *given;
    return {};
  });
}

void evc_engine_cancel(evc_engine* engine, uint64_t ticket) EVC_NOEXCEPT {
  (void)capi::guard(nullptr, [&]() -> result<void> {
    if (auto good = capi::check_usable(engine); !good) return good;
    engine->cancel(ticket);
    return {};
  });
}

evc_status evc_engine_poll(evc_engine* engine, int32_t timeout_ms, evc_engine_event** out) EVC_NOEXCEPT {
  const evc_status status = capi::guard(nullptr, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    if (auto good = capi::check_usable(engine); !good) return good;
    *out = engine->poll(timeout_ms).release();
    return {};
  });
  return status == EVC_OK && *out == nullptr ? EVC_E_TIMEOUT : status;
}

namespace {

auto on_events_of(evc_engine* engine) {
  return [engine](auto&& work) {
    return capi::guard(nullptr, [&]() -> result<void> {
      if (auto good = capi::check_usable(engine); !good) return good;
      return work(engine->events_to_come());
    });
  };
}

}  // namespace

evc_status evc_engine_wake(evc_engine* engine) EVC_NOEXCEPT { return capi::wake_with(on_events_of(engine)); }

int32_t evc_engine_event_fd(evc_engine* engine) EVC_NOEXCEPT {
  return capi::descriptor_with(on_events_of(engine));
}

evc_status evc_engine_set_wakeup(evc_engine* engine, void (*hook)(void* context),
                                 void* context) EVC_NOEXCEPT {
  return capi::hook_with(on_events_of(engine), hook, context);
}
