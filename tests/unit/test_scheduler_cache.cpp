// What requests on the simulated engine find in the prefix cache, and leave there.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "unit/shared_prompts.hpp"

using namespace evalcore;
using namespace evalcore::test;

namespace {

engine::request with_key(engine::request what, std::string key) {
  what.share->key = std::move(key);
  return what;
}

}  // namespace

TEST_CASE("a request without a key leaves nothing behind") {
  rig one({}, on_grid(1), roomy());
  auto asked = one.submit(asking(items(100, 1)[0]));
  one.run();
  CHECK(asked.answer().generation_tokens == 4);
  CHECK(one.model.opened[0].cuts.empty());
  CHECK(one.model.model.counted().snapshots == 0);
  CHECK(one.prefixes->stats().snapshots == 0);
  CHECK(one.prefixes->stats().misses == 0);
}

TEST_CASE("a conversation keeps one snapshot a call, eight tokens before the end of its prompt") {
  rig one({}, on_grid(1), roomy());
  std::string talk(100, 't');
  for (int turn = 0; turn < 3; ++turn) {
    auto asked = one.submit(sharing(talk, std::nullopt));
    one.run();
    CHECK(asked.answer().cached_tokens == (turn == 0 ? 0 : talk.size() - 32));
    CHECK(one.model.opened.back().cuts ==
          std::vector<std::uint32_t>{static_cast<std::uint32_t>(talk.size()) - 8});
    CHECK(one.prefixes->stats().stores == static_cast<std::uint64_t>(turn) + 1);
    talk += asked.text + std::string(20, 'u');
  }
}

TEST_CASE("the first prompt of a tool loop is restored after its four steps, on a recurrent engine too") {
  auto how = on_grid(1);
  how.about.recurrent = true;
  auto cache = roomy();
  cache.max_snapshots = 8;
  rig one({}, how, cache);
  const std::string first(200, 'q');
  auto prompt = first;
  for (int step = 0; step < 5; ++step) {
    auto asked = one.submit(sharing(prompt, std::nullopt));
    one.run();
    CHECK(asked.answer().cached_tokens == (step == 0 ? 0 : 192 + 50 * (static_cast<std::size_t>(step) - 1)));
    prompt += std::string(50, static_cast<char>('a' + step));
  }
  auto again = one.submit(sharing(first + "another question", std::nullopt));
  one.run();
  CHECK(again.answer().cached_tokens == 192);
}

TEST_CASE("a recurrent engine keeps two snapshots, the last used") {
  auto how = on_grid(1);
  how.about.recurrent = true;
  rig one({}, how, roomy());
  for (const char letter : {'a', 'b', 'a', 'c'}) {
    auto asked = one.submit(sharing(std::string(100, letter) + item(0), {{100}}));
    one.run();
  }
  CHECK(one.model.model.live_snapshots() == 2);
  auto kept = one.submit(sharing(std::string(100, 'a') + item(1), {{}}));
  auto gone = one.submit(sharing(std::string(100, 'b') + item(1), {{}}));
  one.run();
  CHECK(kept.answer().cached_tokens == 100);
  CHECK(gone.answer().cached_tokens == 0);
}

TEST_CASE("one budget holds for all keys together, and the one unused for longest goes first") {
  rig one({}, on_grid(1), engine::prefix_cache_options{.max_bytes = 250 * token_bytes, .reserve_bytes = 0});
  const auto ask = [&](const std::string& key) {
    auto asked = one.submit(with_key(sharing(items(100, 1)[0], {{100}}), key));
    one.run();
    CHECK(one.model.model.live_snapshot_tokens() <= 250);
    return asked.answer().cached_tokens;
  };
  CHECK(ask("first") == 0);
  CHECK(ask("second") == 0);
  CHECK(ask("first") == 100);
  CHECK(ask("third") == 0);
  CHECK(ask("first") == 100);
  CHECK(ask("second") == 0);
  CHECK(one.prefixes->stats().evictions == 2);
}

TEST_CASE("the same prompt again is restored but for its last token, and short prompts leave nothing") {
  rig one({}, on_grid(1), roomy());
  auto first = one.submit(sharing(std::string(100, 's'), {{100}}));
  auto tiny = one.submit(sharing(std::string(16, 't'), {{16}}));
  one.run();
  const auto before = one.model.model.counted().prompt_tokens;
  auto again = one.submit(sharing(std::string(100, 's'), {{100}}));
  one.run();
  CHECK(again.answer().cached_tokens == 99);
  CHECK(one.model.model.counted().prompt_tokens == before + 1);
  CHECK(again.text == first.read().text);
  CHECK(one.prefixes->stats().stores == 1);
}

