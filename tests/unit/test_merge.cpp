#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <evalcore/backend/scripted.hpp>
#include <evalcore/run/merge.hpp>
#include <evalcore/run/runner.hpp>

#include "unit/temporary_folder.hpp"

using namespace evalcore;

namespace {

constexpr run::price flat{1'000'000, 1'000'000, 1'000'000, 1'000'000, 1'000'000};

/// A suite of three families and some strangers; every third answer is wrong.
class fixture {
 public:
  fixture() {
    std::string lines;
    for (int i = 0; i < 40; ++i) {
      const auto id = std::to_string(i);
      const std::string system = i % 4 == 3 ? "" : std::string(200, static_cast<char>('a' + i % 4));
      lines += R"({"id":"i)" + id + R"(","messages":[{"role":"system","content":")" + system +
               R"("},{"role":"user","content":"ask )" + id + R"(."}],"target":"yes","category":"c)" +
               std::to_string(i % 2) + "\"}\n";
    }
    suite_ = folder.write("suite.jsonl", lines);
    script(R"({"match":"ask 7.","text":"no"})"
           "\n"
           R"({"text":"yes","usage":{"prompt_tokens":30,"cached_tokens":20,"completion_tokens":10}})"
           "\n");
  }
  void script(const std::string& lines) { script_ = folder.write("script.jsonl", lines); }

  run::summary run(const std::string& store, std::optional<run::shard> part, run::run_options how = {}) {
    net::loop loop;
    const auto suite = run::suite::open(suite_);
    REQUIRE(suite);
    auto backend = backend::open_scripted(loop, script_);
    REQUIRE(backend);
    auto into = run::store::open(folder / store);
    REQUIRE(into);
    how.part = part;
    how.pool.retry.retries = 0;
    how.labels.model_name = "m";
    const run::observer watch{[](const std::string&) {}, [](const run::progress&) {}};
    auto ran = run::run_suite(*suite, loop, {backend->get()}, *into, how, watch, {});
    REQUIRE_MESSAGE(ran, ran.error().message);
    return *std::move(ran);
  }

  result<run::merged_run> merge(const std::vector<std::string>& parts, const std::string& into = "merged.db",
                                const std::string& suite = "") {
    run::merge_options how;
    for (const auto& part : parts) how.parts.push_back(folder / part);
    how.into = folder / into;
    how.suite = suite;
    return run::merge(how);
  }
  std::string refusal(const std::vector<std::string>& parts) {
    const auto merged = merge(parts);
    REQUIRE_FALSE(merged);
    CHECK(merged.error().code == errc::invalid_argument);
    CHECK_FALSE(std::filesystem::exists(folder / "merged.db"));
    return merged.error().message;
  }

  test::temporary_folder folder;

 private:
  std::string suite_;
  std::string script_;
};

/// Rows without what differs between any two runs.
std::string rows(const run::summary& of) {
  auto timeless = of;
  timeless.run_id = "R";
  timeless.wall_s = 0;
  std::string lines;
  for (const auto& one : run::rows_of(timeless, {.model_name = "m"})) lines += run::to_line(one);
  return lines;
}

}  // namespace

TEST_CASE("every item is in exactly one shard, the same each time, and families stay together") {
  const fixture at;
  const auto suite = run::suite::open(at.folder / "suite.jsonl");
  REQUIRE(suite);
  std::map<std::size_t, std::uint32_t> shard_of;
  for (std::uint32_t index = 1; index <= 4; ++index) {
    const auto own = run::items_of({index, 4}, *suite, 40);
    REQUIRE(own);
    CHECK(std::ranges::is_sorted(*own));
    CHECK(*own == *run::items_of({index, 4}, *suite, 40));
    for (const auto item : *own) CHECK(shard_of.emplace(item, index).second);
  }
  CHECK(shard_of.size() == 40);
  for (std::size_t family = 0; family < 3; ++family) {
    std::set<std::uint32_t> shards;
    for (std::size_t item = family; item < 40; item += 4) shards.insert(shard_of.at(item));
    CHECK(shards.size() == 1);
  }
  CHECK(run::items_of({1, 1}, *suite, 40)->size() == 40);
  CHECK(run::items_of({1, 2}, *suite, 3)->size() + run::items_of({2, 2}, *suite, 3)->size() == 3);
}

