#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include "pool/machine.hpp"

/// A pool's machine on a virtual clock, its commands as words.
struct pool_bench {
  evalcore::pool::machine machine;
  evalcore::instant start{std::chrono::hours(1)};
  evalcore::instant now = start;

  explicit pool_bench(evalcore::pool::options how, std::uint32_t endpoints = 1) : machine(how, endpoints) {}

  static std::string text(const std::optional<evalcore::pool::command>& what) {
    namespace pool = evalcore::pool;
    if (!what) return "-";
    if (std::holds_alternative<pool::ask_source>(*what)) return "ask";
    if (const auto* one = std::get_if<pool::start_attempt>(&*what)) {
      return "start " + std::to_string(one->id) + (one->attempt > 1 ? " again" : "") +
             (one->endpoint > 0 ? " at " + std::to_string(one->endpoint) : "");
    }
    if (std::holds_alternative<pool::start_share>(*what)) return "share";
    if (const auto* one = std::get_if<pool::cancel_attempt>(&*what)) {
      return "cancel " + std::to_string(one->id) + " " + std::string(name(one->why));
    }
    if (const auto* one = std::get_if<pool::end_item>(&*what)) {
      return "end " + std::to_string(one->id) + " " + std::string(name(one->why.code));
    }
    const auto& drained = std::get<pool::report_drained>(*what);
    return drained.why ? "drained: " + drained.why->message : "drained";
  }

  std::string step() { return text(machine.step(now)); }
  void give(evalcore::pool::item_id id, std::uint64_t affinity = 0, std::uint64_t tokens = 0) {
    machine.pulled_work(id, affinity, tokens, now);
  }
  /// Answers one question of the machine with an item, which then starts.
  void pull(evalcore::pool::item_id id, std::uint64_t affinity = 0) {
    REQUIRE(step() == "ask");
    give(id, affinity);
    REQUIRE(step().starts_with("start " + std::to_string(id)));
  }
  /// The source has nothing more.
  void exhaust() {
    REQUIRE(step() == "ask");
    machine.source_exhausted();
  }
  evalcore::pool::fate answer(evalcore::pool::item_id id) {
    evalcore::result<evalcore::chat::reply> outcome = evalcore::chat::reply{};
    return machine.attempt_ended(id, outcome, now);
  }
  /// Whether the item waits for another attempt.
  bool fail(evalcore::pool::item_id id, evalcore::error why) {
    evalcore::result<evalcore::chat::reply> outcome = std::move(why);
    const auto fate = machine.attempt_ended(id, outcome, now);
    last = outcome.error();
    return fate == evalcore::pool::fate::waits;
  }
  bool fail(evalcore::pool::item_id id, evalcore::errc code) {
    return fail(id, evalcore::fail(code, evalcore::stage::body, "it failed"));
  }
  /// To the next time at which the machine wants to be asked; false when it wants nothing.
  bool sleep() {
    const auto next = machine.next_wake(now);
    if (!next) return false;
    REQUIRE(*next > now);
    now = *next;
    return true;
  }
  [[nodiscard]] double elapsed() const { return evalcore::seconds(now - start); }

  evalcore::error last;  ///< As it came out of the last fail().
};
