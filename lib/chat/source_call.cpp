#include "chat/source_call.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "chat/source_lexer.hpp"

namespace evalcore::chat::source {
namespace {

/// Expressions stand this deep in one another at most.
constexpr int most_depth = 200;
/// Names, calls and indices behind one another.
constexpr int most_links = 1000;

error refuse(std::string what) {
  return fail(errc::bad_reply, stage::decode, "not a call: " + std::move(what));
}

struct expression {
  std::string text;  ///< As the decoder gives it.
  std::size_t begin = 0;
  std::size_t end = 0;
  enum class kind { other, word, string, call, assignment } what = kind::other;
  bool assignable = false;
  bool unreadable = false;          ///< The decoder raises where it is an argument's value.
  std::optional<python_call> call;  ///< The first one in it.
  std::string value;                ///< Of an assignment.
  std::size_t name_end = 0;         ///< Of an assignment's left side.
};

constexpr auto reserved = std::to_array<std::string_view>(
    {"if",       "else", "for",     "while",      "do",    "return",    "case",       "default", "break",
     "continue", "try",  "catch",   "finally",    "throw", "import",    "package",    "const",   "goto",
     "var",      "let",  "extends", "implements", "enum",  "interface", "instanceof", "in",      "of"});

class parser {
 public:
  parser(std::string_view text, call_language in, std::vector<token> tokens)
      : text_(text), java_(in == call_language::java), tokens_(std::move(tokens)) {
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (i == text.size() || (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U)
        characters_.push_back(i);
    }
  }

  result<python_call> run() {
    while (here().kind != token_kind::end) {
      if (skip(";")) continue;
      statement_ = at_;
      auto one = assignment();
      if (!one) return std::move(one).error();
      const bool ended = skip(";") || here().kind == token_kind::end || (!java_ && here().after_line);
      if (!ended) return refuse("something follows the expression");
      if (found_ || !one->call || (!java_ && one->what != expression::kind::call)) continue;
      if (one->call->name.empty()) return refuse("an argument stands twice, or cannot be read");
      found_ = std::move(one->call);
    }
    if (!found_) return refuse("there is none");
    return *std::move(found_);
  }

 private:
  [[nodiscard]] const token& here() const { return tokens_[at_]; }
  [[nodiscard]] const token& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  bool skip(std::string_view what) {
    if (!here().is(what)) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] std::size_t last_end() const { return tokens_[at_ - 1].end(); }

  /// A piece of the text. BFCL's reader of Java takes a place in bytes for one in characters.
  [[nodiscard]] std::string raw(std::size_t begin, std::size_t end) const {
    if (!java_) return std::string(text_.substr(begin, end - begin));
    const auto byte = [&](std::size_t character) {
      return characters_[std::min(character, characters_.size() - 1)];
    };
    return std::string(text_.substr(byte(begin), byte(end) - byte(begin)));
  }

  result<expression> assignment() {  // NOLINT(misc-no-recursion): bounded by most_depth
    if (++depth_ > most_depth) return refuse("it is nested too deep");
    auto left = operators();
    if (left && is_assignment()) {
      const bool plain = here().is("=") || java_;
      if (!left->assignable) return refuse("a value is given to something that takes none");
      const std::string sign(here().text);
      ++at_;
      auto right = assignment();
      if (!right) return right;
      left->name_end = left->end;
      left->value = right->what == expression::kind::string ? unquoted(*right) : right->text;
      left->text += sign + right->text;
      left->end = right->end;
      left->what = plain ? expression::kind::assignment : expression::kind::other;
      left->assignable = false;
      left->unreadable = right->unreadable;
      if (!left->call) left->call = std::move(right->call);
    }
    --depth_;
    return left;
  }

