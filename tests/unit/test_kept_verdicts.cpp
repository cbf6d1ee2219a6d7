#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "engine/kept_verdicts.hpp"
#include "engine/loaded_code.hpp"
#include "engine/trust.hpp"
#include "unit/temporary_folder.hpp"
#include "unit/toy_step_engine.hpp"

using namespace evalcore;
using namespace evalcore::engine;

namespace {

traits some_engine() {
  traits of;
  of.name = "llama.cpp";
  of.model = "a model";
  of.identity = {{"model_sha256", "00ff"}, {"threads", "1"}};
  of.max_rows = 16;
  of.context_tokens = 2048;
  of.prefix_grid = 64;
  return of;
}

const parity_verdict eight{.width = 8, .restores = true, .why = "in batches of 16, row 3: \"other\" tokens"};

/// What a load of a toy that is wrong from eight rows on costs and finds.
struct load {
  std::uint32_t computed = 0;
  std::optional<std::uint32_t> width;
  std::string note;
};

load load_with(const std::string& folder) {
  auto toy = std::make_unique<toy_step_engine>();
  auto& kept = *toy;
  kept.wrong_from_width = 8;
  kept.identify("a toy");
  loaded_engine made;
  made.engine = std::move(toy);
  made.verdict_folder = folder;
  const auto note = check_trust(made, {.max_batch_size = 16});
  REQUIRE(note);
  return {kept.prompt_tokens + kept.answer_tokens, made.safe_width, *note};
}

}  // namespace

TEST_CASE("a verdict is found again as it was kept") {
  const test::temporary_folder folder;
  const kept_verdicts kept(folder / "not/yet/there");
  CHECK_FALSE(kept.find(some_engine()));
  kept.keep(some_engine(), eight);
  const auto found = kept.find(some_engine());
  REQUIRE(found);
  CHECK(found->width == 8);
  CHECK(found->restores);
  CHECK(found->why == eight.why);
}

TEST_CASE(
    "a verdict is of one engine: another model, runtime, number of threads or rows, context or grid has "
    "none") {
  const test::temporary_folder folder;
  const kept_verdicts kept(folder.path());
  kept.keep(some_engine(), eight);
  std::vector<traits> others(7, some_engine());
  others[0].identity["model_sha256"] = "00fe";
  others[1].identity["threads"] = "2";
  others[2].identity["runtime"] = "llama.cpp 1";
  others[3].max_rows = 15;
  others[4].context_tokens = 2049;
  others[5].prefix_grid = 32;
  others[6].model = "another";
  for (const auto& other : others) CHECK_FALSE(kept.find(other));
  CHECK(kept.find(some_engine()));
}

TEST_CASE("of an engine that does not say what it is no verdict is kept") {
  const test::temporary_folder folder;
  const kept_verdicts kept(folder.path());
  auto unknown = some_engine();
  unknown.identity.clear();
  kept.keep(unknown, eight);
  CHECK_FALSE(kept.find(unknown));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the code that computes is told by its files, always the same") {
  const auto code = loaded_code();
  CHECK(code.find("test_engine ") != std::string::npos);  // This program, and behind it its size.
  CHECK(code == loaded_code());
}

TEST_CASE("a verdict whose file is damaged is none, and is written anew") {
  const test::temporary_folder folder;
  const kept_verdicts kept(folder.path());
  kept.keep(some_engine(), eight);
  std::string name;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) name = file.path().filename();
  REQUIRE_FALSE(name.empty());
  for (const char* damaged :
       {"", "{", "[]", R"({"width":8})", R"({"width":17,"restores":true,"why":""})",
        R"({"width":-1,"restores":true,"why":""})", R"({"width":"8","restores":true,"why":""})",
        R"({"width":8,"restores":1,"why":""})", R"({"width":8,"restores":true,"why":null})"}) {
    CAPTURE(damaged);
    folder.write(name, damaged);
    CHECK_FALSE(kept.find(some_engine()));
  }
  kept.keep(some_engine(), eight);
  CHECK(kept.find(some_engine())->width == 8);
}

TEST_CASE("a folder that cannot be made keeps nothing and stops nobody") {
  const test::temporary_folder folder;
  const kept_verdicts kept(folder.write("a file", "") + "/below");
  kept.keep(some_engine(), eight);
  CHECK_FALSE(kept.find(some_engine()));
}

TEST_CASE("a model is compared at its first load, and at each where no verdict is kept") {
  const test::temporary_folder folder;
  const auto first = load_with(folder.path());
  CHECK(first.computed > 0);
  CHECK(first.width == 4U);
  CHECK(first.note.starts_with("at most 4 rows share a batch, "));
  const auto second = load_with(folder.path());
  CHECK(second.computed == 0);
  CHECK(second.width == 4U);
  CHECK(second.note == first.note);
  CHECK(load_with("").computed == first.computed);
}
