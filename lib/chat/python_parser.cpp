#include "chat/python_parser.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>

#include "chat/python_lexer.hpp"
#include "chat/python_literal.hpp"

namespace evalcore::chat::python {
namespace {

constexpr std::array<std::string_view, 35> reserved{
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

bool is_reserved(std::string_view name) { return std::ranges::find(reserved, name) != reserved.end(); }

/// Python compares identifiers in their NFKC form.
std::string identifier(std::string_view text) {
  std::string name(text);
  if (std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return name;
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> folded(
      utf8proc_NFKC(reinterpret_cast<const utf8proc_uint8_t*>(name.c_str())), &std::free);
  return folded ? std::string(reinterpret_cast<const char*>(folded.get())) : name;
}

/// How tightly the two-sided operators bind, loosest first.
enum binding : int {
  none,
  either,
  both,
  inversion,
  comparison,
  bit_or,
  bit_xor,
  bit_and,
  shift,
  sum,
  product
};

binding binding_of(const token& one) {
  const std::string_view text = one.text;
  if (one.kind == token_kind::name) {
    if (text == "or") return either;
    if (text == "and") return both;
    return text == "in" || text == "is" || text == "not" ? comparison : none;
  }
  if (one.kind != token_kind::op) return none;
  if (text == "==" || text == "!=" || text == "<" || text == ">" || text == "<=" || text == ">=")
    return comparison;
  if (text == "|") return bit_or;
  if (text == "^") return bit_xor;
  if (text == "&") return bit_and;
  if (text == "<<" || text == ">>") return shift;
  if (text == "+" || text == "-") return sum;
  return text == "*" || text == "/" || text == "//" || text == "%" || text == "@" ? product : none;
}

/// Recursive descent; a function that fails sets failure_ and returns 0.
class parser {
 public:
  explicit parser(std::vector<token> tokens) : tokens_(std::move(tokens)) {}

  result<tree> run() {
    if (!take("[")) return fail_with("an opening bracket is missing");
    tree_.root = sequence(node_kind::list, "]");
    while (!failure_ && now().kind == token_kind::newline) ++at_;
    if (!failure_ && now().kind != token_kind::end) unexpected();
    if (failure_) return *std::move(failure_);
    return std::move(tree_);
  }

 private:
  [[nodiscard]] const token& now() const { return tokens_[at_]; }
  [[nodiscard]] bool is(std::string_view op) const {
    return now().kind == token_kind::op && now().text == op;
  }
  [[nodiscard]] bool is_word(std::string_view word) const {
    return now().kind == token_kind::name && now().text == word;
  }
  bool take(std::string_view op) {
    const bool here = is(op);
    if (here) ++at_;
    return here;
  }
  bool take_word(std::string_view word) {
    const bool here = is_word(word);
    if (here) ++at_;
    return here;
  }

  error fail_with(std::string message) {
    return fail(errc::bad_reply, stage::decode, "not a list of calls: " + std::move(message));
  }
  node_id refuse(error failure) {
    if (!failure_) failure_ = std::move(failure);
    return 0;
  }
  node_id refuse(std::string message) { return refuse(fail_with(std::move(message))); }
  node_id unexpected() {
    return now().kind == token_kind::end ? refuse("the text ends too early") : refuse("invalid syntax");
  }

  node_id add(node one) {
    if (failure_) return 0;
    for (const auto child : one.children) one.depth = std::max(one.depth, tree_[child].depth + 1);
    for (const auto& [name, child] : one.keywords) one.depth = std::max(one.depth, tree_[child].depth + 1);
    if (one.depth > tree_depth) return refuse("the expression is nested too deep");
    tree_.nodes.push_back(std::move(one));
    return static_cast<node_id>(tree_.nodes.size() - 1);
  }
  node_id add(node_kind kind, std::vector<node_id> children, std::string_view text = {}) {
    node one;
    one.kind = kind;
    one.text = text;
    one.children = std::move(children);
    return add(std::move(one));
  }
  node_id constant(python_value value, bool marked_unicode = false) {
    node one;
    one.kind = node_kind::constant;
    one.value = std::move(value);
    if (marked_unicode) one.text = "u";
    return add(std::move(one));
  }

  /// Counts the recursion that brackets, signs, powers and conditionals cause.
  struct descent {
    explicit descent(parser& owner) : owner_(owner) {
      if (++owner_.depth_ > 2 * bracket_depth + 200) owner_.refuse("the expression is nested too deep");
    }
    ~descent() { --owner_.depth_; }
    descent(const descent&) = delete;
    descent& operator=(const descent&) = delete;
    parser& owner_;
  };

  node_id expression() {
    const descent guard(*this);
    const node_id value = operation(either);
    if (failure_ || !take_word("if")) return value;
    const node_id condition = operation(either);
    if (failure_) return 0;
    if (!take_word("else")) return unexpected();
    const node_id otherwise = expression();
    return add(node_kind::other, {value, condition, otherwise});
  }

  /// An element of a display or an argument: `*x`, `name := x`, or an expression.
  node_id element() {
    if (take("*")) return add(node_kind::other, {operation(bit_or)});
    const node_id value = expression();
    if (failure_) return 0;
    if (is_word("for") || is_word("async")) return refuse("comprehensions are not read");
    if (!is(":=")) return value;
    if (tree_[value].kind != node_kind::name || tokens_[at_ - 1].text == ")") return unexpected();
    ++at_;
    return add(node_kind::other, {expression()});
  }

  node_id operation(binding least) {
    node_id left = 0;
    if (is_word("not")) {
      if (least > inversion) return unexpected();
      ++at_;
      const descent guard(*this);
      left = failure_ ? 0 : add(node_kind::unary, {operation(inversion)}, "not");
    } else {
      left = unary();
    }
    while (!failure_) {
      const binding strength = binding_of(now());
      if (strength == none || strength < least) return left;
      const std::string_view op = now().text;
      ++at_;
      if (op == "not" && !take_word("in")) return unexpected();
      if (op == "is") take_word("not");
      const node_id right = operation(static_cast<binding>(strength + 1));
      left = strength <= comparison ? add(node_kind::other, {left, right})
                                    : add(node_kind::binary, {left, right}, op);
    }
    return 0;
  }

  node_id unary() {
    const descent guard(*this);
    if (failure_) return 0;
    if (is("-") || is("+") || is("~")) {
      const std::string_view op = now().text;
      ++at_;
      return add(node_kind::unary, {unary()}, op);
    }
    const node_id base = primary();
    if (failure_ || !take("**")) return base;
    return add(node_kind::binary, {base, unary()}, "**");
  }

  node_id primary() {
    node_id value = atom();
    while (!failure_) {
      if (take(".")) {
        if (now().kind != token_kind::name || is_reserved(now().text)) return unexpected();
        value = add(node_kind::attribute, {value}, identifier(now().text));
        ++at_;
      } else if (take("(")) {
        value = call(value);
      } else if (take("[")) {
        value = subscript(value);
      } else {
        return value;
      }
    }
    return 0;
  }

  node_id call(node_id callee) {
    node one;
    one.kind = node_kind::call;
    one.children.push_back(callee);
    bool unpacked = false;  // No *x may follow a **x.
    while (!take(")")) {
      if (take("**")) {
        one.keywords.emplace_back(std::string(), expression());
        unpacked = true;
      } else if (now().kind == token_kind::name && tokens_[at_ + 1].kind == token_kind::op &&
                 tokens_[at_ + 1].text == "=") {
        if (is_reserved(now().text)) return refuse("a keyword of Python stands as an argument's name");
        std::string name = identifier(now().text);
        at_ += 2;
        one.keywords.emplace_back(std::move(name), expression());
      } else {
        if (is("*") ? unpacked : !one.keywords.empty()) {
          return refuse("a positional argument follows a keyword argument");
        }
        one.children.push_back(element());
      }
      if (failure_) return 0;
      if (!is(")") && !take(",")) return unexpected();
    }
    return add(std::move(one));
  }

  node_id subscript(node_id object) {
    std::vector<node_id> parts;
    bool listed = false;
    while (!is("]") || parts.empty()) {
      parts.push_back(slice());
      if (failure_) return 0;
      if (is("]")) break;
      if (!take(",")) return unexpected();
      listed = true;
    }
    ++at_;
    const node_id index =
        parts.size() == 1 && !listed ? parts.front() : add(node_kind::tuple, std::move(parts));
    return add(node_kind::subscript, {object, index});
  }

  node_id slice() {
    const bool open = is(":");
    const node_id first = open ? 0 : element();
    if (failure_ || !is(":")) return first;
    for (int colons = 0; colons < 2 && take(":"); ++colons) {
      if (!is(":") && !is("]") && !is(",")) expression();
      if (failure_) return 0;
    }
    return add(node_kind::other, {});
  }

  /// The elements up to `close`; the opening bracket is taken.
  node_id sequence(node_kind kind, std::string_view close) {
    std::vector<node_id> elements;
    bool listed = false;
    const bool starred = is("*");
    while (!is(close)) {
      elements.push_back(element());
      if (failure_) return 0;
      if (is(close)) break;
      if (!take(",")) return unexpected();
      listed = true;
    }
    ++at_;
    // (x) is x, but neither (*x) nor (x,) is.
    if (kind == node_kind::tuple && elements.size() == 1 && !listed) {
      return starred ? refuse("invalid syntax") : elements.front();
    }
    return add(kind, std::move(elements));
  }

  node_id braces() {
    std::vector<node_id> items;
    bool is_set = false;
    bool readable = true;
    while (!take("}")) {
      if (!is_set && take("**")) {
        readable = false;
        operation(bit_or);
      } else {
        const bool first = items.empty() && readable;
        const bool starred = is("*");
        const node_id key = element();
        if (failure_) return 0;
        if (first) is_set = starred || !is(":");
        items.push_back(key);
        if (!is_set) {
          if (!take(":")) return unexpected();
          items.push_back(expression());
          if (is_word("for") || is_word("async")) return refuse("comprehensions are not read");
        }
      }
      if (failure_) return 0;
      if (!is("}") && !take(",")) return unexpected();
    }
    return is_set || !readable ? add(node_kind::other, std::move(items))
                               : add(node_kind::dict, std::move(items));
  }

  node_id atom() {
    const token& here = now();
    switch (here.kind) {
      case token_kind::number: {
        ++at_;
        auto value = number_value(here.text);
        return value ? constant(*std::move(value)) : refuse(std::move(value).error());
      }
      case token_kind::string:
        return strings();
      case token_kind::name:
        return word();
      case token_kind::op:
        break;
      case token_kind::newline:
      case token_kind::end:
        return unexpected();
    }
    if (take("...")) return add(node_kind::ellipsis, {});
    if (take("(")) return sequence(node_kind::tuple, ")");
    if (take("[")) return sequence(node_kind::list, "]");
    if (take("{")) return braces();
    return unexpected();
  }

  node_id strings() {
    std::string text;
    std::optional<bool> marked;
    while (now().kind == token_kind::string) {
      auto part = string_value(now().text);
      if (!part) return refuse(std::move(part).error());
      text += part->text;
      if (!marked) marked = part->marked_unicode;
      ++at_;
    }
    return constant(python_value(std::move(text)), marked.value_or(false));
  }

  node_id word() {
    const std::string_view text = now().text;
    if (text == "lambda" || text == "await" || text == "yield")
      return refuse("lambda, await and yield are not read");
    ++at_;
    if (text == "None") return constant({});
    if (text == "True") return constant(python_value(true));
    if (text == "False") return constant(python_value(false));
    if (is_reserved(text)) {
      --at_;
      return unexpected();
    }
    return add(node_kind::name, {}, identifier(text));
  }

  std::vector<token> tokens_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  tree tree_;
  std::optional<error> failure_;
};

}  // namespace

result<tree> parse_list(std::string_view source) {
  auto tokens = tokenize(source);
  if (!tokens) return std::move(tokens).error();
  return parser(*std::move(tokens)).run();
}

}  // namespace evalcore::chat::python