TEST_CASE("shards run apart and merged are one run") {
  fixture at;
  run::run_options how;
  how.price = flat;
  const auto whole = at.run("whole.db", std::nullopt, how);
  std::uint64_t items = 0;
  for (std::uint32_t i = 1; i <= 4; ++i)
    items += at.run("s" + std::to_string(i) + ".db", run::shard{i, 4}, how).items;
  CHECK(items == 40);
  const auto merged = at.merge({"s3.db", "s1.db", "s4.db", "s2.db"});
  REQUIRE_MESSAGE(merged, merged.error().message);
  const auto& of = merged->what;
  CHECK(merged->missing.empty());
  CHECK(rows(of) == rows(whole));
  CHECK(of.items == 40);
  CHECK(of.answered == 40);
  CHECK(of.sent == whole.sent);
  CHECK(of.retried == 0);
  CHECK(of.prompt_tokens == whole.prompt_tokens);
  CHECK(of.cached_tokens == whole.cached_tokens);
  CHECK(of.completion_tokens == whole.completion_tokens);
  CHECK(of.cost->spent == whole.cost->spent);
  CHECK(of.shard.empty());
  CHECK(merged->labels.model_name == "m");
  // What one run would reuse is all there.
  const auto again = at.run("merged.db", std::nullopt, how);
  CHECK(again.reused == 40);
  CHECK(again.sent == 0);
  CHECK(again.cost->spent == whole.cost->spent);
}

TEST_CASE("items that errored in a shard are errored in the merge, with their class") {
  fixture at;
  at.script(R"({"match":"ask 5.","error":{"code":"backend_fault","message":"broke"}})"
            "\n"
            R"({"text":"yes"})"
            "\n");
  const auto whole = at.run("whole.db", std::nullopt);
  CHECK(at.run("s1.db", run::shard{1, 2}).errors + at.run("s2.db", run::shard{2, 2}).errors == 1);
  const auto merged = at.merge({"s1.db", "s2.db"});
  REQUIRE(merged);
  CHECK(merged->what.errors_by_class == std::map<std::string, std::uint64_t>{{"backend_fault", 1}});
  CHECK(merged->what.retries_by_class.empty());
  CHECK(merged->what.answered == 39);
  CHECK(merged->missing.empty());
  CHECK(rows(merged->what) == rows(whole));
}

TEST_CASE("items of a shard that is not there are listed in the suite's order") {
  fixture at;
  at.run("s1.db", run::shard{1, 3});
  at.run("s3.db", run::shard{3, 3});
  const auto merged = at.merge({"s1.db", "s3.db"});
  REQUIRE(merged);
  const auto suite = run::suite::open(at.folder / "suite.jsonl");
  const auto left_out = run::items_of({2, 3}, *suite, 40);
  std::vector<std::string> second;
  for (const auto item : *left_out) second.push_back(suite->get(item)->id);
  CHECK_FALSE(second.empty());
  CHECK(merged->missing == second);
  CHECK(merged->what.not_run == second.size());
  CHECK_FALSE(merged->what.stopped.empty());
  // The rest may be answered where the merge stands.
  CHECK(at.run("merged.db", std::nullopt).sent == second.size());
}

TEST_CASE("files with an item in common are refused by name") {
  fixture at;
  at.run("s1.db", run::shard{1, 2});
  at.run("s2.db", run::shard{2, 2});
  at.run("all.db", std::nullopt);
  const auto said = at.refusal({"s1.db", "s2.db", "all.db"});
  CHECK(said.find("item \"i0\" and 39 more are answered in ") == 0);
  CHECK(said.find(" and in " + (at.folder / "all.db") + "; shards have no item in common") !=
        std::string::npos);
  CHECK(at.refusal({"s1.db", "s1.db"}).find("answered in " + (at.folder / "s1.db")) != std::string::npos);
}

TEST_CASE("files of another suite, backend or option are refused by name") {
  fixture at;
  at.run("s1.db", run::shard{1, 2});
  run::run_options hotter;
  hotter.request.defaults.temperature = 0.5;
  at.run("hot.db", run::shard{2, 2}, hotter);
  CHECK(at.refusal({"s1.db", "hot.db"}) == (at.folder / "hot.db") + " was run with other options than " +
                                               (at.folder / "s1.db") + ": temperature is 0.5 in " +
                                               (at.folder / "hot.db") + " and none in " +
                                               (at.folder / "s1.db") + "; merge takes parts of one run");
  run::run_options fewer;
  fewer.limit = 20;
  at.run("few.db", run::shard{2, 2}, fewer);
  CHECK(at.refusal({"s1.db", "few.db"}).find(": items is 20 in ") != std::string::npos);
  at.script(R"({"text":"no"})"
            "\n");
  at.run("other.db", run::shard{2, 2});
  CHECK(at.refusal({"s1.db", "other.db"}).find("holds answers of another backend than") != std::string::npos);
  const auto none = at.merge({"s1.db", "absent.db"});
  REQUIRE_FALSE(none);
  CHECK(none.error().message == "there is no run file " + (at.folder / "absent.db"));
  CHECK_FALSE(std::filesystem::exists(at.folder / "absent.db"));
  {
    REQUIRE(run::store::open(at.folder / "empty.db"));
  }
  CHECK(at.refusal({"s1.db", "empty.db"}) == (at.folder / "empty.db") + " holds no run");

  at.folder.write("suite.jsonl", R"({"id":"x","prompt":"ask","target":"no"})"
                                 "\n");
  at.run("foreign.db", std::nullopt);
  CHECK(at.refusal({"s1.db", "foreign.db"}).find("holds answers to another suite") != std::string::npos);
  const auto changed = at.merge({"s1.db"});
  REQUIRE_FALSE(changed);
  CHECK(changed.error().code == errc::bad_suite);
  CHECK(changed.error().message.find("is not, or no longer, the suite of " + (at.folder / "s1.db")) !=
        std::string::npos);
}

