#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>

namespace evalcore::chat {

struct python_call;

/// A value as a Python call expression spells it: what JSON has, plus what a checker must tell apart
/// (tuple from list, 5 from 5.0, True from 1) and calls as arguments.
class python_value {
 public:
  struct none {
    friend bool operator==(none, none) = default;
  };
  struct tuple {
    std::vector<python_value> elements;
    friend bool operator==(const tuple& a, const tuple& b);
  };
  struct list {
    std::vector<python_value> elements;
    friend bool operator==(const list& a, const list& b);
  };
  struct dict {
    std::vector<std::pair<python_value, python_value>> items;  ///< In order; a repeated key stands once.
    friend bool operator==(const dict& a, const dict& b);
  };
  /// An integer beyond 64 bits, as its decimal digits.
  struct big_int {
    std::string digits;
    friend bool operator==(const big_int&, const big_int&) = default;
  };
  using variant = std::variant<none, bool, std::int64_t, big_int, double, std::string, list, tuple, dict>;

  python_value() = default;
  python_value(variant held) : state(std::move(held)) {}  // NOLINT: implicit by design

  variant state;
  friend bool operator==(const python_value& a, const python_value& b);
};

/// f(a=1, b="x"): the dotted name and the keyword arguments in order. Positional arguments are dropped,
/// as BFCL's decoder does; of an argument given twice the last one stands.
struct python_call {
  std::string name;
  std::vector<std::pair<std::string, python_value>> arguments;
};

/// Reads `[f(a=1), g.h(b="x")]` or a single call, the way BFCL's prompting mode reads an answer: back
/// ticks, blanks and newlines around it are stripped, missing outer brackets are supplied, anything that
/// is not a list of calls is an error (bad_reply: the model did not give a call). An argument becomes a
/// value the way that decoder does it:
///   - a bare name is its text (true is "true"), `...` is "...", any sign in front of a number is a minus;
///   - constant arithmetic is computed (1/2 is 0.5);
///   - a call with keywords is {name: {keyword: value}}; one without, and x[i], are their source text.
/// Valid Python that is an error here: lambdas, comprehensions, sets, conditionals, comparisons, and/or,
/// await and yield, bytes, f-strings, \N{…}, lone surrogates, complex numbers, unpacked arguments (*x in a
/// list, **x), arithmetic on anything but numbers and on strings but for +, integers that leave 64 bits in
/// arithmetic, integers of more than 4,300 digits, brackets more than 200 deep. Most of these are errors
/// for BFCL's decoder as well; none of the others can be the answer to an item. Takes linear time.
[[nodiscard]] result<std::vector<python_call>> decode_calls(std::string_view text);

/// In which language calls are written.
enum class call_language : std::uint8_t { python, java, javascript };

/// The same for calls in Java and JavaScript, each value as its source text (BFCL's checker makes values of
/// them); there is one call at most. BFCL's decoder is followed where it is odd: in Java white space and the
/// bodies of anonymous classes go, and behind a character beyond ASCII everything is cut as many places
/// too late as its UTF-8 has bytes more.
[[nodiscard]] result<std::vector<python_call>> decode_calls(std::string_view text, call_language in);

/// Native tool calls in the same form, arguments parsed from their JSON text; empty or absent arguments
/// are an empty object. Errors: bad_reply when the text is not a JSON object.
[[nodiscard]] result<std::vector<python_call>> calls_from_native(const std::vector<tool_call>& calls);

/// JSON as Python's json.loads gives it.
[[nodiscard]] python_value from_json(const json::value& value);
/// The value as JSON. A tuple becomes an array, a key that is no string its text, an integer beyond 64 bits
/// a string of its digits.
[[nodiscard]] json::value to_json(const python_value& value);
/// Python's ==: 1, 1.0 and True are equal, (1,) and [1] are not, the order of a dict does not count.
[[nodiscard]] bool python_equal(const python_value& a, const python_value& b);
/// Python's repr(), for messages.
[[nodiscard]] std::string repr(const python_value& value);
/// The call as source text: f(a=1, b='x').
[[nodiscard]] std::string repr(const python_call& call);

}  // namespace evalcore::chat
