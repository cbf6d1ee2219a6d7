#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <evalcore/base/limits.hpp>
#include <evalcore/wire/anthropic_messages.hpp>

// Any bytes are a message or a typed error, as a whole body, as a stream in any pieces, and as a refusal.
// The first byte says how to cut.

namespace {

using namespace evalcore;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const result<chat::reply>& got) {
  if (got) return;
  require(!got.error().message.empty());
  require(got.error().backend_words.size() <= limits::backend_words_bytes);
}

std::string seen(const result<chat::reply>& got) {
  if (!got) return std::string(name(got.error().code)) + got.error().backend_words;
  std::string out =
      got->text + "\x1e" + got->reasoning + "\x1e" + got->finish_raw + "\x1e" + got->stop_string;
  for (const auto& call : got->calls) out += "\x1e" + call.id + "|" + call.name + "|" + call.arguments;
  for (const auto& one : got->thinking) out += "\x1e" + one.text + "|" + one.signature + "|" + one.redacted;
  return out;
}

result<chat::reply> stream(std::string_view bytes, std::size_t piece) {
  wire::anthropic_messages_stream decoder(wire::dialects().front());
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    if (auto made = decoder.feed(bytes.substr(0, piece)); !made) return std::move(made).error();
  }
  return decoder.take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = std::size_t{data[0]} % 7 + 1;
  const auto& ways = wire::dialects().front();

  check(wire::decode_anthropic_message(bytes, ways));
  const error refusal = wire::classify_anthropic_error(400 + data[0], bytes, ways);
  require(!refusal.message.empty() && refusal.backend_words.size() <= limits::backend_words_bytes);
  const auto whole = stream(bytes, bytes.size() + 1);
  check(whole);
  require(seen(whole) == seen(stream(bytes, piece)));
  return 0;
}
