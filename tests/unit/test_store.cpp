#include <doctest/doctest.h>

#include <string>

#include <evalcore/run/store.hpp>

#include "unit/store_log.hpp"
#include "unit/store_samples.hpp"
#include "unit/temporary_folder.hpp"

using namespace evalcore;
using namespace evalcore::test;

namespace {

run::store opened(const std::string& path) {
  auto store = run::store::open(path);
  REQUIRE_MESSAGE(store, (store ? "" : store.error().message));
  return *std::move(store);
}

run::store begun(const std::string& path, const std::string& run_id) {
  auto store = opened(path);
  REQUIRE(store.begin_run(sample_run(run_id)));
  return store;
}

run::stored_reply found(const run::store& store, const run::item_record& item) {
  auto row = store.find(item);
  REQUIRE_MESSAGE(row, (row ? "" : row.error().message));
  REQUIRE(row->has_value());
  return **std::move(row);
}

bool absent(const run::store& store, const run::item_record& item) {
  const auto row = store.find(item);
  REQUIRE(row);
  return !row->has_value();
}

}  // namespace

TEST_CASE("keys are SHA-256 over length-prefixed pieces") {
  // hashlib over struct.pack('<Q', len(piece)) + piece for each piece in turn.
  CHECK(run::item_key("suite", "item-1", 0, "exact") ==
        "6527cf2bd2bb63c5cedee14e48513394a21423cfb64284e8285d03df3fa55fae");
  CHECK(run::cache_key({{"model_file", "abc"}, {"build", "b1234"}}, "tiny", "{\"messages\":[]}", 2) ==
        "63156021226f70e656d3c768ea6c7b54011c4d2d8e7a44d607eb2196bb925899");
}

