#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/wire/dialect.hpp>

#include "fuzz/require.hpp"

// What the fuzz targets of chat replies share: any bytes are an answer or a typed error, as a whole body, as
// a stream in any pieces, and as a refusal. The first byte says how to cut.

inline std::string seen(const evalcore::result<evalcore::chat::reply>& got) {
  if (!got) {
    require_told(got.error());
    return std::string(evalcore::name(got.error().code)) + got.error().backend_words;
  }
  std::string out = got->text + "\x1e" + got->reasoning + "\x1e" + got->refusal + "\x1e" + got->finish_raw +
                    "\x1e" + got->stop_string;
  for (const auto& call : got->calls) out += "\x1e" + call.id + "|" + call.name + "|" + call.arguments;
  for (const auto& one : got->thinking) {
    out += "\x1e" + one.id + "|" + one.text + "|" + one.signature + "|" + one.redacted;
  }
  for (const auto& token : got->logprobs) out += "\x1e" + token.token;
  return out;
}

template <class Stream>
evalcore::result<evalcore::chat::reply> stream(std::string_view bytes, std::size_t piece) {
  Stream decoder(evalcore::wire::dialects().front());
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    if (auto made = decoder.feed(bytes.substr(0, piece)); !made) return std::move(made).error();
  }
  return decoder.take();
}

template <class Stream, class Decode, class Classify>
int check_reply(const std::uint8_t* data, std::size_t size, Decode decode, Classify classify) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = std::size_t{data[0]} % 7 + 1;
  const auto& ways = evalcore::wire::dialects().front();

  seen(decode(bytes, ways));
  require_told(classify(400 + data[0], bytes, ways));
  require(seen(stream<Stream>(bytes, bytes.size() + 1)) == seen(stream<Stream>(bytes, piece)));
  return 0;
}
