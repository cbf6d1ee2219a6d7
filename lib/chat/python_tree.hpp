#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/chat/call_text.hpp>

namespace evalcore::chat::python {

/// A place in tree::nodes. 0 is no node.
using node_id = std::uint32_t;

enum class node_kind : std::uint8_t {
  constant,  ///< value; text is "u" for u"…".
  ellipsis,
  name,       ///< text.
  attribute,  ///< text; children: object.
  subscript,  ///< children: object, index.
  call,       ///< children: callee, positional arguments; keywords (an empty name is **x).
  list,       ///< children.
  tuple,      ///< children.
  dict,       ///< children: key, value, key, value, …
  unary,      ///< text: the operator; children: operand.
  binary,     ///< text: the operator; children: left, right.
  other,      ///< Valid Python that never becomes a value: comparisons, sets, conditionals, …
};

struct node {
  node_kind kind = node_kind::other;
  python_value value;
  std::string text;
  std::vector<node_id> children;
  std::vector<std::pair<std::string, node_id>> keywords;
  std::uint32_t depth = 1;
};

/// No path from the root is longer, so that walking the tree by recursion is safe.
inline constexpr std::uint32_t tree_depth = 500;

struct tree {
  std::vector<node> nodes{node{}};
  node_id root = 0;

  [[nodiscard]] const node& operator[](node_id id) const { return nodes[id]; }
};

}  // namespace evalcore::chat::python
