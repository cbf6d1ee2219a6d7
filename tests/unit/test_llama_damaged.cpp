// Models whose weights are damaged, and what their rows say then.
#include <doctest/doctest.h>
#include <gguf.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <evalcore/engine/parity.hpp>

#include "unit/llama_model.hpp"

using namespace evalcore;
using namespace evalcore::engine;

namespace {

/// The canned model, with one number of the last token's embedding changed. The model computes the score of
/// that token with it, whatever the row.
class damaged_model {
 public:
  explicit damaged_model(float number)
      : path_((std::filesystem::temp_directory_path() /
               ("evalcore-damaged-" + std::to_string(getpid()) + ".gguf"))
                  .string()) {
    const auto sound = canned_model("canned.gguf");
    auto* file = gguf_init_from_file(sound.c_str(), {.no_alloc = true, .ctx = nullptr});
    REQUIRE(file != nullptr);
    const auto tensor = gguf_find_tensor(file, "token_embd.weight");
    REQUIRE(tensor >= 0);
    const auto end = gguf_get_data_offset(file) + gguf_get_tensor_offset(file, tensor) +
                     gguf_get_tensor_size(file, tensor);
    gguf_free(file);
    std::filesystem::copy_file(sound, path_, std::filesystem::copy_options::overwrite_existing);
    std::fstream bytes(path_, std::ios::binary | std::ios::in | std::ios::out);
    bytes.seekp(static_cast<std::streamoff>(end - sizeof number));
    bytes.write(reinterpret_cast<const char*>(&number), sizeof number);
    REQUIRE(bytes.good());
  }
  ~damaged_model() { std::filesystem::remove(path_); }
  damaged_model(const damaged_model&) = delete;
  damaged_model& operator=(const damaged_model&) = delete;

  [[nodiscard]] std::unique_ptr<step_engine> open(evaluation mode) const {
    return must_open({.model_path = path_, .mode = mode, .max_rows = 4, .context_tokens = 1024});
  }

 private:
  std::string path_;
};

row_id must_open_row(step_engine& engine, row_request row) {
  const auto id = engine.open(std::move(row));
  REQUIRE(id);
  return *id;
}

}  // namespace

TEST_CASE("a score that is NaN or infinite is an error of its row, greedy, sampled or scoring") {
  for (const float number :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const damaged_model file(number);
    for (const auto mode : {evaluation::parity, evaluation::fast}) {
      const auto engine = file.open(mode);
      auto greedy = greedy_row(some_prompt(*engine, 20, 1), 4).request;
      auto sampled = greedy;
      sampled.how.temperature = 1;
      sampled.how.seed = 3;
      auto scoring = greedy;
      scoring.continuations = {{65, 66}, {67}};
      const auto long_one = must_open_row(*engine, greedy_row(some_prompt(*engine, 600, 2), 4).request);
      const std::vector<row_id> rows{must_open_row(*engine, greedy), must_open_row(*engine, sampled),
                                     must_open_row(*engine, scoring)};
      step_output out;
      std::vector<row_id> failed;
      std::uint32_t processed = 0;
      for (int step = 0; step < 4; ++step) {
        REQUIRE(engine->step(4, out));
        CHECK(out.tokens.empty());
        CHECK(out.scores.empty());
        for (const auto& one : out.failures) {
          failed.push_back(one.row);
          CHECK(one.why.code == errc::backend_fault);
          CHECK(one.why.message.starts_with("the model computed no number for a token"));
        }
        for (const auto& one : out.prefill)
          if (one.row == long_one) processed = one.processed;
      }
      // The one that was amid its prompt went on, to its own end.
      CHECK(processed == 600);
      std::ranges::sort(failed);
      CHECK(failed == std::vector<row_id>{long_one, rows[0], rows[1], rows[2]});
      // All are gone, and have left no state behind.
      for (int again = 0; again < 4; ++again) must_open_row(*engine, greedy);
    }
  }
}

TEST_CASE("a model whose weights are damaged is refused by the comparison, and leaves it with no row") {
  const damaged_model file(std::numeric_limits<float>::quiet_NaN());
  const auto engine = file.open(evaluation::parity);
  const auto verdict = check_parity(*engine);
  REQUIRE_FALSE(verdict);
  CHECK(verdict.error().code == errc::backend_fault);
  CHECK(verdict.error().message.starts_with("the model computed no number for a token"));
  for (int row = 0; row < 4; ++row)
    must_open_row(*engine, greedy_row(some_prompt(*engine, 20, 1), 4).request);
}
