#include "engine/llama_state.hpp"

#include "engine/llama_log.hpp"
#include "engine/llama_row.hpp"

namespace evalcore::engine {

result<state_size> measure_state(llama_context* context) {
  const auto no_decoder = [] {
    return fail(errc::unsupported, stage::start,
                "the model keeps nothing of the tokens before: it is an encoder, which generates no text");
  };
  if (llama_get_memory(context) == nullptr) return no_decoder();
  std::uint64_t sizes[2] = {};
  tensor_input input;
  for (std::uint32_t position = 0; position < 2; ++position) {
    input.clear();
    input.add(0, position, 0, false);
    if (llama_decode(context, input.batch()) != 0) {
      auto failure = fail(errc::backend_fault, stage::start, "llama.cpp cannot compute a first token");
      failure.backend_words = take_llama_words();
      return failure;
    }
    sizes[position] = llama_state_seq_get_size(context, 0);
  }
  if (sizes[1] <= sizes[0]) return no_decoder();
  llama_memory_clear(llama_get_memory(context), true);
  const auto a_token = sizes[1] - sizes[0];
  return state_size{.empty = sizes[0] - a_token, .a_token = a_token};
}

}  // namespace evalcore::engine
