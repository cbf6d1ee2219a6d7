#pragma once

#include <llama.h>

#include <memory>

namespace evalcore::engine {

struct llama_deleter {
  void operator()(llama_model* model) const { llama_model_free(model); }
  void operator()(llama_context* context) const { llama_free(context); }
  void operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }
};

using model_handle = std::unique_ptr<llama_model, llama_deleter>;
using context_handle = std::unique_ptr<llama_context, llama_deleter>;
using sampler_handle = std::unique_ptr<llama_sampler, llama_deleter>;

}  // namespace evalcore::engine
