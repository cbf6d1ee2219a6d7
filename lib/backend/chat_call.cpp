#include <evalcore/backend/chat_call.hpp>

#include <algorithm>
#include <optional>
#include <string_view>

#include <evalcore/base/ascii.hpp>
#include <evalcore/wire/dialect.hpp>

#include "backend/chat_codec.hpp"

namespace evalcore::backend {
namespace {

std::string value_of(const std::map<std::string, std::string>& identity, const std::string& key) {
  const auto found = identity.find(key);
  return found != identity.end() ? found->second : std::string();
}

openai_api api_of(const std::string& named) {
  if (named == "responses") return openai_api::responses;
  return named == "completions" ? openai_api::completions : openai_api::chat;
}

/// One word of the shell, whatever it holds.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(char c) { return is_digit(c) || (ascii::lower(c) >= 'a' && ascii::lower(c) <= 'z') || c == '_'; }

/// Whether the shell takes it for a variable's name.
bool is_variable(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) && std::ranges::all_of(name, is_word);
}

/// A word whose end is what an environment variable holds.
std::string with_variable(std::string_view text, const std::string& variable) {
  return quoted(text) + "\"$" + variable + "\"";
}

/// The variable that a value is read from, or one to put it into.
std::string variable_of(const named_value& one) {
  constexpr std::string_view from = "env:";
  if (one.value.starts_with(from) && is_variable(one.value.substr(from.size())))
    return one.value.substr(from.size());
  std::string out;
  for (const char c : one.name)
    out += !is_word(c) ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return is_variable(out) ? out : "VALUE_" + out;
}

std::string address(const chat_call& of, const std::string& base_url, const credentials& opens) {
  std::string at = base_url;
  while (at.ends_with('/')) at.pop_back();
  if (at.ends_with("/v1")) at.resize(at.size() - 3);
  std::string out =
      base_url.empty() ? "'http://127.0.0.1:'\"$PORT\"" + quoted(of.path) : quoted(at + of.path);
  for (std::size_t i = 0; i < opens.query.size(); ++i) {
    out += with_variable((i == 0 ? "?" : "&") + opens.query[i].name + "=", variable_of(opens.query[i]));
  }
  return out;
}

/// Empty: no key is sent.
std::string key_header(const chat_call& of, const credentials& opens) {
  if (opens.key_env.empty() && opens.key_file.empty() && opens.key_command.empty()) return {};
  const std::string own = of.messages ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
  const auto variable = is_variable(opens.key_env) ? opens.key_env : own;
  const bool bearer = opens.where == credentials::placement::bearer ||
                      (opens.where == credentials::placement::usual && !of.messages);
  return with_variable(bearer ? "Authorization: Bearer " : "x-api-key: ", variable);
}

}  // namespace

result<chat_call> chat_call_of(const std::map<std::string, std::string>& identity,
                               const chat::request& request, bool stream, wire::anthropic_version version) {
  const auto* ways = wire::find_dialect(value_of(identity, "dialect"));
  const auto selector = value_of(identity, "selector");
  if (ways == nullptr) {
    return fail(errc::unsupported, stage::config,
                "the backend " + selector + " has no server, and so no request of HTTP");
  }
  chat_call out;
  out.messages = selector == "anthropic-url";
  const chat_codec codec(*ways, out.messages ? std::optional(version) : std::nullopt,
                         api_of(value_of(identity, "api")));
  auto named = request;
  if (named.model.empty()) {
    const bool by_url = selector.ends_with("-url") || ways->start.sent_model.empty();
    named.model = by_url ? value_of(identity, "model") : std::string(ways->start.sent_model);
  }
  auto written = codec.encode(named, stream);
  if (!written) return std::move(written).error();
  out.path = codec.path();
  out.headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}};
  if (out.messages) out.headers.emplace_back("anthropic-version", std::string(wire::name(version)));
  out.body = std::move(written->body);
  out.dropped = std::move(written->dropped);
  return out;
}

std::string curl_command(const chat_call& of, const std::string& base_url, const credentials& opens) {
  // Through a pipe, since an argument of a program may be no longer than 128 KiB on Linux.
  std::string out = "printf '%s' " + quoted(of.body) + " |\n  curl -sS -N " + address(of, base_url, opens);
  for (const auto& [name, value] : of.headers) {
    const bool replaced = std::ranges::any_of(
        opens.headers, [&](const named_value& one) { return ascii::equal_without_case(one.name, name); });
    if (!replaced) out += " \\\n  -H " + quoted(name + ": " + value);
  }
  if (const auto key = key_header(of, opens); !key.empty()) out += " \\\n  -H " + key;
  for (const auto& one : opens.headers) {
    out += " \\\n  -H " + with_variable(one.name + ": ", variable_of(one));
  }
  return out + " \\\n  --data-binary @-\n";
}

}  // namespace evalcore::backend
