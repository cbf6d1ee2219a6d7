#include <algorithm>
#include <array>
#include <string>

#include <evalcore/base/limits.hpp>
#include <evalcore/wire/openai_chat.hpp>

#include "wire/openai_parts.hpp"

namespace evalcore::wire {
namespace {

// For an error that came without a status: what `type` or `code` contain, lower case.
constexpr std::array kinds{
    error_sign{"rate_limit", errc::rate_limited},
    error_sign{"ratelimit", errc::rate_limited},
    error_sign{"overloaded", errc::overloaded},
    error_sign{"unavailable", errc::overloaded},
    error_sign{"authentication", errc::auth},
    error_sign{"permission", errc::auth},
    error_sign{"invalid_request", errc::invalid_request},
    error_sign{"badrequest", errc::invalid_request},
    error_sign{"not_found", errc::invalid_request},
    error_sign{"notfound", errc::invalid_request},
    error_sign{"too_large", errc::invalid_request},
    error_sign{"toolarge", errc::invalid_request},
    error_sign{"unprocessable", errc::invalid_request},
    error_sign{"timeout", errc::timeout},
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return out;
}

std::string bounded(std::string_view text) {
  if (text.size() <= limits::backend_words_bytes) return std::string(text);
  std::size_t end = limits::backend_words_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end));
}

/// What an error body says, whatever its shape.
struct account {
  std::string message;
  std::string type;
  std::string code;
  std::optional<int> status;  ///< A numeric code.
};

account read_account(const element& root) {
  account read;
  const element body = member(root, "error").value_or(root);
  if (const auto text = text_of(body)) {
    read.message = *text;
    return read;
  }
  read.message = text_member(body, "message").value_or("");
  read.type = lower(text_member(body, "type").value_or(""));
  read.code = lower(text_member(body, "code").value_or(""));
  if (const auto number = count_member(body, "code"); number && *number >= 400 && *number < 600) {
    read.status = static_cast<int>(*number);
  }
  return read;
}

std::optional<errc> by_words(const account& read) {
  const auto* sign = read_error_words(read.type, read.code, lower(read.message));
  return sign == nullptr ? std::nullopt : std::optional(sign->means);
}

errc by_status(int status) {
  switch (status) {
    case 401:
    case 403:
      return errc::auth;
    case 402:
      return errc::quota;
    case 408:
      return errc::timeout;
    // Conflict and too early pass with time; oMLX says 409 while it loads the model.
    case 409:
    case 425:
      return errc::overloaded;
    case 429:
      return errc::rate_limited;
    case 501:
      return errc::unsupported;
    case 503:
    case 529:
      return errc::overloaded;
    default:
      break;
  }
  if (status >= 500) return errc::backend_fault;
  if (status >= 300) return errc::invalid_request;
  return errc::bad_reply;
}

errc by_kind(const account& read) {
  for (const auto& [text, means] : kinds) {
    if (read.type.find(text) != std::string::npos || read.code.find(text) != std::string::npos) return means;
  }
  return errc::backend_fault;
}

std::string sentence(errc code, std::optional<int> status) {
  const std::string how = status ? " (HTTP " + std::to_string(*status) + ")" : " (inside the answer)";
  switch (code) {
    case errc::context_overflow:
      return "the prompt does not fit the backend's context" + how;
    case errc::quota:
      return "the account has no allowance left" + how;
    case errc::refused_content:
      return "the backend's content filter refused the request" + how;
    case errc::auth:
      return "the backend refused the API key or the right to use the model" + how;
    case errc::rate_limited:
      return "the backend asks for fewer requests" + how;
    case errc::overloaded:
      return "the backend is busy or still loading" + how;
    case errc::timeout:
      return "the backend gave up waiting" + how;
    case errc::unsupported:
      return "the backend cannot do this" + how;
    case errc::bad_reply:
      return "the answer is not the protocol's" + how;
    case errc::invalid_request:
      if (status && *status < 400) return "the backend redirects: give the URL it moved to" + how;
      return "the backend refused the request" + how;
    default:
      return "the backend failed" + how;
  }
}

error make(std::optional<int> status, const account& read) {
  // Inside a 200 the body's own number is the status.
  const auto known = status ? status : read.status;
  const errc code = by_words(read).value_or(known ? by_status(*known) : by_kind(read));
  error failure = fail(code, stage::body, sentence(code, status));
  failure.http_status = status;
  failure.backend_words = bounded(read.message);
  return failure;
}

}  // namespace

error error_of(std::optional<int> status, const element& root) { return make(status, read_account(root)); }

std::optional<error> error_inside(const element& root) {
  // SGLang's errors are flat.
  const auto [object, inside] = members(root, {"object", "error"});
  if (text_of(object) == "error") return error_of(std::nullopt, root);
  if (!inside) return std::nullopt;
  bool flag = true;
  if (inside->get_bool().get(flag) == simdjson::SUCCESS && !flag) return std::nullopt;
  if (const auto text = text_of(*inside); text && text->empty()) return std::nullopt;
  simdjson::dom::object members;
  if (inside->get_object().get(members) == simdjson::SUCCESS && members.size() == 0) return std::nullopt;
  return error_of(std::nullopt, root);
}

error classify_openai_error(int status, std::string_view body, const dialect& /*ways*/) {
  const auto meant = status == 200 ? std::nullopt : std::optional(status);
  json_reader reader;
  if (const auto root = reader.read(body); root && root->is_object()) return error_of(meant, *root);
  account read;
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos) {
    read.message = bounded(body.substr(first, body.find_last_not_of(" \t\r\n") + 1 - first));
  }
  return make(meant, read);
}

}  // namespace evalcore::wire
