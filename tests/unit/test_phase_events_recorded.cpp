#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/engine/phase_events.hpp>

using namespace evalcore;
using namespace evalcore::engine;

namespace {

std::optional<std::int64_t> integer(const json::value& line, const char* key) {
  const auto* found = line.find(key);
  return found == nullptr ? std::nullopt : std::optional(*found->if_int());
}

std::optional<double> number(const json::value& line, const char* key) {
  double storage = 0;
  const auto* found = line.find(key);
  if (found == nullptr) return std::nullopt;
  return *found->as_double(storage);
}

/// The same members in any order. Rates may differ in their last decimal, as halves are rounded either way.
bool same(const json::value& got, const json::value& wanted) {
  if (got.if_object()->size() != wanted.if_object()->size()) return false;
  for (const auto& [key, value] : *wanted.if_object()) {
    const auto* found = got.find(key);
    if (found == nullptr) return false;
    if (key.ends_with("tokens_per_second")) {
      if (!(std::abs(*found->if_double() - *value.if_double()) < 0.0101)) return false;
    } else if (*found != value) {
      return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("recorded requests give the events that the reference gave for them") {
  std::ifstream file(EVALCORE_TEST_DATA "/engine/phase_events.jsonl");
  std::optional<phase_emitter> emitter;
  std::vector<json::value> got;
  std::size_t events = 0;
  std::size_t lines = 0;
  for (std::string text; std::getline(file, text); ++lines) {
    CAPTURE(lines + 1);
    const auto line = json::parse(text);
    REQUIRE(line);
    const std::string op = *line->find("op")->if_string();
    if (op == "new") {
      emitter.emplace([&](const phase_event& event) { got.push_back(to_json(event)); }, "p", "m", instant{},
                      std::chrono::milliseconds(*integer(*line, "interval_ms")));
      continue;
    }
    const instant now = instant{} + std::chrono::milliseconds(*integer(*line, "t_ms"));
    const prompt_facts facts{integer(*line, "prompt_tokens"), integer(*line, "cached_tokens"),
                             integer(*line, "fed_tokens"), number(*line, "prompt_tokens_per_second")};
    const auto count = integer(*line, "count").value_or(0);
    got.clear();
    if (op == "prefill") emitter->prefill(now, facts);
    if (op == "at") emitter->prefill_at(now, count, facts);
    if (op == "fed") emitter->prefill_fed(now, count, integer(*line, "fed_total"), facts);
    if (op == "gen") emitter->generation(now, count, facts, number(*line, "rate"));
    if (op == "complete") {
      emitter->complete(now, count, *line->find("finish_reason")->if_string(), facts, number(*line, "rate"));
    }
    const json::value& wanted = *line->find("event");
    REQUIRE(got.size() == (wanted.is_null() ? 0 : 1));
    if (wanted.is_null()) continue;
    CHECK_MESSAGE(same(got[0], wanted), json::to_text(got[0]), " instead of ", json::to_text(wanted));
    ++events;
  }
  CHECK(lines > 300);
  CHECK(events > 150);
}
