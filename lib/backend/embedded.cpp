#include <evalcore/backend/embedded.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <evalcore/engine/parity.hpp>
#include <evalcore/engine/refusal.hpp>

#include "backend/embedded_choices.hpp"
#include "backend/embedded_notes.hpp"
#include "backend/embedded_reply.hpp"
#include "backend/embedded_request.hpp"
#include "backend/embedded_scores.hpp"
#include "backend/plain_completion.hpp"

namespace evalcore::backend {
namespace {

using engine::runtime;

/// A prefix of fewer tokens is not kept.
constexpr std::uint32_t least_prefix = 16;
/// Who sends bounds what is out, and has deadlines; the engine's queue is to refuse nothing of that.
constexpr std::uint32_t least_queue = 1U << 16U;
constexpr double least_queue_timeout_s = 86'400;

error closed() { return fail(errc::closed, stage::body, "the backend was closed"); }

/// Who waits for an answer gets one, whatever an engine throws.
template <class T, class Work>
result<T> guarded(const Work& what, engine::step_engine& model) {
  try {
    return what(model);
  } catch (const std::bad_alloc&) {
    return fail(errc::no_memory, stage::send, "no memory is left to read the prompt");
  } catch (const std::exception& thrown) {
    return fail(errc::internal, stage::send, std::string("the engine threw: ") + thrown.what());
  }
}

/// What the model reads. `special`: special tokens are spelled out in it.
struct seen_prompt {
  std::string text;
  bool special;
};

/// `plain`: the text of the only turn stands as it is. Errors: of a request that the engine does not take.
result<seen_prompt> see_prompt(const chat::request& request, bool plain, engine::step_engine& model) {
  if (!request.choices.empty()) {
    if (auto fit = check_for_engine(request); !fit) return std::move(fit).error();
    return seen_prompt{std::string(context_of(request)), false};
  }
  if (plain) {
    if (auto fit = check_completion(request); !fit) return std::move(fit).error();
    return seen_prompt{request.messages.front().text, false};
  }
  auto prompt = model.render(request);
  if (!prompt) return std::move(prompt).error();
  return seen_prompt{std::move(prompt->text), true};
}

class embedded final : public backend {
 public:
  embedded(net::loop& owner, std::unique_ptr<runtime> runs, info about, bool completions)
      : loop_(owner), runtime_(std::move(runs)), info_(std::move(about)), completions_(completions) {}

  ~embedded() override {
    loop_.run_and_wait([this] {
      *self_ = nullptr;
      for (auto& [id, one] : std::exchange(choosing_, {})) one->end(closed());
      for (auto& [id, one] : std::exchange(open_, {})) one.end(closed());
      for (auto& one : std::exchange(to_score_, {})) fail_all(*one, closed());
    });
    runtime_.reset();
  }

  [[nodiscard]] const info& about() const override { return info_; }
  [[nodiscard]] capabilities can() const override {
    return {.tokenize = ability::yes,
            .slot_pinning = ability::no,
            .share_prefix = ability::no,
            .tools = ability::no,
            .cached_tokens = runtime_->about().snapshots ? ability::yes : ability::no,
            .prompt_logprobs = runtime_->about().scoring ? ability::yes : ability::no};
  }
  [[nodiscard]] result<void> check(const chat::request& request) const override {
    if (!request.choices.empty() && !runtime_->about().scoring)
      return fail(errc::unsupported, stage::send, "the engine does not score choices");
    if (completions_ && request.choices.empty()) {
      if (auto fit = check_completion(request); !fit) return fit;
    }
    return check_for_engine(request);
  }

  ticket start(const chat::request& request, std::shared_ptr<sink> to) override {
    if (!request.choices.empty()) return start_choices(request, std::move(to));
    const auto began = std::chrono::steady_clock::now();
    auto reply = std::make_shared<embedded_reply>();
    exchange one;
    one.read = [this, to, reply](const engine::record& news) {
      const auto* piece = std::get_if<engine::piece>(&news);
      if (piece == nullptr) return;
      const bool first = !reply->begun();
      const auto text = reply->add(*piece);
      if (first) to->on_first_token(std::chrono::steady_clock::now());
      if (!text.empty()) to->on_text(text);
    };
    one.end = [this, to, reply, began](const result<engine::answer>& outcome) {
      if (!outcome) return to->on_end(outcome.error());
      to->on_end(reply->finish(*outcome, info_.model, std::chrono::steady_clock::now() - began));
    };
    const auto which = next_++;
    auto fit = check(request);
    auto opened = fit ? runtime_->submit(prompt_of(request), waking(which))
                      : result<std::unique_ptr<engine::stream>>(std::move(fit).error());
    follow(which, std::move(one), std::move(opened));
    return which;
  }