TEST_CASE("a reply comes back with every field, and what was unknown stays unknown") {
  const temporary_folder folder;
  const auto path = folder / "run.db";
  chat::reply reply;
  reply.text = "a\n\"b\"\0c é 😀";
  reply.reasoning = "thinking";
  reply.calls = {{"c1", "look", "{\"b\": 1, \"a\":2}"}, {"", "g", ""}};
  reply.finish = chat::finish_reason::tool_calls;
  reply.finish_raw = "tool_calls";
  reply.model = "tiny-1";
  reply.usage.prompt_tokens = 18'446'744'073'709'551'615ULL;
  reply.usage.cached_tokens = 0;
  reply.timing.total = std::chrono::nanoseconds(1'234'567'891);
  reply.dropped = {"seed"};
  {
    auto store = begun(path, "R1");
    auto how = attempt();
    how.predicted_cached_tokens = 643;
    how.slot = 3;
    REQUIRE(store.begin_attempt(sample_item("a"), how));
    REQUIRE(store.put_reply(sample_item("a"), how, reply, {true, 0.25, "got", "expected 2"}));
    REQUIRE(store.put_reply(sample_item("b"), attempt(), sample_reply("later"),
                            {false, 0, "", "checker failed"}));
  }
  const auto store = opened(path);
  const auto back = found(store, sample_item("a"));
  CHECK(back.reply.text == reply.text);
  CHECK(back.reply.reasoning == "thinking");
  REQUIRE(back.reply.calls.size() == 2);
  CHECK(back.reply.calls[0].id == "c1");
  CHECK(back.reply.calls[0].name == "look");
  CHECK(back.reply.calls[0].arguments == "{\"b\": 1, \"a\":2}");
  CHECK(back.reply.calls[1].name == "g");
  CHECK(back.reply.finish == chat::finish_reason::tool_calls);
  CHECK(back.reply.finish_raw == "tool_calls");
  CHECK(back.reply.model == "tiny-1");
  CHECK(back.reply.usage.prompt_tokens == 18'446'744'073'709'551'615ULL);
  CHECK(back.reply.usage.cached_tokens == 0U);
  CHECK_FALSE(back.reply.usage.completion_tokens.has_value());
  CHECK_FALSE(back.reply.usage.reasoning_tokens.has_value());
  CHECK_FALSE(back.reply.timing.first_token.has_value());
  CHECK(back.reply.timing.total == std::chrono::nanoseconds(1'234'567'891));
  CHECK(back.reply.dropped == std::vector<std::string>{"seed"});
  CHECK(back.predicted_cached_tokens == 643U);
  REQUIRE(back.verdict.has_value());
  CHECK(back.verdict->scored);
  CHECK(back.verdict->value == 0.25);
  CHECK(back.verdict->extracted == "got");
  CHECK(back.verdict->reason == "expected 2");

  const auto unscored = found(store, sample_item("b"));
  CHECK_FALSE(unscored.predicted_cached_tokens.has_value());
  REQUIRE(unscored.verdict.has_value());
  CHECK_FALSE(unscored.verdict->scored);
  CHECK(unscored.verdict->reason == "checker failed");
}

TEST_CASE("text that is not UTF-8 is stored with replacement characters") {
  const temporary_folder folder;
  auto store = begun(folder / "run.db", "R1");
  REQUIRE(store.put_reply(sample_item("a"), attempt(), sample_reply("x\xed\xa0\x80y"), right()));
  CHECK(found(store, sample_item("a")).reply.text == "x\uFFFD\uFFFD\uFFFDy");
}

TEST_CASE("a reply is found only under both of its keys, and models do not mix") {
  const temporary_folder folder;
  auto store = begun(folder / "run.db", "R1");
  REQUIRE(store.put_reply(sample_item("a", "tiny"), attempt(), sample_reply("from tiny"), right()));
  CHECK(absent(store, sample_item("a", "large")));
  CHECK(absent(store, sample_item("b", "tiny")));
  REQUIRE(store.put_reply(sample_item("a", "large"), attempt(), sample_reply("from large"), right()));
  REQUIRE(store.put_verdict(sample_item("a", "tiny"), {true, 0, "", "wrong"}));
  CHECK(found(store, sample_item("a", "tiny")).reply.text == "from tiny");
  CHECK(found(store, sample_item("a", "tiny")).verdict->value == 0);
  CHECK(found(store, sample_item("a", "large")).reply.text == "from large");
  CHECK(found(store, sample_item("a", "large")).verdict->value == 1);
}

TEST_CASE("a reply says when its request went out, and one that stood in sent none") {
  const temporary_folder folder;
  auto store = begun(folder / "run.db", "R1");
  REQUIRE(store.put_reply(sample_item("a"), attempt(), sample_reply("sent"), right()));
  CHECK(found(store, sample_item("a")).sent_unix_ms == 1'786'190'400'123);
  auto reused = attempt();
  reused.answered_by = "R0";
  REQUIRE(store.put_reply(sample_item("b"), reused, sample_reply("reused"), right()));
  CHECK_FALSE(found(store, sample_item("b")).sent_unix_ms);
}

TEST_CASE("a second reply of the same item replaces the first") {
  const temporary_folder folder;
  auto store = begun(folder / "run.db", "R1");
  REQUIRE(store.put_reply(sample_item("a"), attempt(), sample_reply("first"), right()));
  REQUIRE(store.put_reply(sample_item("a"), attempt(), sample_reply("second"), {true, 0, "", ""}));
  CHECK(found(store, sample_item("a")).reply.text == "second");
  CHECK(found(store, sample_item("a")).verdict->value == 0);
}

TEST_CASE("a failed attempt leaves the item open") {
  const temporary_folder folder;
  auto store = begun(folder / "run.db", "R1");
  auto how = attempt();
  REQUIRE(store.begin_attempt(sample_item("a"), how));
  how.failure = fail(errc::timeout, stage::first_byte, "nothing came in 600 s");
  REQUIRE(store.put_failure(sample_item("a"), how));
  CHECK(absent(store, sample_item("a")));
}

TEST_CASE("items that were out when a process ended are counted once, for good") {
  const temporary_folder folder;
  const auto path = folder / "run.db";
  {
    auto store = begun(path, "R1");
    for (const char* id : {"answered", "failed", "out", "out too"}) {
      REQUIRE(store.begin_attempt(sample_item(id), attempt()));
    }
    REQUIRE(store.put_reply(sample_item("answered"), attempt(), sample_reply("x"), right()));
    auto how = attempt();
    how.failure = fail(errc::transport, stage::connect, "refused");
    REQUIRE(store.put_failure(sample_item("failed"), how));
    CHECK(*store.possibly_paid_twice() == 0);
  }
  {
    auto store = begun(path, "R2");
    CHECK(*store.possibly_paid_twice() == 2);
    REQUIRE(store.begin_attempt(sample_item("out"), attempt()));
    REQUIRE(store.put_reply(sample_item("out"), attempt(), sample_reply("x"), right()));
    REQUIRE(store.begin_attempt(sample_item("out too"), attempt()));
  }
  CHECK(*opened(path).possibly_paid_twice() == 2);
}

TEST_CASE(
    "what was spent is kept for each attempt, by suite and backend, those of a killed process included") {
  const temporary_folder folder;
  const auto path = folder / "run.db";
  const auto priced = [](run::cost cost) {
    auto one = attempt();
    one.cost = cost;
    return one;
  };
  const auto run = sample_run("R1");
  {
    auto store = begun(path, "R1");
    REQUIRE(store.begin_attempt(sample_item("a"), priced({0, 500})));
    REQUIRE(store.put_reply(sample_item("a"), priced({70, 70}), sample_reply("A"), right()));
    REQUIRE(store.begin_attempt(sample_item("b"), priced({0, 500})));
    auto broke = priced({0, 500});
    broke.failure = fail(errc::truncated, stage::body, "broke off");
    REQUIRE(store.put_failure(sample_item("b"), broke));
    REQUIRE(store.begin_attempt(sample_item("b"), priced({0, 500})));  // It is out at the end.
    REQUIRE(store.put_reply(sample_item("c"), attempt(), sample_reply("C"), right()));
    auto other = sample_run("R2");
    other.suite_hash = "07he5";
    REQUIRE(store.begin_run(other));
    REQUIRE(store.put_reply(sample_item("a", "big"), priced({9, 9}), sample_reply("A"), right()));
  }
  auto store = opened(path);
  CHECK(*store.spent(run.suite_hash, run.identity) == run::cost{70, 1070});
  CHECK(*store.spent("07he5", run.identity) == run::cost{9, 9});
  CHECK(*store.spent(run.suite_hash, {{"selector", "another"}}) == run::cost{0, 0});
  CHECK(found(store, sample_item("a")).priced);
  CHECK_FALSE(found(store, sample_item("c")).priced);
  REQUIRE(store.begin_run(sample_run("R3")));
  REQUIRE(store.put_reply(sample_item("d"), priced({5, std::nullopt}), sample_reply("D"), right()));
  CHECK(*store.spent(run.suite_hash, run.identity) == run::cost{75, std::nullopt});
}

TEST_CASE("misuse is told apart from damage") {
  const temporary_folder folder;
  auto store = opened(folder / "run.db");
  CHECK(store.begin_attempt(sample_item("a"), attempt()).error().code == errc::invalid_argument);
  CHECK(store.put_verdict(sample_item("a"), right()).error().code == errc::not_found);
  CHECK(store.finish_run("R9", "{}").error().code == errc::not_found);
  REQUIRE(store.begin_run(sample_run("R1")));
  CHECK(store.begin_run(sample_run("R1")).error().code == errc::storage);
  CHECK(store.finish_run("R1", "{\"items\":0}"));
  CHECK(store.put_reply(sample_item("a"), attempt(), sample_reply("still usable"), right()));
}

TEST_CASE("the log is carried into the file by sync, and by itself after a thousand commits") {
  const temporary_folder folder;
  const auto path = folder / "run.db";
  auto store = begun(path, "R1");
  const auto before = std::filesystem::file_size(path);
  REQUIRE(store.put_reply(sample_item("a"), attempt(), sample_reply(std::string(100'000, 'x')), right()));
  CHECK(std::filesystem::file_size(path) == before);
  REQUIRE(store.sync());
  const auto synced = std::filesystem::file_size(path);
  CHECK(synced >= 100'000);
  for (int i = 0; i < 1001; ++i) {
    REQUIRE(store.put_reply(sample_item(std::to_string(i)), attempt(), sample_reply("0123456789"), right()));
  }
  CHECK(std::filesystem::file_size(path) >= synced + 10'010);
}

TEST_CASE("what is written together is committed at once, or not at all") {
  const temporary_folder folder;
  const auto path = folder / "run.db";
  auto store = begun(path, "R1");
  const auto answer = [&](const std::string& id) -> result<void> {
    auto begun = store.begin_attempt(sample_item(id), attempt());
    if (!begun) return std::move(begun).error();
    auto how = attempt();
    how.number = *begun;
    return store.put_reply(sample_item(id), how, sample_reply("to " + id), right());
  };
  const auto before = commits_in_log(path);
  REQUIRE(answer("alone"));
  CHECK(commits_in_log(path) == before + 2);
  REQUIRE(store.together([&]() -> result<void> {
    for (int i = 0; i < 100; ++i) {
      if (auto done = answer(std::to_string(i)); !done) return done;
    }
    return {};
  }));
  CHECK(commits_in_log(path) == before + 3);
  for (int i = 0; i < 100; ++i) CHECK(found(store, sample_item(std::to_string(i))).verdict->value == 1);

  const auto half = store.together([&]() -> result<void> {
    if (auto done = answer("x"); !done) return done;
    return fail(errc::bad_suite, stage::suite, "no more");
  });
  REQUIRE_FALSE(half);
  CHECK(half.error().code == errc::bad_suite);
  // A write that failed is not kept by halves where nobody looked.
  const auto unheard = store.together([&]() -> result<void> {
    static_cast<void>(answer("y"));
    static_cast<void>(store.put_verdict(sample_item("without a reply"), right()));
    return {};
  });
  REQUIRE_FALSE(unheard);
  CHECK(unheard.error().code == errc::not_found);
  CHECK(absent(store, sample_item("x")));
  CHECK(absent(store, sample_item("y")));
  CHECK(commits_in_log(path) == before + 3);
  REQUIRE(answer("y"));
  CHECK(commits_in_log(path) == before + 5);
}