TEST_CASE("a file that is there is not written over") {
  fixture at;
  at.run("s1.db", run::shard{1, 1});
  at.folder.write("merged.db", "mine");
  const auto merged = at.merge({"s1.db"});
  REQUIRE_FALSE(merged);
  CHECK(merged.error().message.find("exists already") != std::string::npos);
  CHECK(test::read_bytes(at.folder / "merged.db") == "mine");
}

TEST_CASE("a shard that was interrupted and resumed merges as if it had not been") {
  fixture at;
  run::run_options little;
  little.max_cost = 45'000'000 + 400'000'000;  // Of the first answers alone.
  little.price = flat;
  little.request.defaults.max_tokens = 10;
  little.pool.max_in_flight = 1;
  const auto part = at.run("s1.db", run::shard{1, 2}, little);
  CHECK(part.not_run > 0);
  little.max_cost.reset();
  at.run("s1.db", run::shard{1, 2}, little);
  at.run("s2.db", run::shard{2, 2}, little);
  const auto whole = at.run("whole.db", std::nullopt, little);
  const auto merged = at.merge({"s1.db", "s2.db"});
  REQUIRE(merged);
  CHECK(rows(merged->what) == rows(whole));
  CHECK(merged->what.sent == 40);
  CHECK(merged->what.cost->spent == whole.cost->spent);
}

TEST_CASE("second answers of shards make the pairs that one run would have made") {
  fixture at;
  std::string script;
  for (int i = 0; i < 40; i += 2) {
    for (const char* text : {"yes", "no"}) {
      script += R"({"match":"ask )" + std::to_string(i) + R"(.","text":")" + text + "\"}\n";
    }
  }
  at.script(script +
            R"({"text":"yes","usage":{"prompt_tokens":30,"cached_tokens":20,"completion_tokens":10}})" +
            "\n");
  run::run_options how;
  how.noise_floor = 15;
  const auto whole = at.run("whole.db", std::nullopt, how);
  std::uint64_t asked = 0;
  for (std::uint32_t i = 1; i <= 3; ++i) {
    const auto part = at.run("s" + std::to_string(i) + ".db", run::shard{i, 3}, how);
    asked += part.noise_floor->items;
    CHECK(part.noise_floor->run_items == part.items);
  }
  CHECK(asked == 15);
  const auto merged = at.merge({"s1.db", "s2.db", "s3.db"});
  REQUIRE_MESSAGE(merged, merged.error().message);
  const auto& of = merged->what;
  CHECK(of.sent == 55);
  CHECK(of.retried == 0);
  CHECK(of.answered == 40);
  CHECK(of.prompt_tokens == whole.prompt_tokens);
  REQUIRE(of.noise_floor);
  CHECK(of.noise_floor->pairs == 15);
  CHECK(of.noise_floor->flips == whole.noise_floor->flips);
  CHECK(of.noise_floor->flips > 0);
  CHECK(run::noise_line(*of.noise_floor) == run::noise_line(*whole.noise_floor));
  std::filesystem::remove(at.folder / "merged.db");
  // An item that is answered twice in both is one item.
  CHECK(at.refusal({"whole.db", "whole.db"}).find("item \"i0\" and 39 more are answered in ") == 0);
  how.noise_floor = 14;
  at.run("other.db", run::shard{3, 3}, how);
  CHECK(at.refusal({"s1.db", "other.db"}).find(": noise_floor is 14 in ") != std::string::npos);
}

TEST_CASE("a second request that failed for good was no retry") {
  fixture at;
  at.script(R"({"match":"ask 5.","text":"yes"})"
            "\n"
            R"({"match":"ask 5.","error":{"code":"backend_fault","message":"broke"}})"
            "\n"
            R"({"text":"yes"})"
            "\n");
  run::run_options how;
  how.noise_floor = 40;
  how.pool.max_in_flight = 1;
  const auto part = at.run("s1.db", run::shard{1, 1}, how);
  CHECK(part.sent == 80);
  CHECK(part.retries_by_class.empty());
  REQUIRE(part.errors == 0);  // The second request of "i5" went out later.
  const auto merged = at.merge({"s1.db"});
  REQUIRE_MESSAGE(merged, merged.error().message);
  CHECK(merged->what.sent == 80);
  CHECK(merged->what.retried == 0);
  CHECK(merged->what.retries_by_class.empty());
  CHECK(merged->what.noise_floor->pairs == 39);
}
