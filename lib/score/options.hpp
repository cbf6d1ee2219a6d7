#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>

namespace evalcore::score {

/// What a scorer is told beside its name. Errors: invalid_argument, naming scorer and option.
class options {
 public:
  options(std::string scorer, json::object members)
      : scorer_(std::move(scorer)), members_(std::move(members)) {}

  /// Refuses what is not among the names.
  [[nodiscard]] result<void> only(std::initializer_list<std::string_view> names) const;
  [[nodiscard]] result<bool> flag(std::string_view name, bool otherwise) const;
  [[nodiscard]] result<std::optional<std::string>> text(std::string_view name) const;
  [[nodiscard]] result<std::optional<std::int64_t>> number(std::string_view name) const;
  [[nodiscard]] error wrong(std::string_view name, std::string_view why) const;

 private:
  [[nodiscard]] const json::value* find(std::string_view name) const;

  std::string scorer_;
  json::object members_;  ///< The name aside.
};

}  // namespace evalcore::score
