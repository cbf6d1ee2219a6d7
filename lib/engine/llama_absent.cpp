#include <evalcore/engine/llama.hpp>

namespace evalcore::engine {

result<std::unique_ptr<step_engine>> open_llama(const llama_options&) {
  return fail(errc::unsupported, stage::start,
              "this build has no llama.cpp: get the library with `scripts/bootstrap library`, and configure "
              "with -Dllama_ROOT=<its folder>");
}

}  // namespace evalcore::engine
