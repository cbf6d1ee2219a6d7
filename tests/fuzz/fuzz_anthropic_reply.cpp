#include <evalcore/wire/anthropic_messages.hpp>

#include "fuzz/reply_target.hpp"

using namespace evalcore;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return check_reply<wire::anthropic_messages_stream>(data, size, wire::decode_anthropic_message,
                                                      wire::classify_anthropic_error);
}
