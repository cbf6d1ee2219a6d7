#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <evalcore/run/runner.hpp>

#include "unit/run_fixture.hpp"
#include "unit/store_samples.hpp"
#include "unit/temporary_folder.hpp"

using namespace evalcore;
using test::item;
using test::run_fixture;

TEST_CASE(
    "reported: a store whose run was killed after its first reply, before its summary, is gone on with") {
  const test::temporary_folder folder;
  const test::temporary_folder after;
  const auto path = after / "run.db";
  {
    auto store = run::store::open(folder / "run.db");
    REQUIRE(store);
    REQUIRE(store->begin_run(test::sample_run("R1")));
    REQUIRE(
        store->put_reply(test::sample_item("a"), test::attempt(), test::sample_reply("kept"), test::right()));
    // As a kill leaves it: the log was not carried into the file, and the run has no summary.
    for (const char* name : {"run.db", "run.db-wal"}) std::filesystem::copy(folder / name, after / name);
  }
  auto store = run::store::open(path);
  REQUIRE(store);
  const auto kept = store->find(test::sample_item("a"));
  REQUIRE(kept);
  REQUIRE(kept->has_value());
  CHECK((*kept)->reply.text == "kept");
  CHECK(store->begin_run(test::sample_run("R2")));
  CHECK(store->put_reply(test::sample_item("b"), test::attempt(), test::sample_reply("new"), test::right()));
}

TEST_CASE("reported: a store that was killed before it had tables is a new one") {
  const test::temporary_folder folder;
  const auto path = folder.write("run.db", "");
  auto store = run::store::open(path);
  REQUIRE(store);
  CHECK(store->begin_run(test::sample_run("R1")));
}

TEST_CASE("reported: after a limit, or another order of the suite, no reply is taken for another item's") {
  run_fixture at;
  std::string script;
  std::string forwards;
  std::string backwards;
  for (int number = 0; number < 10; ++number) {
    const std::string id(1, static_cast<char>('a' + number));
    script += R"({"match":"ask )" + id + R"(","text":")" + id + "\"}\n";
    forwards += item(id, id);
    backwards.insert(0, item(id, id));
  }
  at.script(script);
  at.suite(forwards);
  run::run_options first_five;
  first_five.limit = 5;
  CHECK(*at.run(first_five).score() == 1);
  const auto all = at.run();
  CHECK(all.reused == 5);
  CHECK(all.sent == 5);
  CHECK(*all.score() == 1);
  at.suite(backwards);
  const auto other = at.run(first_five);
  CHECK(other.reused == 0);
  CHECK(other.sent == 5);
  CHECK(*other.score() == 1);
}

TEST_CASE(
    "reported: an item asks the same wherever it stands in its suite, and however often that is opened") {
  const test::temporary_folder folder;
  const auto choices = [](const std::string& id) {
    return R"({"id":")" + id + R"(","prompt":")" + id + R"(: (A) red (B) blue (C) green","target":"B"})" +
           "\n";
  };
  const auto asked = [&](const std::string& lines) {
    const auto suite = run::suite::open(folder.write("s.jsonl", lines));
    REQUIRE(suite);
    std::map<std::string, std::string> by_id;
    for (std::size_t index = 0; index < suite->size(); ++index) {
      const auto one = suite->get(index);
      REQUIRE(one);
      const auto request = run::prepare(*one, {});
      REQUIRE(request);
      by_id[one->id] = run::canonical_text(*request);
    }
    return by_id;
  };
  const auto first = asked(choices("x") + choices("y") + choices("z"));
  CHECK(first.size() == 3);
  CHECK(first.at("x") != first.at("y"));
  CHECK(asked(choices("z") + choices("x") + choices("y")) == first);
}
