#include <evalcore/wire/openai_chat.hpp>
#include <evalcore/wire/openai_responses.hpp>

#include "fuzz/reply_target.hpp"

using namespace evalcore;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return check_reply<wire::openai_response_stream>(data, size, wire::decode_openai_response,
                                                   wire::classify_openai_error);
}