TEST_CASE("clearing between requests lets go of everything, and the next one computes its prompt again") {
  rig one({}, on_grid(1), roomy());
  auto first = one.submit(sharing(items(100, 1)[0], {{100}}));
  REQUIRE(one.machine.control());
  auto second = one.submit(sharing(items(100, 1)[0], {{100}}));
  one.on_control = [&] { CHECK(one.prefixes->clear() == 1); };
  one.run();
  CHECK(second.answer().cached_tokens == 0);
  CHECK(one.model.model.live_snapshots() == 1);
  CHECK(one.prefixes->stats().stores == 2);
}

TEST_CASE("a snapshot that is skipped degrades each call that it concerns, and is reported with the first") {
  rig one({.max_batch_size = 1}, on_grid(1),
          engine::prefix_cache_options{.max_bytes = 150 * token_bytes, .reserve_bytes = 0});
  std::vector<reader> asked;
  for (const std::size_t length : {100U, 200U, 200U, 100U})
    asked.push_back(
        one.submit(sharing(std::string(length, 's') + item(0), {{static_cast<std::uint32_t>(length)}})));
  one.run();
  const auto reason_of = [&](std::size_t index) { return asked[index].answer().prefix->degraded_reason; };
  CHECK(reason_of(0).empty());
  CHECK(reason_of(1) ==
        "#FALLBACK native_apc_store_skipped: the snapshot of the 208-token prompt has no room in the prefix "
        "cache's budget (0 MiB) or in the free memory, so the next request of this key computes the whole "
        "prompt again; give the cache a larger budget, or load a smaller model");
  CHECK(reason_of(2) == reason_of(1));
  CHECK(reason_of(3).empty());
  CHECK(asked[1].answer().prefix->first_report);
  CHECK_FALSE(asked[2].answer().prefix->first_report);
}

TEST_CASE(
    "1,000 random conversations keep within the budget, and an answer is degraded exactly where one was "
    "skipped") {
  constexpr std::uint64_t budget = 4'000;  // Tokens.
  for (const bool size_known : {true, false}) {
    std::mt19937 random(11);
    const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
    auto how = on_grid(1);
    how.knows_snapshot_size = size_known;
    rig one({.max_batch_size = 3, .max_queue_size = 64}, how,
            engine::prefix_cache_options{.max_bytes = budget * token_bytes, .reserve_bytes = 0});
    struct conversation {
      std::string prompt;
      std::size_t turns = 0;
      std::optional<reader> under_way;
    };
    std::vector<conversation> all(1'000);
    std::vector<std::size_t> live;
    std::size_t begun = 0;
    std::uint64_t most = 0;
    std::uint64_t degraded = 0;
    std::uint64_t restored = 0;
    while (begun < all.size() || !live.empty()) {
      while (live.size() < 6 && begun < all.size()) {
        all[begun].prompt.assign(20 + below(200), "abc"[below(3)]);
        if (below(25) == 0) all[begun].prompt.assign(budget + below(500), 'x');
        all[begun].turns = 1 + below(5);
        live.push_back(begun++);
      }
      for (const auto index : live) {
        auto& talk = all[index];
        if (talk.under_way) continue;
        talk.prompt += std::to_string(below(1'000'000)) + std::string(below(60), 'y');
        talk.under_way =
            one.submit(sharing(talk.prompt, std::nullopt, 1 + static_cast<std::uint32_t>(below(4))));
      }
      REQUIRE(one.turn());
      most = std::max(most, one.model.model.live_snapshot_tokens());
      std::erase_if(live, [&](std::size_t index) {
        auto& talk = all[index];
        if (!talk.under_way->read().end) return false;
        const auto& answer = talk.under_way->answer();
        const auto& reason = answer.prefix->degraded_reason;
        degraded += reason.empty() ? 0U : 1U;
        if (!reason.empty()) REQUIRE(reason.starts_with("#FALLBACK native_apc_store_skipped: "));
        restored += answer.cached_tokens;
        talk.prompt += talk.under_way->text;
        talk.under_way.reset();
        return --talk.turns == 0;
      });
    }
    // Each call offers one snapshot.
    CHECK(degraded == one.prefixes->stats().memory_skips);
    CHECK(degraded > 50);
    CHECK(restored > 100'000);
    CHECK(one.prefixes->stats().evictions > 500);
    CHECK(most > budget / 2);
    // One is weighed after it was taken where its size does not show before.
    CHECK(one.prefixes->stats().resident_bytes <= budget * token_bytes);
    if (size_known) CHECK(most <= budget + budget / 100);
  }
}
