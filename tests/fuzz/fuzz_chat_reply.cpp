#include <evalcore/wire/openai_chat.hpp>

#include "fuzz/reply_target.hpp"

using namespace evalcore;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return check_reply<wire::openai_chat_stream>(data, size, wire::decode_openai_chat,
                                               wire::classify_openai_error);
}
