#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "run/planned_source.hpp"

using namespace evalcore;

TEST_CASE("an item that can no longer be read is never sent as something else") {
  const auto path = (std::filesystem::temp_directory_path() /
                     ("evalcore_planned_source_" + std::to_string(::getpid()) + ".jsonl"))
                        .string();
  std::ofstream(path) << R"({"id":"a","prompt":"first","target":"y"})"
                      << "\n"
                      << R"({"id":"b","prompt":"second","target":"y"})"
                      << "\n";
  const auto suite = run::suite::open(path);
  REQUIRE(suite);
  const std::vector<std::uint32_t> pending = {0, 1};
  const run::request_options how;
  const std::vector<prefix::sequence> prompts{{1}, {2}};
  const auto order = prefix::make_plan(prompts, false, {.suite_order = true});
  run::planned_source source(*suite, pending, how, order, {}, {});

  const auto first = source.next();
  REQUIRE(std::holds_alternative<pool::work>(first));
  CHECK(std::get<pool::work>(first).request.messages.at(0).text == "first");
  CHECK_FALSE(source.failure());

  std::ofstream(path) << "{}\n";
  CHECK(std::holds_alternative<pool::exhausted>(source.next()));
  CHECK(source.failure());
  CHECK(std::holds_alternative<pool::exhausted>(source.next()));
  std::filesystem::remove(path);
}
