#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <evalcore/engine/simulated.hpp>

#include "engine/perform.hpp"
#include "engine/scheduler.hpp"

namespace evalcore::test {

using namespace std::chrono_literals;

/// Passes everything on, and remembers what rows were opened.
class watched_engine final : public engine::step_engine {
 public:
  watched_engine(engine::simulated_options how, engine::virtual_clock& clock)
      : model(std::move(how), clock) {}

  [[nodiscard]] const engine::traits& about() const override { return model.about(); }
  [[nodiscard]] result<engine::rendered> render(const chat::request& request) override {
    ++calls;
    return model.render(request);
  }
  [[nodiscard]] result<std::vector<engine::token>> tokenize(std::string_view text, bool special) override {
    ++calls;
    return model.tokenize(text, special);
  }
  [[nodiscard]] result<engine::row_id> open(engine::row_request asked) override {
    ++calls;
    opened.push_back(asked);
    opened.back().from.reset();  // Not to keep it alive.
    auto row = model.open(std::move(asked));
    most_rows = std::max(most_rows, model.open_rows());
    return row;
  }
  [[nodiscard]] result<void> step(std::uint32_t max_width, engine::step_output& out) override {
    ++calls;
    widths.push_back(max_width);
    return model.step(max_width, out);
  }
  [[nodiscard]] bool remove(engine::row_id row) override { return model.remove(row); }
  void interrupt() noexcept override { model.interrupt(); }
  [[nodiscard]] std::optional<std::uint64_t> snapshot_bytes(std::uint32_t tokens) const override {
    return model.snapshot_bytes(tokens);
  }
  [[nodiscard]] result<std::shared_ptr<const engine::snapshot>> take_snapshot(engine::row_id row) override {
    return model.take_snapshot(row);
  }
  [[nodiscard]] engine::memory_report memory() const override { return model.memory(); }

  engine::simulated_engine model;
  std::vector<engine::row_request> opened;
  std::vector<std::uint32_t> widths;  ///< Of each step.
  std::size_t calls = 0;
  std::size_t most_rows = 0;
};

struct no_lock {
  void lock() {}
  void unlock() {}
};

/// A reader of one request.
struct reader {
  engine::job_id id = 0;
  std::shared_ptr<engine::outlet> out;
  std::string text;
  std::vector<engine::token> tokens;
  std::vector<engine::prefill_seen> prefill;
  std::optional<result<engine::answer>> end;
  int ends = 0;

  /// Takes what there is.
  reader& read() {
    std::vector<engine::record> records;
    auto ended = out->take(records);
    for (const auto& one : records) {
      if (const auto* seen = std::get_if<engine::prefill_seen>(&one)) {
        prefill.push_back(*seen);
        CHECK(tokens.empty());
        continue;
      }
      text += std::get<engine::piece>(one).text;
      tokens.push_back(std::get<engine::piece>(one).id);
    }
    if (ended) {
      ++ends;
      if (*ended) text += (*ended)->tail;
      end = std::move(ended);
    }
    return *this;
  }
  const engine::answer& answer() {
    read();
    REQUIRE(end.has_value());
    REQUIRE(end->has_value());
    return end->value();
  }
  /// The refusal that it ended with; empty: none.
  std::string refusal() {
    read();
    return end && !*end ? end->error().detail : "";
  }
};

/// A scheduler on a simulated engine and its clock.
struct rig {
  explicit rig(engine::options how = {}, engine::simulated_options simulated = {},
               std::optional<engine::prefix_cache_options> cache = {})
      : model(std::move(simulated), clock),
        prefixes(
            cache ? std::optional<engine::prefix_cache>(std::in_place, model.about(), model.memory(), *cache)
                  : std::nullopt),
        machine(how, model.about(), prefixes ? &*prefixes : nullptr) {}

  result<engine::scheduler::ticket> try_submit(engine::request what, bool cancelled = false) {
    return machine.submit(std::move(what), cancelled, clock.now);
  }
  reader submit(engine::request what) {
    auto given = try_submit(std::move(what));
    REQUIRE(given);
    return {.id = given->id, .out = given->out};
  }

  /// One action; the clock goes on where the machine waits for a moment. False: it waits for something else,
  /// or has stopped.
  bool turn() {
    auto to_do = machine.next(clock.now);
    if (const auto* pause = std::get_if<engine::wait>(&to_do)) {
      if (!pause->until) return false;
      clock.now = *pause->until;
      return true;
    }
    stopped = std::holds_alternative<engine::stopped>(to_do);
    if (stopped) return false;
    if (const auto* control = std::get_if<engine::run_control>(&to_do)) {
      controls.push_back(control->which);
      if (on_control) on_control();
      return true;
    }
    no_lock none;
    engine::perform(to_do, model, out, machine, none, [this] { return clock.now; });
    return true;
  }
  void run() {
    while (turn()) {
    }
  }
  /// Until so many more steps were done.
  void steps(std::size_t count) {
    const auto until = model.widths.size() + count;
    while (model.widths.size() < until) REQUIRE(turn());
  }

  engine::virtual_clock clock;
  watched_engine model;
  std::optional<engine::prefix_cache> prefixes;
  engine::scheduler machine;
  engine::step_output out;
  std::vector<engine::control_id> controls;
  std::function<void()> on_control;
  bool stopped = false;
};

/// A greedy request for so many tokens after a prompt of text.
inline engine::request asking(std::string prompt, std::uint32_t max_tokens = 4) {
  engine::request made;
  made.prompt = std::move(prompt);
  made.max_tokens = max_tokens;
  return made;
}

inline engine::request sampling(std::string prompt, std::uint32_t max_tokens = 4) {
  auto made = asking(std::move(prompt), max_tokens);
  made.how.temperature = 0.7;
  made.how.seed = 42;
  return made;
}

/// An engine that goes on with `said` after the prompt `asked`, byte by byte, then ends.
inline engine::simulated_options saying(std::string asked, std::string said) {
  engine::simulated_options how;
  how.next = [asked = std::move(asked), said = std::move(said)](std::span<const engine::token> before) {
    const auto at = before.size() - asked.size();
    return at < said.size() ? static_cast<engine::token>(static_cast<unsigned char>(said[at]))
                            : engine::simulated_engine::end_token;
  };
  return how;
}

/// What the simulated engine answers to a prompt that runs alone.
inline std::string alone(const std::string& prompt, std::uint32_t tokens) {
  rig one;
  auto asked = one.submit(asking(prompt, tokens));
  one.run();
  asked.read();
  return asked.text;
}

}  // namespace evalcore::test
