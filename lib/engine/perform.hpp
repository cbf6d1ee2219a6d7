#pragma once

#include <exception>
#include <new>
#include <utility>
#include <variant>

#include <evalcore/engine/step_engine.hpp>

#include "engine/scheduler.hpp"

namespace evalcore::engine {
namespace detail {

/// What an engine's code throws is a failure like any other: the host must not die of it. Throws nothing.
template <class Call>
auto guarded(Call call) -> decltype(call()) {
  try {
    try {
      return call();
    } catch (const std::bad_alloc&) {
      return fail(errc::no_memory, stage::body, "the engine ran out of memory");
    } catch (const std::exception& why) {
      return fail(errc::internal, stage::body, std::string("the engine threw: ") + why.what());
    } catch (...) {
      return fail(errc::internal, stage::body, "the engine threw what is no std::exception");
    }
  } catch (const std::bad_alloc&) {
    return fail(errc::no_memory, stage::body, "out of memory");  // Short enough to need none.
  }
}

inline result<prepared_prompt> prepare(step_engine& engine, const request& what) {
  prepared_prompt made;
  result<std::vector<token>> tokens = std::vector<token>();
  if (const auto* given = std::get_if<std::vector<token>>(&what.prompt)) {
    made.tokens = *given;
    return made;
  }
  if (const auto* text = std::get_if<std::string>(&what.prompt)) {
    tokens = engine.tokenize(*text, true);
  } else if (const auto* plain = std::get_if<plain_text>(&what.prompt)) {
    tokens = engine.tokenize(plain->text, false);
  } else {
    auto prompt = engine.render(std::get<chat::request>(what.prompt));
    if (!prompt) return std::move(prompt).error();
    made.template_name = std::move(prompt->template_name);
    made.warning = std::move(prompt->warning);
    tokens = engine.tokenize(prompt->text, true);
  }
  if (!tokens) return std::move(tokens).error();
  made.tokens = *std::move(tokens);
  return made;
}

}  // namespace detail

/// Does on the engine what an action says, without the lock, and reports to the scheduler under it. Held when
/// called and held on return. `now` is asked after the work. run_control, wait and stopped are the caller's.
template <class Lock, class Clock>
void perform(action& to_do, step_engine& engine, step_output& out, scheduler& decisions, Lock& lock,
             Clock now) {
  using detail::guarded;
  const auto unlocked = [&](auto call) noexcept {
    lock.unlock();
    auto outcome = guarded(call);
    lock.lock();
    return outcome;
  };
  if (auto* step = std::get_if<run_step>(&to_do)) {
    const auto outcome = unlocked([&] { return engine.step(step->max_width, out); });
    decisions.stepped(outcome, out, now());
  } else if (auto* prompt = std::get_if<prepare_prompt>(&to_do)) {
    decisions.prepared(unlocked([&] { return detail::prepare(engine, *prompt->what); }));
  } else if (auto* row = std::get_if<open_row>(&to_do)) {
    auto outcome = unlocked([&] { return engine.open(std::move(row->what)); });
    decisions.opened(std::move(outcome), now());
  } else if (const auto* leaving = std::get_if<remove_row>(&to_do)) {
    const auto outcome = unlocked([&]() -> result<bool> { return engine.remove(leaving->row); });
    // An engine that throws here would do so again: the row is given up.
    decisions.removed(outcome.value_or(true));
  } else if (const auto* size = std::get_if<measure_snapshot>(&to_do)) {
    using measures = std::pair<memory_report, std::optional<std::uint64_t>>;
    const auto outcome = unlocked(
        [&]() -> result<measures> { return measures(engine.memory(), engine.snapshot_bytes(size->tokens)); });
    decisions.measured(outcome.value_or(measures()).first, outcome.value_or(measures()).second);
  } else if (const auto* kept = std::get_if<take_snapshot>(&to_do)) {
    decisions.snapshot_taken(unlocked([&] { return engine.take_snapshot(kept->row); }));
  }
}

}  // namespace evalcore::engine
