#include "chat/python_unparse.hpp"

#include <cmath>

namespace evalcore::chat::python {
namespace {

enum strength : int { test, inversion, bit_or, bit_xor, bit_and, shift, sum, product, factor, power, whole };

strength of_binary(std::string_view op) {
  if (op == "|") return bit_or;
  if (op == "^") return bit_xor;
  if (op == "&") return bit_and;
  if (op == "<<" || op == ">>") return shift;
  if (op == "+" || op == "-") return sum;
  return op == "**" ? power : product;
}

strength next(strength one) { return static_cast<strength>(one + 1); }

/// Writes into out_; a node that has no text sets failed_. Recursion is bounded by tree_depth.
class printer {
 public:
  explicit printer(const tree& all) : all_(all) {}

  result<std::string> run(node_id id) {
    write(id, test);
    if (failed_)
      return fail(errc::bad_reply, stage::decode, "not a list of calls: an argument that is not read");
    return std::move(out_);
  }

 private:
  void constant(const node& one) {
    const auto* real = std::get_if<double>(&one.value.state);
    out_ += one.text;
    out_ += real != nullptr && std::isinf(*real) ? "1e309" : repr(one.value);
  }

  void list(const std::vector<node_id>& nodes, std::size_t from, bool is_tuple) {
    for (std::size_t i = from; i < nodes.size(); ++i) {
      if (i > from) out_ += ", ";
      write(nodes[i], test);
    }
    if (is_tuple && nodes.size() == 1) out_ += ',';
  }

  void in_parentheses(bool needed, const auto& body) {
    if (needed) out_ += '(';
    body();
    if (needed) out_ += ')';
  }

  void call(const node& one) {
    write(one.children[0], whole);
    out_ += '(';
    list(one.children, 1, false);
    bool first = one.children.size() == 1;
    for (const auto& [name, value] : one.keywords) {
      if (name.empty()) failed_ = true;
      if (!first) out_ += ", ";
      first = false;
      out_ += name + '=';
      write(value, test);
    }
    out_ += ')';
  }

  void write(node_id id, strength least) {  // NOLINT(misc-no-recursion)
    const node& one = all_[id];
    switch (one.kind) {
      case node_kind::constant:
        constant(one);
        return;
      case node_kind::ellipsis:
        out_ += "...";
        return;
      case node_kind::name:
        out_ += one.text;
        return;
      case node_kind::attribute: {
        const auto& object = all_[one.children[0]];
        write(one.children[0], whole);
        const auto& state = object.value.state;
        const bool number = std::holds_alternative<std::int64_t>(state) ||
                            std::holds_alternative<bool>(state) ||
                            std::holds_alternative<python_value::big_int>(state);
        if (object.kind == node_kind::constant && number) out_ += ' ';
        out_ += '.' + one.text;
        return;
      }
      case node_kind::subscript: {
        write(one.children[0], whole);
        out_ += '[';
        const node& index = all_[one.children[1]];
        if (index.kind == node_kind::tuple && !index.children.empty()) {
          list(index.children, 0, true);
        } else {
          write(one.children[1], test);
        }
        out_ += ']';
        return;
      }
      case node_kind::call:
        call(one);
        return;
      case node_kind::list:
        out_ += '[';
        list(one.children, 0, false);
        out_ += ']';
        return;
      case node_kind::tuple:
        in_parentheses(true, [&] { list(one.children, 0, true); });
        return;
      case node_kind::dict:
        out_ += '{';
        for (std::size_t i = 0; i < one.children.size(); i += 2) {
          if (i > 0) out_ += ", ";
          write(one.children[i], test);
          out_ += ": ";
          write(one.children[i + 1], test);
        }
        out_ += '}';
        return;
      case node_kind::unary: {
        const strength own = one.text == "not" ? inversion : factor;
        in_parentheses(least > own, [&] {
          out_ += one.text;
          if (own == inversion) out_ += ' ';
          write(one.children[0], own);
        });
        return;
      }
      case node_kind::binary: {
        const strength own = of_binary(one.text);
        in_parentheses(least > own, [&] {
          write(one.children[0], own == power ? next(own) : own);
          out_ += ' ' + one.text + ' ';
          write(one.children[1], own == power ? own : next(own));
        });
        return;
      }
      case node_kind::other:
        failed_ = true;
        return;
    }
  }

  const tree& all_;
  std::string out_;
  bool failed_ = false;
};

}  // namespace

result<std::string> unparse(const tree& all, node_id id) { return printer(all).run(id); }

}  // namespace evalcore::chat::python