  [[nodiscard]] bool is_assignment() const {
    static constexpr auto signs = std::to_array<std::string_view>(
        {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", "**=", "&&=", "||=", "?\?="});
    return here().kind == token_kind::op && std::ranges::find(signs, here().text) != signs.end();
  }

  [[nodiscard]] static std::string unquoted(const expression& text) {
    return text.text.size() < 2 ? std::string() : text.text.substr(1, text.text.size() - 2);
  }

  static void join(expression& left, expression&& right, std::string_view between) {
    left.text.append(between).append(right.text);
    left.end = right.end;
    left.what = expression::kind::other;
    left.assignable = false;
    left.unreadable = left.unreadable || right.unreadable;
    if (!left.call) left.call = std::move(right.call);
  }

  /// The sign between two operands here; empty: none.
  std::string binary_sign() {
    static constexpr auto signs =
        std::to_array<std::string_view>({"+", "-",  "*",  "/",  "%",  "==", "!=", "===", "!==", "<",
                                         ">", "<=", "&&", "||", "??", "&",  "|",  "^",   "**",  "<<"});
    const bool word = here().is("instanceof") || (!java_ && here().is("in"));
    if (!word && (here().kind != token_kind::op || std::ranges::find(signs, here().text) == signs.end()))
      return {};
    std::string sign(here().text);
    ++at_;
    // Shifts and >=.
    while (sign.back() == '>' && (here().is(">") || here().is("=")) && last_end() == here().begin) {
      sign += here().text;
      ++at_;
    }
    return sign;
  }

  result<expression> operators() {  // NOLINT(misc-no-recursion)
    auto left = prefixed();
    while (left) {
      if (skip("?")) {
        auto then = assignment();
        if (!then) return then;
        if (!skip(":")) return refuse("a ? without its :");
        auto other = assignment();
        if (!other) return other;
        join(*left, *std::move(then), "?");
        join(*left, *std::move(other), ":");
        continue;
      }
      const auto sign = binary_sign();
      if (sign.empty()) break;
      auto right = prefixed();
      if (!right) return right;
      join(*left, *std::move(right), sign);
    }
    return left;
  }

  result<expression> prefixed() {  // NOLINT(misc-no-recursion)
    static constexpr auto signs = std::to_array<std::string_view>({"+", "-", "!", "~", "++", "--"});
    static constexpr auto words = std::to_array<std::string_view>({"typeof", "void", "delete", "await"});
    const bool sign = here().kind == token_kind::op && std::ranges::find(signs, here().text) != signs.end();
    const bool word = !java_ && std::ranges::find(words, here().text) != words.end();
    if (!sign && !word) return chain();
    if (++depth_ > most_depth) return refuse("it is nested too deep");
    expression out{.text = std::string(here().text), .begin = here().begin};
    ++at_;
    auto operand = prefixed();
    if (!operand) return operand;
    join(out, *std::move(operand), "");
    --depth_;
    return out;
  }

  result<expression> chain() {  // NOLINT(misc-no-recursion)
    auto out = primary();
    if (!out) return out;
    std::size_t object_end = 0;  // Of what the last name belongs to; 0: nothing.
    for (int links = 0;; ++links) {
      if (links > most_links) return refuse("it is too long");
      if (here().is(".") || (!java_ && here().is("?.")) || (java_ && here().is("::"))) {
        object_end = out->end;
        const auto sign = here().text;
        ++at_;
        if (here().kind != token_kind::word) return refuse("a dot without a name behind it");
        const bool type = java_ && here().is("class");
        extend(*out, std::string(sign) + raw(here().begin, here().end()), here().end());
        ++at_;
        out->assignable = !type;
        if (type) out->text = raw(out->begin, out->end);
      } else if (here().is("(")) {
        if (auto called = call(*out, object_end); !called) return std::move(called).error();
      } else if (here().is("[") && !(java_ && out->what == expression::kind::other && !out->assignable)) {
        ++at_;
        auto index = assignment();
        if (!index) return index;
        if (!skip("]")) return refuse("a bracket is not closed");
        auto before = std::move(out->call);
        extend(*out, "[" + index->text + "]", last_end());
        out->call = before ? std::move(before) : std::move(index->call);
        out->assignable = true;
      } else if ((here().is("++") || here().is("--")) && !here().after_line) {
        extend(*out, std::string(here().text), here().end());
        ++at_;
      } else {
        return out;
      }
    }
  }

  static void extend(expression& out, const std::string& by, std::size_t end) {
    out.text += by;
    out.end = end;
    out.what = expression::kind::other;
    out.assignable = false;
  }

  result<void> call(expression& out, std::size_t object_end) {  // NOLINT(misc-no-recursion)
    const bool named = out.what == expression::kind::word || out.assignable;
    if (java_ && (!named || out.text.ends_with(']'))) return refuse("what is called has no name");
    python_call made;
    made.name = java_ && object_end > 0
                    ? raw(out.begin, object_end) + "." + raw(tokens_[at_ - 1].begin, tokens_[at_ - 1].end())
                    : raw(out.begin, out.end);
    ++at_;
    auto arguments = list(")");
    if (!arguments) return std::move(arguments).error();
    bool twice = false;
    for (const auto& one : *arguments) twice = !add(made, one) || twice;
    if (twice) made.name.clear();
    out.end = last_end();
    out.text = raw(out.begin, out.end);
    out.what = expression::kind::call;
    out.assignable = false;
    out.call = std::move(made);
    return {};
  }

  /// False where the decoder gives up.
  [[nodiscard]] bool add(python_call& into, const expression& argument) const {
    std::string name;
    std::string value;
    if (argument.what == expression::kind::assignment) {
      if (java_ && argument.unreadable) return false;
      name = raw(argument.begin, argument.name_end);
      value = java_ ? argument.value : script_value(argument);
    } else if (argument.what == expression::kind::word &&
               (java_ ? named(argument.text) : script_named(argument.text))) {
      value = argument.text;
    } else {
      return true;  // Left out.
    }
    const auto same = [&](const auto& held) { return held.first == name; };
    if (std::ranges::any_of(into.arguments, same)) return false;
    into.arguments.emplace_back(std::move(name), python_value(std::move(value)));
    return true;
  }
  /// Of words, those that are values of their own kind have no place without a name.
  static bool named(std::string_view word) {
    return word != "true" && word != "false" && word != "null" && word != "this";
  }
  static bool script_named(std::string_view word) {
    return word == "true" || (named(word) && word != "undefined" && word != "super");
  }

  [[nodiscard]] std::string script_value(const expression& argument) const {
    // Behind the name and the sign, white space aside.
    const auto sign = text_.find('=', argument.name_end);
    const auto from = value_begin(sign + 1);
    std::string value(text_.substr(from, argument.end - from));
    const bool quoted = (value.starts_with('"') && value.ends_with('"')) ||
                        (value.starts_with('\'') && value.ends_with('\''));
    if (quoted) value = value.size() < 2 ? std::string() : value.substr(1, value.size() - 2);
    return value;
  }
  [[nodiscard]] std::size_t value_begin(std::size_t behind) const {
    const auto found = std::ranges::lower_bound(tokens_, behind, {}, &token::begin);
    return found == tokens_.end() ? behind : found->begin;
  }

  /// Expressions up to `close`, which is taken, too.
  result<std::vector<expression>> list(std::string_view close) {  // NOLINT(misc-no-recursion)
    std::vector<expression> out;
    if (skip(close)) return out;
    for (;;) {
      // JavaScript leaves places in a list empty.
      while (!java_ && skip(",")) {
      }
      if (!java_ && skip(close)) return out;
      if (!java_) skip("...");
      auto one = assignment();
      if (!one) return std::move(one).error();
      out.push_back(*std::move(one));
      if (skip(close)) return out;
      if (!skip(",")) return refuse("a bracket is not closed");
    }
  }

  /// From an opening bracket to behind its end.
  result<void> skip_balanced() {
    int open = 0;
    do {
      if (here().kind == token_kind::end) return refuse("a bracket is not closed");
      if (here().is("{") || here().is("(") || here().is("[")) ++open;
      if (here().is("}") || here().is(")") || here().is("]")) --open;
      ++at_;
    } while (open > 0);
    return {};
  }

  result<expression> primary() {  // NOLINT(misc-no-recursion)
    expression out{.begin = here().begin};
    if (here().is("new")) return creation();
    if (here().is("(")) return parenthesised();
    if (!java_ && (here().is("[") || here().is("{") || here().is("function") || here().is("async"))) {
      while (!here().is("[") && !here().is("{") && here().kind != token_kind::end) {
        if (here().is("(")) {
          if (auto skipped = skip_balanced(); !skipped) return std::move(skipped).error();
        } else {
          ++at_;
        }
      }
      if (here().is("[")) {
        ++at_;
        if (auto elements = list("]"); !elements) return std::move(elements).error();
      } else if (auto skipped = skip_balanced(); !skipped) {
        return std::move(skipped).error();
      }
      out.end = last_end();
      return out;
    }
    // BFCL's parser takes a name to be missing before a bracket that begins a statement.
    if (java_ && here().is("[") && at_ == statement_) {
      out.end = here().begin;
      out.assignable = true;
      return out;
    }
    const token& one = here();
    if (one.kind == token_kind::op || one.kind == token_kind::end) return refuse("an operand is missing");
    if (one.kind == token_kind::word && std::ranges::find(reserved, one.text) != reserved.end())
      return refuse("a statement is no call");
    ++at_;
    out.text = raw(one.begin, one.end());
    out.end = one.end();
    if (one.kind == token_kind::string) out.what = expression::kind::string;
    if (one.kind == token_kind::word) {
      out.what = expression::kind::word;
      out.assignable = named(one.text);
    }
    if (here().is("->") || here().is("=>")) return lambda(std::move(out));
    return out;
  }

  result<expression> lambda(expression&& parameters) {  // NOLINT(misc-no-recursion)
    const std::string sign(here().text);
    ++at_;
    if (here().is("{")) {
      const auto from = here().begin;
      if (auto skipped = skip_balanced(); !skipped) return std::move(skipped).error();
      join(parameters, {.text = raw(from, last_end()), .begin = from, .end = last_end()}, sign);
      return std::move(parameters);
    }
    auto body = assignment();
    if (!body) return body;
    join(parameters, *std::move(body), sign);
    return std::move(parameters);
  }

  result<expression> parenthesised() {  // NOLINT(misc-no-recursion)
    expression out{.text = "(", .begin = here().begin};
    ++at_;
    auto inside = list(")");
    if (!inside) return std::move(inside).error();
    const bool arrow = here().is("->") || here().is("=>");
    if (inside->empty() && !arrow) return refuse("brackets with nothing in them");
    if (java_ && inside->size() > 1 && !arrow) return refuse("a list is no value");
    for (std::size_t i = 0; i < inside->size(); ++i) join(out, std::move((*inside)[i]), i > 0 ? "," : "");
    out.text += ")";
    out.end = last_end();
    if (arrow) return lambda(std::move(out));
    const auto& after = here();
    const bool cast = java_ &&
                      (after.kind == token_kind::word || after.kind == token_kind::number ||
                       after.kind == token_kind::string || after.is("(")) &&
                      !after.is("instanceof");
    if (!cast) return out;
    if (++depth_ > most_depth) return refuse("it is nested too deep");
    auto operand = prefixed();
    if (!operand) return operand;
    join(out, *std::move(operand), "");
    --depth_;
    return out;
  }

  result<expression> creation() {  // NOLINT(misc-no-recursion)
    expression out{.begin = here().begin};
    ++at_;
    if (here().kind != token_kind::word) return refuse("\"new\" without a type");
    std::string type;
    int open = 0;
    while (here().kind == token_kind::word || here().is(".") || here().is("<") || open > 0) {
      if (here().kind == token_kind::end) return refuse("a type is not closed");
      if (here().is("<")) ++open;
      if (here().is(">")) --open;
      type += raw(here().begin, here().end());
      ++at_;
    }
    out.text = "new " + type;
    if (here().is("[") && java_) return created_array(std::move(out));
    if (skip("(")) {
      auto arguments = list(")");
      if (!arguments) return std::move(arguments).error();
      out.text += "(";
      for (std::size_t i = 0; i < arguments->size(); ++i) {
        auto& one = (*arguments)[i];
        out.text += (i > 0 ? ", " : "") + one.text;
        out.unreadable = out.unreadable || one.unreadable;
        if (!out.call) out.call = std::move(one.call);
      }
      out.text += ")";
    } else if (java_) {
      return refuse("\"new\" without arguments");
    }
    if (java_ && here().is("{")) {
      if (auto skipped = skip_balanced(); !skipped) return std::move(skipped).error();
    }
    out.end = last_end();
    return out;
  }

  result<expression> created_array(expression&& out) {  // NOLINT(misc-no-recursion)
    while (skip("[")) {
      if (skip("]")) continue;
      if (auto size = assignment(); !size) return size;
      if (!skip("]")) return refuse("a bracket is not closed");
    }
    out.text += "[]";
    if (here().is("{")) {
      auto elements = initializer();
      if (!elements) return std::move(elements).error();
      out.text += *elements;
    } else {
      out.unreadable = true;
    }
    out.end = last_end();
    return std::move(out);
  }

  result<std::string> initializer() {  // NOLINT(misc-no-recursion)
    if (++depth_ > most_depth) return refuse("it is nested too deep");
    std::string out = "{";
    ++at_;
    while (!skip("}")) {
      if (here().is("{")) {
        auto inner = initializer();
        if (!inner) return inner;
        out += *inner;
      } else {
        auto one = assignment();
        if (!one) return std::move(one).error();
        out += one->text;
      }
      if (skip(",")) {
        out += ",";
      } else if (!here().is("}")) {
        return refuse("a bracket is not closed");
      }
    }
    --depth_;
    return out + "}";
  }

  std::string_view text_;
  bool java_;
  std::vector<token> tokens_;
  std::vector<std::size_t> characters_;  ///< Where each begins, and the end.
  std::size_t at_ = 0;
  std::size_t statement_ = 0;  ///< Where this one begins.
  int depth_ = 0;
  std::optional<python_call> found_;
};

}  // namespace

result<python_call> read_call(std::string_view text, call_language in) {
  auto tokens = tokenize(text, in);
  if (!tokens) return std::move(tokens).error();
  return parser(text, in, *std::move(tokens)).run();
}

}  // namespace evalcore::chat::source
