#include <cstdint>
#include <string>
#include <string_view>

#include <evalcore/wire/sse.hpp>

#include "fuzz/require.hpp"

// The same bytes give the same events, whatever the pieces. The first byte says how to cut.

namespace {

std::string events_of(std::string_view bytes, std::size_t piece) {
  std::string seen;
  const auto keep = [&](const evalcore::wire::sse_event& one) {
    seen += "[" + std::string(one.type) + "]" + std::string(one.data) + "\x1e";
  };
  evalcore::wire::sse_parser parser(1 << 16);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    if (!parser.feed(bytes.substr(0, piece), keep)) return seen + "!";
  }
  parser.finish(keep);
  return seen + std::to_string(parser.comments());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = std::size_t{data[0]} % 7 + 1;
  require(events_of(bytes, bytes.size() + 1) == events_of(bytes, piece));
  return 0;
}