  void cancel(ticket which) override {
    if (const auto one = give_up_choices(which)) {
      loop_.post(
          [one] { one->end(fail(errc::cancelled, stage::body, "cancelled while its choices were scored")); });
      return;
    }
    const auto found = open_.find(which);
    if (found == open_.end() || !found->second.from) return;
    found->second.read = nullptr;  // What was read already is not told any more.
    found->second.from->cancel();
  }

  void render(const chat::request& request, std::function<void(result<std::string>)> done) override {
    on_engine<std::string>(
        [request, plain = completions_](engine::step_engine& model) -> result<std::string> {
          auto prompt = see_prompt(request, plain, model);
          if (!prompt) return std::move(prompt).error();
          return std::move(prompt->text);
        },
        std::move(done));
  }

  void tokenize(const chat::request& request, std::function<void(result<std::vector<token>>)> done) override {
    on_engine<std::vector<token>>(
        [request, plain = completions_](engine::step_engine& model) -> result<std::vector<token>> {
          const auto prompt = see_prompt(request, plain, model);
          if (!prompt) return prompt.error();
          return model.tokenize(prompt->text, prompt->special);
        },
        std::move(done));
  }

  void loglikelihood(const chat::loglikelihood_request& request,
                     std::function<void(result<chat::loglikelihood>)> done) override {
    if (!runtime_->about().scoring) {
      return done(fail(errc::unsupported, stage::send, "the engine does not score continuations"));
    }
    const auto same = std::ranges::find_if(to_score_, [&](const auto& one) { return one->takes(request); });
    if (same != to_score_.end()) return (*same)->add(request.continuation, std::move(done));
    if (to_score_.empty()) after_this(&embedded::score_collected);
    to_score_.push_back(std::make_shared<scoring>(request));
    to_score_.back()->add(request.continuation, std::move(done));
  }

  void check_prompt_logprobs(std::function<void(result<void>)> done) override {
    if (!runtime_->about().scoring) {
      return done(fail(errc::unsupported, stage::send, "the engine does not score continuations"));
    }
    loop_.post([done = std::move(done)] { done({}); });
  }

  void list_models(std::function<void(result<std::vector<listed_model>>)> done) override {
    std::vector<listed_model> all{{.id = info_.model, .context = info_.context_per_slot}};
    loop_.post([done = std::move(done), all = std::move(all)]() mutable { done(std::move(all)); });
  }

 private:
  /// One request: what to do with each of its records and with its end.
  struct exchange {
    std::unique_ptr<engine::stream> from;  ///< Null: it was refused, and its end is on its way.
    std::function<void(const engine::record&)> read;
    std::function<void(const result<engine::answer>&)> end;
  };

  [[nodiscard]] engine::request prompt_of(const chat::request& request) const {
    auto made = for_engine(request);
    if (completions_) made.prompt = engine::plain_text{request.messages.front().text};
    return made;
  }

  /// Runs on the loop after what runs there now, if the backend is still there.
  void after_this(void (embedded::*what)()) {
    loop_.post([self = self_, what] {
      if (*self != nullptr) ((*self)->*what)();
    });
  }

  /// One drain() is on its way to the loop at a time.
  engine::submission waking(ticket which) {
    engine::submission how;
    how.wake = [self = self_, which, &loop = loop_, posted = std::make_shared<std::atomic<bool>>(false)] {
      if (posted->exchange(true)) return;
      loop.post([self, which, posted] {
        posted->store(false);
        if (*self != nullptr) (*self)->drain(which);
      });
    };
    return how;
  }

  void follow(ticket which, exchange one, result<std::unique_ptr<engine::stream>> opened) {
    if (opened) {
      one.from = *std::move(opened);
    } else {
      loop_.post([self = self_, which, why = std::move(opened).error()] {
        if (*self != nullptr) (*self)->finish(which, why);
      });
    }
    open_.emplace(which, std::move(one));
    // What came before it could be found is read now; a refusal has its own way.
    loop_.post([self = self_, which] {
      if (*self != nullptr) (*self)->drain(which);
    });
  }

