#pragma once

#include <utility>

namespace evalcore::engine {

/// For a map whose entry must be made while it may fail, and entered when it may not.
template <class Map>
[[nodiscard]] typename Map::node_type node_of(typename Map::mapped_type value) {
  Map made;
  made.emplace(0, std::move(value));
  return made.extract(made.begin());
}

template <class Map>
void enter(Map& into, typename Map::node_type&& node, typename Map::key_type key) noexcept {
  node.key() = key;
  into.insert(std::move(node));
}

}  // namespace evalcore::engine
