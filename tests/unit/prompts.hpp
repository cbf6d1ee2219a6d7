#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include <evalcore/prefix/plan.hpp>

namespace evalcore::test {

/// A prompt put together from runs (length, unit), so that what two of them share can be counted by hand.
inline prefix::sequence prompt(std::initializer_list<std::pair<int, prefix::unit>> runs) {
  prefix::sequence out;
  for (const auto& [length, unit] : runs) out.insert(out.end(), static_cast<std::size_t>(length), unit);
  return out;
}

/// `count` prompts that share `shared` units of `family` and end in `own` units that nobody else has.
inline void add_family(std::vector<prefix::sequence>& suite, prefix::unit family, int count, int shared,
                       int own) {
  for (int i = 0; i < count; ++i) {
    suite.push_back(prompt({{shared, family}, {own, 1000 + static_cast<prefix::unit>(suite.size())}}));
  }
}

}  // namespace evalcore::test
