#include "chat/python_arithmetic.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace evalcore::chat::python {
namespace {

using integer = std::int64_t;

error refuse() {
  return fail(errc::bad_reply, stage::decode, "not a list of calls: arithmetic that cannot be evaluated");
}

/// Python's floor division and remainder: the remainder has the sign of the divisor.
integer floor_divide(integer a, integer b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

double floor_remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (b < 0) != (rest < 0) ? rest + b : rest;
}

double floor_divide(double a, double b) {
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

std::optional<integer> power(integer base, integer exponent) {
  integer out = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(out, base, &out)) return std::nullopt;
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return std::nullopt;
  }
  return out;
}

std::optional<double> power(double base, double exponent) {
  if (base == 0 && exponent < 0) return std::nullopt;
  const double out = std::pow(base, exponent);
  const bool overflow = std::isinf(out) && std::isfinite(base) && std::isfinite(exponent);
  return overflow ? std::nullopt : std::optional(out);
}

std::optional<integer> on_integers(std::string_view op, integer a, integer b) {
  integer out = 0;
  if (op == "+") return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
  if (op == "-") return __builtin_sub_overflow(a, b, &out) ? std::nullopt : std::optional(out);
  if (op == "*") return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
  const bool whole = b != 0 && !(a == std::numeric_limits<integer>::min() && b == -1);
  if (op == "//" && whole) return floor_divide(a, b);
  if (op == "%" && whole) return a - floor_divide(a, b) * b;
  if (op == "**") return power(a, b);
  if (op == "&") return a & b;
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  if (op == ">>" && b >= 0) return a >> std::min<integer>(b, 63);
  if (op == "<<" && b >= 0 && b < 63) return on_integers("*", a, integer{1} << b);
  return std::nullopt;
}

std::optional<double> on_doubles(std::string_view op, double a, double b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "**") return power(a, b);
  if (b == 0) return std::nullopt;
  if (op == "/") return a / b;
  if (op == "//") return floor_divide(a, b);
  return op == "%" ? std::optional(floor_remainder(a, b)) : std::nullopt;
}

std::optional<integer> as_integer(const python_value& value) {
  if (const auto* number = std::get_if<integer>(&value.state)) return *number;
  if (const auto* flag = std::get_if<bool>(&value.state)) return *flag ? 1 : 0;
  return std::nullopt;
}

std::optional<double> as_double(const python_value& value) {
  if (const auto* real = std::get_if<double>(&value.state)) return *real;
  if (const auto number = as_integer(value)) return static_cast<double>(*number);
  return std::nullopt;
}

/// Beyond this a quotient of two integers is not what dividing two doubles gives.
bool exact_as_double(integer number) { return std::abs(static_cast<double>(number)) <= 0x1p53; }

result<python_value> combine(std::string_view op, const python_value& left, const python_value& right) {
  const auto* head = std::get_if<std::string>(&left.state);
  const auto* tail = std::get_if<std::string>(&right.state);
  if (head != nullptr && tail != nullptr && op == "+") return python_value(*head + *tail);

  const auto a = as_integer(left);
  const auto b = as_integer(right);
  const bool real = op == "/" || (op == "**" && b.value_or(0) < 0);
  if (a && b && !real) {
    const auto out = on_integers(op, *a, *b);
    return out ? result<python_value>(python_value(*out)) : refuse();
  }
  if (a && b && (!exact_as_double(*a) || !exact_as_double(*b))) return refuse();
  const auto x = as_double(left);
  const auto y = as_double(right);
  if (!x || !y) return refuse();
  const auto out = on_doubles(op, *x, *y);
  return out && !std::isnan(*out) ? result<python_value>(python_value(*out)) : refuse();
}

}  // namespace

result<python_value> negate(const python_value& value) {
  if (const auto* real = std::get_if<double>(&value.state)) return python_value(-*real);
  if (const auto number = as_integer(value)) {
    return *number == std::numeric_limits<integer>::min() ? result<python_value>(refuse())
                                                          : python_value(-*number);
  }
  if (const auto* big = std::get_if<python_value::big_int>(&value.state)) {
    if (big->digits == "9223372036854775808") return python_value(std::numeric_limits<integer>::min());
    return python_value(python_value::big_int{"-" + big->digits});
  }
  return refuse();
}

result<python_value> evaluate(const tree& all,
                              node_id id) {  // NOLINT(misc-no-recursion): bounded by tree_depth
  const node& here = all[id];
  if (here.kind == node_kind::constant) return here.value;
  if (here.kind != node_kind::unary && here.kind != node_kind::binary) return refuse();
  auto left = evaluate(all, here.children[0]);
  if (!left) return left;
  if (here.kind == node_kind::binary) {
    const auto right = evaluate(all, here.children[1]);
    return right ? combine(here.text, *left, *right) : right;
  }
  if (here.text == "-") return negate(*left);
  const auto number = as_integer(*left);
  if (here.text == "+")
    return number ? python_value(*number) : as_double(*left) ? *left : result<python_value>(refuse());
  if (here.text == "~" && number) return python_value(~*number);
  return refuse();
}

}  // namespace evalcore::chat::python