  void drain(ticket which) {
    engine::stream::reading news;
    for (;;) {
      const auto found = open_.find(which);
      if (found == open_.end() || !found->second.from || !found->second.from->read(news)) return;
      // Whoever hears of a record may cancel this request, which empties here.read while its copy runs, or
      // start others: the iterator may not outlive that.
      const auto& here = found->second;
      const auto read = here.read;
      for (const auto& one : news.records)
        if (here.read) read(one);
      if (news.end) return finish(which, *news.end);
    }
  }

  void finish(ticket which, const result<engine::answer>& outcome) {
    if (auto gone = open_.extract(which)) gone.mapped().end(outcome);
  }

  /// Runs `what`, which concerns no row, before the next step, and answers on the loop.
  template <class T, class Work>
  void on_engine(Work what, std::function<void(result<T>)> done) {
    const auto answer = [&loop = loop_, done = std::move(done)](result<T> outcome) {
      loop.post([done, outcome = std::move(outcome)]() mutable { done(std::move(outcome)); });
    };
    const auto posted = runtime_->post_aside([what = std::move(what), answer](engine::step_engine* model) {
      answer(model == nullptr ? result<T>(closed()) : guarded<T>(what, *model));
    });
    if (!posted) answer(posted.error());
  }

  void score_collected() {
    for (auto& one : std::exchange(to_score_, {})) cut_and_score(std::move(one), nullptr);
  }

  /// `of`: the request that they are the choices of; null: each is a request of its own.
  void cut_and_score(std::shared_ptr<scoring> one, std::shared_ptr<embedded_choices> of) {
    using cut = std::shared_ptr<std::vector<branches>>;
    on_engine<cut>(
        [one](engine::step_engine& model) -> result<cut> {
          return std::make_shared<std::vector<branches>>(one->take(model));
        },
        [self = self_, one, of = std::move(of)](result<cut> made) {
          if (!made) return fail_all(*one, made.error());
          for (auto& family : **made) {
            if (*self == nullptr) {
              family.answer(closed());
            } else if (!of || !of->given_up) {
              (*self)->score(std::move(family), one->hints(), of);
            }
          }
        });
  }

  ticket start_choices(const chat::request& request, std::shared_ptr<sink> to) {
    const auto which = next_++;
    auto one = std::make_shared<embedded_choices>(request, info_.model, std::move(to));
    choosing_.emplace(which, one);
    const auto ended = [self = self_, which] {
      if (*self != nullptr) (*self)->give_up_choices(which);
    };
    if (auto fit = check(request); !fit) {
      loop_.post([one, ended, why = std::move(fit).error()] {
        one->end(why);
        ended();
      });
      return which;
    }
    auto all = std::make_shared<scoring>(chat::loglikelihood_request{
        .model = {}, .context = request.messages.front().text, .continuation = {}, .hints = request.hints});
    for (std::size_t at = 0; at < request.choices.size(); ++at) {
      all->add(request.choices[at], [one, ended, at](result<chat::loglikelihood> score) {
        if (one->came(at, std::move(score))) ended();
      });
    }
    cut_and_score(std::move(all), std::move(one));
    return which;
  }

  /// What of them is on the engine, or on its way there, is not wanted any more. Null: they ended before.
  std::shared_ptr<embedded_choices> give_up_choices(ticket which) {
    const auto gone = choosing_.extract(which);
    if (!gone) return nullptr;
    auto one = gone.mapped();
    one->given_up = true;
    for (const auto part : one->parts) cancel(part);
    return one;
  }

  void score(branches family, const chat::cache_hints& hints, const std::shared_ptr<embedded_choices>& of) {
    if (family.failure) return family.answer(*family.failure);
    engine::request asked;
    asked.prompt = std::move(family.context);
    asked.continuations = std::move(family.continuations);
    asked.share = sharing_of(hints);
    exchange one;
    one.end = [waiting = std::make_shared<branches>(std::move(family)),
               of](const result<engine::answer>& outcome) {
      if (of && outcome) of->count(*outcome);
      waiting->answer(outcome);
    };
    const auto which = next_++;
    if (of) of->parts.push_back(which);
    auto opened = runtime_->submit(std::move(asked), waking(which));
    follow(which, std::move(one), std::move(opened));
  }

