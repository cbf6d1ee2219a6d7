#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <evalcore/net/url.hpp>

#include "fuzz/require.hpp"

// Any text is refused without repeating it, or is a URL that reads back as what it was cut into.

using namespace evalcore;

namespace {

/// Stands for a secret: what libFuzzer makes up may stand in a message by chance.
constexpr std::string_view secret = "s3cr3t-9f2c";

void check_refusal(const result<net::url>& read) {
  require(!read.has_value());
  require(read.error().code == errc::invalid_argument);
  require_told(read.error());
  require(read.error().message.find(secret) == std::string::npos);
}

bool plain(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = net::parse_url(text);
  if (!read) {
    check_refusal(read);
    check_refusal(net::parse_url(std::string(text) + std::string(secret) + " "));
    return 0;
  }
  check_refusal(net::parse_url("https://user:" + std::string(secret) + "@" + read->host));
  check_refusal(net::parse_url(std::string(text) + "/?key=" + std::string(secret) + "#"));
  require(!read->host.empty() && read->port != 0);
  require(plain(read->host) && plain(read->path) && plain(read->query));
  require(read->host.find_first_of("/?#@[]") == std::string::npos);
  require(read->path.empty() || (read->path.front() == '/' && read->path.back() != '/'));
  const auto again = net::parse_url(read->origin() + read->path + "?" + read->query);
  require(again.has_value());
  require(again->tls == read->tls && again->host == read->host && again->port == read->port);
  require(again->path == read->path && again->query == read->query);
  return 0;
}
