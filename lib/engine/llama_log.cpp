#include "engine/llama_log.hpp"

#include <llama.h>

#include <cstdlib>
#include <mutex>
#include <utility>

#include <evalcore/base/limits.hpp>

namespace evalcore::engine {
namespace {

struct ring {
  std::mutex guard;
  std::string words;
  bool keeps_on = false;  ///< The last line was kept, and may be continued.
};

ring& words_of_llama() {
  static ring one;
  return one;
}

void keep(ggml_log_level level, const char* text, void*) {
  ring& kept = words_of_llama();
  const std::lock_guard lock(kept.guard);
  if (level != GGML_LOG_LEVEL_CONT)
    kept.keeps_on = level == GGML_LOG_LEVEL_WARN || level == GGML_LOG_LEVEL_ERROR;
  if (!kept.keeps_on) return;
  kept.words += text;
  if (kept.words.size() > limits::backend_words_bytes)
    kept.words.erase(0, kept.words.size() - limits::backend_words_bytes);
}

}  // namespace

void hush_llama() {
  static const bool done = [] {
    // A failed assertion would start a debugger for a backtrace.
    setenv("GGML_NO_BACKTRACE", "1", 0);
    llama_log_set(keep, nullptr);
    llama_backend_init();
    return true;
  }();
  static_cast<void>(done);
}

std::string take_llama_words() {
  ring& kept = words_of_llama();
  const std::lock_guard lock(kept.guard);
  return std::exchange(kept.words, {});
}

}  // namespace evalcore::engine