  static void fail_all(scoring& collected, const error& why) {
    for (auto& then : collected.give_up()) then(why);
  }

  net::loop& loop_;
  /// Null once it is gone; looked at on the loop only.
  std::shared_ptr<embedded*> self_ = std::make_shared<embedded*>(this);
  std::unique_ptr<runtime> runtime_;
  info info_;
  const bool completions_;
  std::unordered_map<ticket, exchange> open_;
  std::unordered_map<ticket, std::shared_ptr<embedded_choices>> choosing_;
  ticket next_ = 1;
  std::vector<std::shared_ptr<scoring>> to_score_;  ///< Since this turn of the loop began.
};

info describe(const runtime& of) {
  const auto& model = of.about();
  info about;
  about.selector = "embedded";
  about.model = model.model;
  about.identity = model.identity;
  about.identity["selector"] = about.selector;
  about.identity["model"] = about.model;
  // An answer without a bound may fill it.
  about.identity["context_tokens"] = std::to_string(model.context_tokens);
  about.slots = std::min(of.how().max_batch_size, model.max_rows);
  about.context_per_slot = model.context_tokens;
  about.greedy_by_default = true;
  if (!of.keeps_prefixes()) {
    about.cache = wire::cache_ways{.keeps = false};
  } else {
    about.cache =
        wire::cache_ways{.shares_in_flight = true, .page = model.prefix_grid, .least = least_prefix};
  }
  return about;
}

result<std::unique_ptr<backend>> open(net::loop& owner, runtime::loader load, engine::options schedule,
                                      const engine::prefix_cache_options& prefixes, const std::string& slots,
                                      bool completions) {
  if (auto fine = engine::check(schedule); !fine) return std::move(fine).error();
  schedule.max_queue_size = std::max(schedule.max_queue_size, least_queue);
  schedule.queue_timeout_s = std::max(schedule.queue_timeout_s, least_queue_timeout_s);
  auto runs = runtime::start(std::move(load), schedule, prefixes);
  if (!runs) return std::move(runs).error();
  auto about = describe(**runs);
  if (completions) about.identity["api"] = "completions";
  if (!slots.empty()) about.notes.push_back(slots);
  if (!(*runs)->note().empty()) about.notes.push_back((*runs)->note());
  return std::unique_ptr<backend>(
      std::make_unique<embedded>(owner, *std::move(runs), std::move(about), completions));
}

}  // namespace

result<std::unique_ptr<backend>> open_embedded(net::loop& owner, runtime::loader load,
                                               const engine::options& schedule,
                                               const engine::prefix_cache_options& prefixes,
                                               bool completions) {
  return open(owner, std::move(load), schedule, prefixes, "", completions);
}

result<std::unique_ptr<backend>> open_embedded(net::loop& owner, const embedded_options& how,
                                               const std::stop_token& stop) {
  auto model = how.model;
  auto schedule = how.schedule;
  const bool checked = model.mode == engine::evaluation::parity && how.check_parity;
  if (how.fit_slots) {
    const auto most = checked ? engine::widest_checked : engine::most_llama_rows;
    schedule.max_batch_size = std::min(schedule.max_batch_size, most);
    model.fit_beside = how.prefixes;
    if (how.leave_prefixes_out) model.fit_beside->max_bytes = 0;
  }
  model.max_rows = schedule.max_batch_size;
  // The loop may be kept by a slow disk; what an answer can have is little memory.
  schedule.output_queue_size = std::max(schedule.output_queue_size, model.context_tokens);
  std::string slots;  // start() waits for the loader, so that what it writes is read after it.
  const auto load = [&]() -> result<engine::loaded_engine> {
    engine::loaded_engine made;
    auto opened = engine::open_llama(model);
    if (!opened) return std::move(opened).error();
    made.engine = *std::move(opened);
    if (how.fit_slots) slots = note_of_slots(*made.engine, model);
    if (stop.stop_requested())
      return fail(errc::cancelled, stage::start, "interrupted while the model was loaded");
    if (!checked) made.safe_width = model.max_rows;
    made.verdict_folder = how.verdict_folder;
    return made;
  };
  return open(owner, load, schedule, how.prefixes, slots, how.completions);
}

}  // namespace evalcore::backend
