#include "score/options.hpp"

#include <algorithm>

namespace evalcore::score {

const json::value* options::find(std::string_view name) const {
  const auto found = std::ranges::find(members_, name, &std::pair<std::string, json::value>::first);
  return found == members_.end() || found->second.is_null() ? nullptr : &found->second;
}

error options::wrong(std::string_view name, std::string_view why) const {
  return fail(errc::invalid_argument, stage::suite,
              "scorer " + scorer_ + ": \"" + std::string(name) + "\" " + std::string(why));
}

result<void> options::only(std::initializer_list<std::string_view> names) const {
  for (const auto& [name, value] : members_) {
    if (std::ranges::find(names, name) != names.end()) continue;
    std::string known;
    for (const auto one : names) known.append(known.empty() ? "; there are: " : ", ").append(one);
    return wrong(name, "is none of its options" + known);
  }
  return {};
}

result<bool> options::flag(std::string_view name, bool otherwise) const {
  const auto* held = find(name);
  if (held == nullptr) return otherwise;
  const auto* set = held->if_bool();
  return set != nullptr ? result<bool>(*set) : wrong(name, "is neither true nor false");
}

result<std::optional<std::string>> options::text(std::string_view name) const {
  const auto* held = find(name);
  if (held == nullptr) return std::optional<std::string>();
  const auto* text = held->if_string();
  if (text == nullptr || text->empty()) return wrong(name, "is no string with something in it");
  return std::optional(*text);
}

result<std::optional<std::int64_t>> options::number(std::string_view name) const {
  const auto* held = find(name);
  if (held == nullptr) return std::optional<std::int64_t>();
  const auto* number = held->if_int();
  if (number == nullptr || *number < 0) return wrong(name, "is no whole number of 0 or more");
  return std::optional(*number);
}

}  // namespace evalcore::score
