#include "net/request_text.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <evalcore/base/ascii.hpp>

namespace evalcore::net {
namespace {

/// By byte; RFC 9110, section 5.6.2.
constexpr auto token_characters = [] {
  std::array<bool, 256> all{};
  for (const char c : std::string_view("!#$%&'*+-.^_`|~0123456789"
                                       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    all[static_cast<unsigned char>(c)] = true;
  }
  return all;
}();

bool token_character(char c) { return token_characters[static_cast<unsigned char>(c)]; }

/// Headers that say where the request ends or where it goes: the client's own.
bool reserved(std::string_view name) {
  static constexpr std::array<std::string_view, 7> names{
      "host", "content-length", "transfer-encoding", "trailer", "connection", "upgrade", "accept-encoding"};
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view held) { return ascii::equal_without_case(held, name); });
}

bool value_is_safe(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7F;
  });
}

error refuse(std::string what) { return fail(errc::invalid_argument, stage::config, std::move(what)); }

}  // namespace

std::string headers_of(const url& origin) {
  const bool usual_port = origin.port == (origin.tls ? 443 : 80);
  const std::string named = origin.host_and_port();
  // A score must not hang on a decompressor, nor its memory on how far a server's bytes swell.
  return "Host: " + (usual_port ? named.substr(0, named.rfind(':')) : named) +
         "\r\nAccept-Encoding: identity\r\n";
}

result<std::string> request_text(std::string_view common, http_request request) {
  if (request.method != "POST" && request.method != "GET") {
    return fail(errc::unsupported, stage::send, "only GET and POST requests can be sent");
  }
  if (!request.target.starts_with('/') || !std::all_of(request.target.begin(), request.target.end(),
                                                       [](char c) { return c > ' ' && c < '\x7f'; })) {
    return refuse("a request's path begins with '/' and holds no blanks or control characters");
  }
  constexpr std::size_t usual_bytes = 512;
  std::string head;
  head.reserve(usual_bytes);
  head.append(request.method).append(" ").append(request.target).append(" HTTP/1.1\r\n").append(common);
  for (const auto& [name, value] : request.headers) {
    if (name.empty() || !std::all_of(name.begin(), name.end(), token_character)) {
      return refuse("a header's name holds a character that header names do not have");
    }
    if (reserved(name)) return refuse("the header " + name + " is set by the client itself");
    if (!value_is_safe(value))
      return refuse("the value of the header " + name + " holds a control character");
    head.append(name).append(": ").append(value).append("\r\n");
  }
  if (request.method == "POST" || !request.body.empty()) {
    head.append("Content-Length: ").append(std::to_string(request.body.size())).append("\r\n");
  }
  // The default of HTTP/1.1, said for the servers that answer with HTTP/1.0.
  head.append("Connection: keep-alive\r\n\r\n");
  return std::move(request.body.insert(0, head));
}

}  // namespace evalcore::net
