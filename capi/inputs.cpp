#include "inputs.hpp"

#include <evalcore/base/utf8.hpp>

#include "error.hpp"

namespace evalcore::capi {
namespace {

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto step = first_utf8(text);
    if (!step.valid) return false;
    text.remove_prefix(step.bytes);
  }
  return true;
}

}  // namespace

error misuse(std::string message, std::string detail) {
  auto wrong = fail(errc::invalid_argument, stage::config, std::move(message));
  wrong.detail = std::move(detail);
  return wrong;
}

result<std::string> read_text(evc_str given, const char* what) {
  if (given.size > 0 && given.data == nullptr) {
    return misuse(std::string(what) + " has a size but no data", "null");
  }
  if (!is_utf8(view(given))) return misuse(std::string(what) + " is not UTF-8", "not_utf8");
  return std::string(view(given));
}

result<engine::evaluation> read_evaluation(evc_str given) {
  const auto word = read_text(given, "evaluation");
  if (!word) return word.error();
  if (*word == "parity") return engine::evaluation::parity;
  if (*word == "fast") return engine::evaluation::fast;
  return misuse("evaluation is neither parity nor fast");
}

result<chat::token_ids> read_tokens(evc_tokens given, const char* what) {
  if (given.size > 0 && given.data == nullptr) {
    return misuse(std::string(what) + " have a size but no data", "null");
  }
  chat::token_ids read;
  read.reserve(given.size);
  for (std::size_t i = 0; i < given.size; ++i) {
    if (given.data[i] < 0) return misuse(std::string(what) + " hold a negative id");
    read.push_back(static_cast<std::uint32_t>(given.data[i]));
  }
  return read;
}

}  // namespace evalcore::capi
