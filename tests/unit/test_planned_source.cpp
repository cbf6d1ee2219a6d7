#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "run/planned_source.hpp"

using namespace evalcore;

namespace {

/// A suite of two items in a file that goes with it.
struct two_items {
  two_items() {
    std::ofstream(path) << R"({"id":"a","prompt":"first","target":"y"})"
                        << "\n"
                        << R"({"id":"b","prompt":"second","target":"y"})"
                        << "\n";
  }
  ~two_items() { std::filesystem::remove(path); }

  std::string path = (std::filesystem::temp_directory_path() /
                      ("evalcore_planned_source_" + std::to_string(::getpid()) + ".jsonl"))
                         .string();
};

}  // namespace

TEST_CASE("an item that can no longer be read is never sent as something else") {
  const two_items file;
  const auto suite = run::suite::open(file.path);
  REQUIRE(suite);
  const std::vector<std::uint32_t> pending = {0, 1};
  const run::request_options how;
  const std::vector<prefix::sequence> prompts{{1}, {2}};
  const auto order = prefix::make_plan(prompts, false, {.suite_order = true});
  run::planned_source source(*suite, pending, how, order, {}, {}, false);

  const auto first = source.next();
  REQUIRE(std::holds_alternative<pool::work>(first));
  CHECK(std::get<pool::work>(first).request.messages.at(0).text == "first");
  CHECK_FALSE(source.failure());

  std::ofstream(file.path) << "{}\n";
  CHECK(std::holds_alternative<pool::exhausted>(source.next()));
  CHECK(source.failure());
  CHECK(std::holds_alternative<pool::exhausted>(source.next()));
}

TEST_CASE("a backend that keeps prefixes where it is told hears where prompts part, if these are tokens") {
  const two_items file;
  const auto suite = run::suite::open(file.path);
  REQUIRE(suite);
  const std::vector<std::uint32_t> pending = {0, 1};
  const run::request_options how;
  const prefix::sequence shared(20, 7);
  std::vector<prefix::sequence> prompts(2, shared);
  prompts[0].push_back(1);
  prompts[1].push_back(2);
  const auto hint = [&](bool exact, bool keeps) {
    run::planned_source source(*suite, pending, how, prefix::make_plan(prompts, exact, {}), {}, {}, keeps);
    const auto first = source.next();
    REQUIRE(std::holds_alternative<pool::work>(first));
    return std::get<pool::work>(first).request.hints.shared_tokens;
  };
  CHECK(hint(true, true) == std::vector<std::uint32_t>{20});
  CHECK_FALSE(hint(true, false));
  CHECK_FALSE(hint(false, true));
}

TEST_CASE("an item is read once for being sent and for what is kept of it") {
  const two_items file;
  const auto suite = run::suite::open(file.path);
  REQUIRE(suite);
  const std::vector<std::uint32_t> pending = {0, 1};
  run::request_options how;
  how.defaults.max_tokens = 7;
  const std::vector<prefix::sequence> prompts{{1}, {2}};
  run::planned_source source(*suite, pending, how, prefix::make_plan(prompts, false, {.suite_order = true}),
                             {}, {}, false);
  REQUIRE(std::holds_alternative<pool::work>(source.next()));
  std::filesystem::remove(file.path);
  auto sent = source.take_sent(0);
  REQUIRE(sent.what);
  CHECK(sent.what->one.id == "a");
  CHECK(sent.what->one.request.messages.at(0).text == "first");
  CHECK_FALSE(sent.what->one.request.params.max_tokens);
  CHECK(sent.what->request.params.max_tokens == 7);
  CHECK_FALSE(source.take_sent(0).what);
  CHECK_FALSE(source.take_sent(1).what);
}
