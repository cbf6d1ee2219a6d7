#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.hpp"
#include "net/reply_parser.hpp"

// Any bytes of a server are an answer within the limits or a typed error, and the same answer in any pieces.
// (What is none may be found broken early in one piece, and cut off late in many.) The first byte says how to
// cut.

using namespace evalcore;

namespace {

constexpr net::http_limits bounds{.header_bytes = 2048, .header_count = 32, .body_bytes = 4096};

struct recorder final : net::reply_events {
  int heads = 0;
  std::string body;
  void on_head(const net::http_head& head) override {
    ++heads;
    require(head.status >= 200 && head.status <= 999);
    require(head.headers.size() <= bounds.header_count);
    std::size_t bytes = 0;
    for (const auto& [name, value] : head.headers) bytes += name.size() + value.size();
    require(bytes <= bounds.header_bytes);
  }
  void on_body(std::string_view piece) override {
    require(heads == 1);
    body += piece;
    require(body.size() <= bounds.body_bytes);
  }
};

std::string seen(std::string_view bytes, std::size_t piece) {
  recorder told;
  net::reply_parser parser(bounds, told);
  result<void> outcome;
  for (; !bytes.empty() && outcome; bytes.remove_prefix(std::min(piece, bytes.size()))) {
    outcome = parser.feed(bytes.substr(0, piece));
  }
  if (outcome && !parser.done()) outcome = parser.finish();
  if (!outcome) {
    require_told(outcome.error());
    return "no answer";
  }
  require(parser.done() && told.heads == 1);
  return std::to_string(parser.head().status) + (parser.reusable() ? "+" : "-") + told.body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  require(seen(bytes, bytes.size() + 1) == seen(bytes, std::size_t{data[0]} % 7 + 1));
  return 0;
}
