#include <evalcore/engine/request.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include <evalcore/engine/refusal.hpp>

namespace evalcore::engine {
namespace {

error invalid(std::string_view field, std::string_view range, double value) {
  return refused(refusal::invalid_request,
                 std::string(field) + " must be " + std::string(range) + ", not " + std::to_string(value));
}
error invalid(std::string message) { return refused(refusal::invalid_request, std::move(message)); }
error invalid_control(std::string_view name, std::string_view why) {
  return refused(refusal::invalid_controls,
                 "sampling control '" + std::string(name) + "' " + std::string(why));
}

result<void> check(const sampling& how) {
  if (!(how.temperature >= 0) || !std::isfinite(how.temperature)) {
    return invalid("temperature", "0 or more and finite", how.temperature);
  }
  if (!(how.top_p > 0 && how.top_p <= 1)) return invalid("top_p", "above 0 and at most 1", how.top_p);
  if (!(how.min_p >= 0 && how.min_p <= 1)) return invalid("min_p", "0 to 1", how.min_p);
  if (!(how.repetition_penalty > 0) || !std::isfinite(how.repetition_penalty)) {
    return invalid("repetition_penalty", "above 0 and finite", how.repetition_penalty);
  }
  if (!std::isfinite(how.presence_penalty)) {
    return invalid("presence_penalty", "finite", how.presence_penalty);
  }
  if (!std::isfinite(how.frequency_penalty)) {
    return invalid("frequency_penalty", "finite", how.frequency_penalty);
  }
  for (const auto& [id, bias] : how.logit_bias) {
    if (id < 0 || std::isnan(bias)) return invalid("logit_bias must give a number to each token id");
  }
  return {};
}

bool blank(std::string_view text) noexcept { return text.find_first_not_of(" \t\r\n") == text.npos; }

result<void> read_bias(const json::value& given, std::vector<std::pair<token, double>>& to) {
  const auto* members = given.if_object();
  if (members == nullptr) return invalid_control("logit_bias", "must be an object from token id to number");
  std::vector<std::pair<token, double>> read;
  for (const auto& [key, value] : *members) {
    token id = 0;
    const auto [end, problem] = std::from_chars(key.data(), key.data() + key.size(), id);
    double storage = 0;
    const auto* bias = value.as_double(storage);
    if (problem != std::errc() || end != key.data() + key.size() || id < 0 || bias == nullptr) {
      return invalid_control("logit_bias", "must be an object from token id to number");
    }
    read.emplace_back(id, *bias);
  }
  to = std::move(read);
  return {};
}

struct numeric_control {
  std::string_view name;
  double sampling::* field;
};
constexpr std::array numeric_controls{
    numeric_control{"min_p", &sampling::min_p},
    numeric_control{"repetition_penalty", &sampling::repetition_penalty},
    numeric_control{"presence_penalty", &sampling::presence_penalty},
    numeric_control{"frequency_penalty", &sampling::frequency_penalty},
};
constexpr std::array<std::string_view, 7> fields{
    "max_tokens", "temperature", "top_p", "top_k", "seed", "stop", "logprobs",
};

}  // namespace

result<void> check(const request& what) {
  const auto* tokens = std::get_if<std::vector<token>>(&what.prompt);
  if (tokens != nullptr && tokens->empty()) return invalid("the prompt has no token");
  const auto* turns = std::get_if<chat::request>(&what.prompt);
  if (turns != nullptr && turns->messages.empty()) return invalid("the request has no message");
  if (what.max_tokens == 0U) return invalid("max_tokens must be at least 1, not 0");
  if (auto fine = check(what.how); !fine) return fine;
  if (std::ranges::any_of(what.stop, &std::string::empty)) return invalid("a stop string must not be empty");
  if (std::ranges::any_of(what.continuations, &std::vector<token>::empty)) {
    return invalid("a continuation must have a token");
  }
  for (const auto& one : what.media) {
    if (one.bytes.empty()) return invalid("image " + std::to_string(one.index) + " has no bytes");
  }
  if (what.share && blank(what.share->scope)) return invalid("the cache scope must not be blank");
  return {};
}

result<void> set_controls(const json::object& named, sampling& how) {
  for (const auto& [name, value] : named) {
    if (std::ranges::find(fields, name) != fields.end()) {
      return invalid_control(name, "is reserved: set the request's own field");
    }
    const auto numeric = std::ranges::find(numeric_controls, name, &numeric_control::name);
    if (numeric == numeric_controls.end() && name != "logit_bias") {
      return invalid_control(name, "is not supported");
    }
    if (value.is_null()) continue;
    if (numeric == numeric_controls.end()) {
      if (auto fine = read_bias(value, how.logit_bias); !fine) return fine;
      continue;
    }
    double storage = 0;
    const auto* number = value.as_double(storage);
    if (number == nullptr) return invalid_control(name, "must be a number");
    how.*(numeric->field) = *number;
  }
  return {};
}

bool batchable(const request& what, const traits& engine, bool per_row_sampling) noexcept {
  if (per_row_sampling && engine.per_row_sampling) return true;
  const auto& how = what.how;
  return how.temperature == 0 && how.min_p == 0 && how.repetition_penalty == 1 && how.presence_penalty == 0 &&
         how.frequency_penalty == 0 && how.logit_bias.empty();
}

}  // namespace evalcore::engine
