#include "score/bfcl_check.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "score/text.hpp"

namespace evalcore::score {
namespace {

using reason = std::optional<mismatch>;

mismatch because(std::string why) { return {std::move(why), false}; }

const chat::python_value* argument(const chat::python_call& call, std::string_view name) {
  for (const auto& [held, value] : call.arguments) {
    if (held == name) return &value;
  }
  return nullptr;
}

bool names_match(const std::string& expected, const std::string& got, bool native) {
  if (got == expected) return true;
  std::string underscored = expected;
  std::ranges::replace(underscored, '.', '_');
  return native && got == underscored;
}

bool optional(const std::vector<chat::python_value>& accepted) {
  const chat::python_value empty{std::string()};
  return std::ranges::any_of(accepted, [&](const auto& one) { return one == empty; });
}

/// Arguments in Java and JavaScript are source text, also of native calls.
result<chat::python_value> read_value(chat::call_language in, const declared_type& type,
                                      const chat::python_value& given) {
  if (in == chat::call_language::python) return given;
  const auto* text = std::get_if<std::string>(&given.state);
  if (text == nullptr) {
    return fail(errc::bad_reply, stage::score,
                "got " + clipped(chat::repr(given)) + ", expected a string with its source text");
  }
  return in == chat::call_language::java ? java_value(*text, type.word, type.nested_word)
                                         : javascript_value(*text, type.word, type.nested_word);
}

struct checker {
  const expected_calls& expected;
  bool native;
  bfcl_rules how;

  [[nodiscard]] reason why_wrong_argument(const expected_call& one, const std::string& name,
                                          const chat::python_value& given) const {
    const auto* accepted = one.accepted_for(name);
    const auto type = one.parameters.find(name);
    if (accepted == nullptr || type == one.parameters.end())
      return because("unexpected parameter " + clipped(name));
    const auto value = read_value(expected.language, type->second, given);
    if (!value) {
      return mismatch{"parameter " + name + ": " + value.error().message,
                      value.error().code == errc::unsupported};
    }
    auto why = how == bfcl_rules::strict ? why_wrong_strictly(type->second, *accepted, *value)
                                         : why_wrong_value(type->second, *accepted, *value);
    if (why) why->why.insert(0, "parameter " + name + ": ");
    return why;
  }

  [[nodiscard]] reason why_wrong_call(const expected_call& one, const chat::python_call& call) const {
    if (!names_match(one.function, call.name, native)) {
      return because("got function " + clipped(call.name) + ", expected " + one.function);
    }
    for (const auto& name : one.required) {
      if (argument(call, name) == nullptr) return because("required parameter " + name + " is missing");
    }
    for (const auto& [name, value] : call.arguments) {
      if (auto why = why_wrong_argument(one, name, value)) return why;
    }
    for (const auto& [name, accepted] : one.accepted) {
      if (argument(call, name) == nullptr && !optional(accepted)) {
        return because("parameter " + name + " is missing, and the target does not mark it as optional");
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::string> first_that_fits(
      const std::vector<chat::python_call>& calls) const {
    std::vector<bool> taken(calls.size());
    for (const auto& one : expected.calls) {
      reason why;
      for (std::size_t at = 0; at < calls.size(); ++at) {
        if (taken[at]) continue;
        why = why_wrong_call(one, calls[at]);
        if (!why) {
          taken[at] = true;
          break;
        }
        if (why->raises) break;
      }
      if (why) return expected.calls.size() == 1 ? why->why : unmatched(one, why->why);
    }
    return std::nullopt;
  }

  static std::string unmatched(const expected_call& one, const std::string& why) {
    return "no call fits what is expected of " + one.function + "; the last one left: " + why;
  }

  /// A matching of all, by augmenting paths.
  [[nodiscard]] std::optional<std::string> all_that_can(const std::vector<chat::python_call>& calls) const {
    std::vector<std::vector<bool>> fits;
    std::vector<std::string> last(expected.calls.size());
    for (std::size_t one = 0; one < expected.calls.size(); ++one) {
      auto& row = fits.emplace_back(calls.size());
      for (std::size_t at = 0; at < calls.size(); ++at) {
        const auto why = why_wrong_call(expected.calls[one], calls[at]);
        row[at] = !why;
        if (why) last[one] = why->why;
      }
    }
    constexpr auto free = static_cast<std::size_t>(-1);
    std::vector<std::size_t> owner(calls.size(), free);
    for (std::size_t one = 0; one < fits.size(); ++one) {
      std::vector<bool> seen(calls.size());
      const auto place = [&](const auto& again, std::size_t whose) -> bool {  // NOLINT(misc-no-recursion)
        for (std::size_t at = 0; at < calls.size(); ++at) {
          if (!fits[whose][at] || seen[at]) continue;
          seen[at] = true;
          if (owner[at] != free && !again(again, owner[at])) continue;
          owner[at] = whose;
          return true;
        }
        return false;
      };
      if (place(place, one)) continue;
      return fits.size() == 1 ? last[one] : unmatched(expected.calls[one], last[one]);
    }
    return std::nullopt;
  }
};

}  // namespace

std::optional<std::string> why_wrong(const expected_calls& expected,
                                     const std::vector<chat::python_call>& calls, bool native,
                                     bfcl_rules how) {
  using enum expected_calls::kind;
  if (expected.what == no_call) {
    return calls.empty() ? std::nullopt : std::optional<std::string>("got a call, expected none");
  }
  if (expected.what == some_call) {
    return calls.empty() ? std::optional<std::string>("got no call, expected one") : std::nullopt;
  }
  if (calls.size() != expected.calls.size()) {
    return "got " + std::to_string(calls.size()) + " calls, expected " +
           std::to_string(expected.calls.size());
  }
  const checker with{expected, native, how};
  return how == bfcl_rules::strict ? with.all_that_can(calls) : with.first_that_fits(calls);
}

}  // namespace evalcore::score
