#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include <evalcore/wire/openai_responses.hpp>

/// A file of tests/data/responses.
inline std::string responses_data(const std::string& name) {
  std::ifstream file(EVALCORE_TEST_DATA "/responses/" + name, std::ios::binary);
  if (!file) throw std::runtime_error("there is no tests/data/responses/" + name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// What a stream of responses becomes, fed in pieces of this many bytes; 0: all at once.
inline evalcore::result<evalcore::chat::reply> stream_response(std::string_view bytes,
                                                               std::string_view dialect = "openai",
                                                               std::size_t piece = 0) {
  evalcore::wire::openai_response_stream decoder(*evalcore::wire::find_dialect(dialect));
  if (piece == 0) piece = bytes.size() + 1;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    if (auto made = decoder.feed(bytes.substr(0, piece)); !made) return std::move(made).error();
  }
  return decoder.take();
}
