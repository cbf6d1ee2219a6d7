#include "argument_secrets.hpp"

#include <string_view>

#include <evalcore/base/json.hpp>

namespace evalcore::cli {
namespace {

/// Where the secret part of argument `at` begins; npos: it has none.
std::size_t secret_begin(int at, const char* const* argv) {
  const std::string_view word = argv[at];
  const std::string_view before = at > 1 ? argv[at - 1] : "";
  for (const std::string_view option : {"--header", "--query", "--api-key-command", "--backend-arg"}) {
    std::size_t value = std::string_view::npos;
    if (before == option) value = 0;
    if (word.starts_with(option) && word.substr(option.size()).starts_with('=')) value = option.size() + 1;
    if (value == std::string_view::npos) continue;
    if (option == "--backend-arg") return value;  // Perhaps the key that the server is to ask for.
    // What a command is called and which variable is read is no secret.
    const bool is_command = option == "--api-key-command";
    const auto cut = word.find(is_command ? ' ' : '=', value);
    if (cut == std::string_view::npos) return cut;
    return !is_command && word.substr(cut + 1).starts_with("env:") ? std::string_view::npos : cut + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::string arguments_as_json(int argc, const char* const* argv) {
  json::array words;
  for (int i = 1; i < argc; ++i) {
    const auto begin = secret_begin(i, argv);
    const std::string word = argv[i];
    words.emplace_back(begin == std::string::npos ? word : word.substr(0, begin) + "***");
  }
  return json::to_text(json::object{{"arguments", std::move(words)}});
}

void hide_secrets(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const auto begin = secret_begin(i, argv);
    if (begin == std::string_view::npos) continue;
    for (char* at = argv[i] + begin; *at != '\0'; ++at) *at = '*';
  }
}

}  // namespace evalcore::cli
