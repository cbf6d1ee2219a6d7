#include <evalcore/wire/dialect.hpp>

#include <algorithm>

#include <evalcore/base/json.hpp>

#include "wire/dialect_table.hpp"

namespace evalcore::wire {
namespace {

constexpr int ok = 200;

bool member_is_true(std::string_view body, std::string_view member) {
  const auto answer = json::parse(body);
  const auto* value = answer ? answer->find(member) : nullptr;
  const auto* flag = value == nullptr ? nullptr : value->if_bool();
  return flag != nullptr && *flag;
}

}  // namespace

std::span<const dialect> dialects() noexcept { return dialect_table::rows; }

bool broke_off(std::string_view finish_reason) noexcept {
  return std::ranges::find(dialect_table::broken_off, finish_reason) != dialect_table::broken_off.end();
}

const dialect* dialect_of_owner(std::string_view owned_by) noexcept {
  if (owned_by.empty()) return nullptr;
  const auto* found = std::ranges::find(dialect_table::rows, owned_by, &dialect::owned_by);
  return found == dialect_table::rows.end() ? nullptr : found;
}

const dialect* find_dialect(std::string_view name) noexcept {
  const auto* found = std::ranges::find(dialect_table::rows, name, &dialect::name);
  return found == dialect_table::rows.end() ? nullptr : found;
}

bool dialect::ignores_field(std::string_view field) const noexcept {
  return std::ranges::find(ignores, field) != ignores.end();
}

bool says_ready(const dialect& ways, int status, std::string_view body) {
  const auto& rule = ways.ready;
  const bool answered = rule.status == ready_rule::bound::ok ? status == ok : status < 500;
  return answered && (rule.member.empty() || member_is_true(body, rule.member));
}

const error_sign* read_error_words(std::string_view type, std::string_view code,
                                   std::string_view message) noexcept {
  for (const auto& one : dialects()) {
    for (const auto& sign : one.error_codes) {
      if (type == sign.text || code == sign.text) return &sign;
    }
  }
  for (const auto& one : dialects()) {
    for (const auto& sign : one.error_phrases) {
      if (message.find(sign.text) != std::string_view::npos) return &sign;
    }
  }
  return nullptr;
}

}  // namespace evalcore::wire
