#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

#include <evalcore/score/scorer.hpp>

namespace evalcore::test {

/// The verdict of a scorer, named as a suite names it, on a text; the target is JSON.
inline score::verdict judge(std::string_view named, std::string_view target, std::string text) {
  const auto scorer = score::find_scorer(named);
  const auto parsed = json::parse(target);
  REQUIRE(scorer);
  REQUIRE(parsed);
  chat::reply answer;
  answer.text = std::move(text);
  auto out = (*scorer)->score({&*parsed, nullptr, {}, nullptr, true}, answer);
  if (out.scored) CHECK(out.reason.empty() == (out.value == 1));
  return out;
}

inline bool right(std::string_view named, std::string_view target, std::string text) {
  const auto out = judge(named, target, std::move(text));
  CHECK(out.scored);
  return out.value == 1;
}

/// Why a scorer cannot be had.
inline std::string refusal(std::string_view named) {
  const auto scorer = score::find_scorer(named);
  REQUIRE_FALSE(scorer);
  return scorer.error().message;
}

/// Why a target is no good.
inline std::string complaint(std::string_view named, std::string_view target) {
  const auto scorer = score::find_scorer(named);
  const auto parsed = json::parse(target);
  REQUIRE(scorer);
  REQUIRE(parsed);
  const auto fit = (*scorer)->check({&*parsed, nullptr, {}});
  return fit ? std::string() : fit.error().message;
}

}  // namespace evalcore::test
