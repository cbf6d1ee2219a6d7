#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include <evalcore/wire/openai_completions.hpp>

#include "fuzz/require.hpp"

// Any bytes are an answer to one or two prompts or a typed error, whole or as a stream in any pieces;
// logprobs are finite. The first byte says how to cut, and for how many prompts.

namespace {

using namespace evalcore;

std::string seen(const result<chat::completion_reply>& got, std::size_t prompts) {
  if (!got) {
    require_told(got.error());
    return std::string(name(got.error().code)) + got.error().backend_words;
  }
  require(got->completions.size() == prompts);
  std::string out;
  for (const auto& one : got->completions) {
    out += one.text + "\x1e" + one.finish_raw;
    for (const auto& token : one.tokens) {
      require(!token.logprob || (std::isfinite(*token.logprob) && *token.logprob >= chat::logprob_floor));
      out += "\x1e" + token.token + "|" + (token.logprob ? std::to_string(*token.logprob) : "-");
    }
  }
  return out;
}

result<chat::completion_reply> stream(std::string_view bytes, std::size_t piece, std::size_t prompts) {
  wire::openai_completion_stream decoder(wire::dialects().front(), prompts);
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
  const std::size_t prompts = data[0] % 2 + 1;

  const auto whole = wire::decode_openai_completion(bytes, wire::dialects().front(), prompts);
  seen(whole, prompts);
  if (whole) {
    chat::completion_request request;
    request.prompts.assign(prompts, "x");
    request.echo = true;
    request.params.logprobs = true;
    request.params.max_tokens = 1;
    if (const auto own = chat::prompt_logprobs(request, *whole)) require(own->size() == prompts);
  }
  require(seen(stream(bytes, bytes.size() + 1, prompts), prompts) ==
          seen(stream(bytes, piece, prompts), prompts));
  return 0;
}
