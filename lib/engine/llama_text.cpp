#include "engine/llama_text.hpp"

#include <llama.h>

#include <exception>
#include <new>

namespace evalcore::engine {
namespace {

/// Above it a length may overflow inside of llama.cpp.
constexpr std::size_t most_bytes = std::size_t{1} << 28;

bool has_beginning(const llama_vocab* vocabulary) {
  return llama_vocab_get_add_bos(vocabulary) && llama_vocab_bos(vocabulary) != LLAMA_TOKEN_NULL;
}

}  // namespace

result<std::vector<token>> tokens_of(const llama_vocab* vocabulary, std::string_view text, bool special) {
  if (text.size() > most_bytes)
    return fail(errc::invalid_argument, stage::send, "a text of more than 256 MiB is no prompt");
  std::vector<token> tokens;
  if (!special && has_beginning(vocabulary)) tokens.push_back(llama_vocab_bos(vocabulary));
  const auto before = tokens.size();
  // Mostly enough: a token has a byte or more, but for a space in front and bytes that are no UTF-8.
  tokens.resize(before + text.size() + 2);
  const auto read = [&] {
    return llama_tokenize(vocabulary, text.data(), static_cast<std::int32_t>(text.size()),
                          tokens.data() + before, static_cast<std::int32_t>(tokens.size() - before), false,
                          special);
  };
  try {
    auto count = read();
    if (count < 0 && count > -static_cast<std::int32_t>(most_bytes)) {
      tokens.resize(before + static_cast<std::size_t>(-count));
      count = read();
    }
    if (count < 0) return fail(errc::backend_fault, stage::send, "llama.cpp cannot cut the text into tokens");
    tokens.resize(before + static_cast<std::size_t>(count));
  } catch (const std::bad_alloc&) {
    return fail(errc::no_memory, stage::send, "no memory is left to cut the text into tokens");
  } catch (const std::exception& problem) {
    auto failure = fail(errc::invalid_argument, stage::send, "the text is no UTF-8 that llama.cpp can read");
    failure.backend_words = problem.what();
    return failure;
  }
  return tokens;
}

void text_of(const llama_vocab* vocabulary, token id, std::string& text) {
  text.resize(std::max<std::size_t>(text.capacity(), 32));
  const auto write = [&] {
    return llama_token_to_piece(vocabulary, id, text.data(), static_cast<std::int32_t>(text.size()), 0,
                                false);
  };
  auto count = write();
  if (count < 0) {
    text.resize(static_cast<std::size_t>(-count));
    count = write();
  }
  text.resize(static_cast<std::size_t>(std::max(count, 0)));
}

std::string beginning_of(const llama_vocab* vocabulary) {
  return has_beginning(vocabulary) ? llama_vocab_get_text(vocabulary, llama_vocab_bos(vocabulary)) : "";
}

}  // namespace evalcore::engine
