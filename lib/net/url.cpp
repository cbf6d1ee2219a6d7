#include <evalcore/net/url.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include <evalcore/base/ascii.hpp>

namespace evalcore::net {
namespace {

constexpr std::string_view http_scheme = "http://";
constexpr std::string_view https_scheme = "https://";

bool begins_with(std::string_view text, std::string_view scheme) {
  return ascii::equal_without_case(text.substr(0, scheme.size()), scheme);
}

bool host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

bool ipv6_address(const std::string& text) {
  in6_addr address{};
  return inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

std::optional<std::uint16_t> port_number(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (failure != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

/// The messages never repeat the text: it may hold a password or a key.
error refuse(std::string what) { return fail(errc::invalid_argument, stage::config, std::move(what)); }

/// host, host:port or [v6]:port into `into`; what is wrong otherwise.
std::optional<error> read_authority(std::string_view text, url& into) {
  if (text.find('@') != std::string_view::npos) {
    return refuse("a URL must not hold a user name or a password; give the key by its own option");
  }
  std::string_view rest;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return refuse("the URL's IPv6 address lacks its closing bracket");
    into.host = text.substr(1, close - 1);
    std::transform(into.host.begin(), into.host.end(), into.host.begin(), ascii::lower);
    if (!ipv6_address(into.host)) return refuse("the URL's host is not an IPv6 address");
    rest = text.substr(close + 1);
  } else {
    const auto colon = text.find(':');
    into.host = text.substr(0, colon);
    std::transform(into.host.begin(), into.host.end(), into.host.begin(), ascii::lower);
    if (into.host.empty()) return refuse("the URL has no host");
    if (!std::all_of(into.host.begin(), into.host.end(), host_character)) {
      return refuse("the URL's host holds a character that host names do not have");
    }
    if (colon != std::string_view::npos) rest = text.substr(colon);
  }
  if (rest.empty()) return std::nullopt;
  const auto port = rest.starts_with(':') ? port_number(rest.substr(1)) : std::nullopt;
  if (!port) return refuse("the URL's port is not a number from 1 to 65535");
  into.port = *port;
  return std::nullopt;
}

}  // namespace

std::string url::host_and_port() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string url::origin() const { return std::string(tls ? https_scheme : http_scheme) + host_and_port(); }

result<url> parse_url(std::string_view text) {
  url out;
  if (begins_with(text, http_scheme)) {
    text.remove_prefix(http_scheme.size());
  } else if (begins_with(text, https_scheme)) {
    text.remove_prefix(https_scheme.size());
    out.tls = true;
    out.port = 443;
  } else {
    return refuse("a URL begins with http:// or https://");
  }
  // The test comes before anything is cut, so that no part needs it again.
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '\\'; })) {
    return refuse("a URL holds no blanks, control characters, backslashes or non-ASCII characters");
  }
  if (text.find('#') != std::string_view::npos) return refuse("a URL of a server has no fragment (#)");

  const auto authority_end = text.find_first_of("/?");
  if (auto wrong = read_authority(text.substr(0, authority_end), out)) return *std::move(wrong);
  if (authority_end == std::string_view::npos) return out;

  const std::string_view tail = text.substr(authority_end);
  const auto question = tail.find('?');
  std::string_view path = tail.substr(0, question);
  while (path.ends_with('/')) path.remove_suffix(1);
  out.path = path;
  if (question != std::string_view::npos) out.query = tail.substr(question + 1);
  return out;
}

}  // namespace evalcore::net
