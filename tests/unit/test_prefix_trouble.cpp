// Prefixes that cannot be restored, are in the way, or are not kept at all.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "unit/shared_prompts.hpp"

using namespace evalcore;
using namespace evalcore::test;

TEST_CASE("a snapshot that cannot be restored is dropped, and its prompt is computed and kept again") {
  rig one({.max_batch_size = 2}, on_grid(1), roomy());
  auto first = one.submit(sharing(items(100, 4)[0], {{100}}));
  one.run();
  CHECK(first.answer().prefix->degraded_reason.empty());
  one.model.model.damage_snapshots();
  auto second = one.submit(sharing(items(100, 4)[1], {{100}}));
  auto third = one.submit(sharing(items(100, 4)[2], {{100}}));
  one.run();
  CHECK(second.text.empty());
  CHECK(second.answer().cached_tokens == 0);
  CHECK(second.text == alone(items(100, 4)[1], 4));
  CHECK(second.answer().prefix->degraded_reason ==
        "#FALLBACK native_apc_restore_failed: the snapshot of the first 100 tokens of the 108-token prompt "
        "could not be restored, so the whole prompt was computed; the snapshot is dropped");
  CHECK(second.answer().prefix->first_report);
  // Who came beside it waited for the new one.
  CHECK(third.answer().cached_tokens == 100);
  CHECK(third.answer().prefix->degraded_reason.empty());
  auto fourth = one.submit(sharing(items(100, 4)[3], {{100}}));
  one.run();
  CHECK(fourth.answer().cached_tokens == 100);
  const auto stats = one.prefixes->stats();
  CHECK(stats.unrestorable == 1);
  CHECK(stats.stores == 2);
  CHECK(stats.snapshots == 1);
  CHECK(stats.hits == 2);
  CHECK(stats.misses == 2);
  CHECK(stats.resident_bytes == 100 * token_bytes);
  CHECK(one.model.model.live_snapshots() == 1);
}

TEST_CASE("of nested snapshots that cannot be restored each is dropped when it is met") {
  rig one({.max_batch_size = 1}, on_grid(1), roomy());
  const auto text = std::string(100, 'a') + std::string(100, 'b');
  auto first = one.submit(sharing(text + item(0), {{100, 200}}));
  one.run();
  one.model.model.damage_snapshots();
  auto longer = one.submit(sharing(text + item(1), {{}}));
  auto shorter = one.submit(sharing(text + item(2), {{}}));
  auto third = one.submit(sharing(text + item(3), {{}}));
  one.run();
  CHECK(longer.answer().prefix->degraded_reason.find("first 200 tokens") != std::string::npos);
  CHECK(shorter.answer().prefix->degraded_reason.find("first 100 tokens") != std::string::npos);
  CHECK(third.answer().prefix->degraded_reason.empty());
  CHECK(one.prefixes->stats().unrestorable == 2);
  CHECK(one.prefixes->stats().snapshots == 0);
}

TEST_CASE("a row that the engine refuses whatever it begins with leaves the snapshot alone") {
  auto how = on_grid(1);
  how.about.context_tokens = 150;
  rig one({.max_batch_size = 1}, how, roomy());
  auto first = one.submit(sharing(items(100, 1)[0], {{100}}));
  auto over = one.submit(sharing(std::string(100, 's') + std::string(60, 'x'), {{100}}));
  auto again = one.submit(sharing(items(100, 1)[0], {{100}}));
  one.run();
  CHECK(over.read().end->error().code == errc::context_overflow);
  CHECK(again.answer().cached_tokens == 100);
  CHECK(one.prefixes->stats().unrestorable == 0);
}

TEST_CASE("a request that waits for room counts its prefix once, when its row begins") {
  rig one({.max_batch_size = 2}, on_grid(1), roomy());
  auto first = one.submit(sharing(items(100, 3)[0], {{100}}));
  one.run();
  auto long_one = one.submit(sharing(std::string(30, 'x'), {{}}, 20));
  while (one.model.model.open_rows() == 0) REQUIRE(one.turn());
  auto second = one.submit(sharing(items(100, 3)[1], {{100}}));
  for (int refused = 0; refused < 3; ++refused) {
    one.model.model.fail_open(fail(errc::busy, stage::send, "no room"));
    one.steps(2);
  }
  one.run();
  CHECK(second.answer().generation_tokens == 4);
  CHECK(one.prefixes->stats().misses + one.prefixes->stats().hits == 3);
}

TEST_CASE("snapshots that no row uses make room for the rows of a full batch") {
  auto how = on_grid(1);
  how.shared_tokens = 1'000;
  rig one({.max_batch_size = 4}, how, roomy());
  // Six prefixes of 100 tokens are kept of what is over.
  std::vector<reader> before;
  for (char letter = 'a'; letter < 'g'; ++letter) {
    before.push_back(one.submit(sharing(std::string(100, letter) + item(0), {{100}})));
    one.run();
  }
  REQUIRE(one.prefixes->stats().snapshots == 6);
  CHECK(one.prefixes->stats().evictions == 0);
  // Four rows of 200 tokens fit beside two of them.
  std::vector<reader> rows;
  for (char letter = 'w'; letter < 'w' + 4; ++letter) {
    auto what = asking(std::string(160, letter), 40);
    what.share = engine::prefix_sharing{.key = "other", .cuts = std::vector<std::uint32_t>{}};
    rows.push_back(one.submit(what));
  }
  one.run();
  for (auto& each : rows) CHECK(each.answer().how.peak_batch_size == 4);
  CHECK(one.prefixes->stats().evictions == 4);
  CHECK(one.prefixes->longest(engine::cache_salt("local", "suite", engine::row_layout::batch, {}),
                              std::vector<engine::token>(120, 'f')) == 100);
}

TEST_CASE("the snapshot that a row is to begin at does not go for it while others run") {
  auto how = on_grid(1);
  how.shared_tokens = 400;
  rig one({.max_batch_size = 2}, how, roomy());
  auto first = one.submit(sharing(items(100, 2)[0], {{100}}));
  one.run();
  auto running = one.submit(sharing(std::string(250, 'x'), {{}}, 40));
  auto second = one.submit(sharing(items(100, 2)[1], {{100}}, 10));  // No room beside it.
  one.run();
  CHECK(running.answer().how.peak_batch_size == 1);
  CHECK(second.answer().cached_tokens == 100);
  CHECK(one.prefixes->stats().evictions == 0);
}

TEST_CASE("a key on an engine without snapshots is answered, and told why nothing is shared") {
  auto how = on_grid(1);
  how.about.snapshots = false;
  rig one({}, how, roomy());
  auto first = one.submit(sharing(items(100, 2)[0], {{100}}));
  auto second = one.submit(sharing(items(100, 2)[1], {{100}}));
  one.run();
  CHECK(first.answer().how.peak_batch_size == 2);
  CHECK(second.answer().cached_tokens == 0);
  CHECK(second.answer().prefix->key == "suite");
  for (auto* each : {&first, &second}) {
    CHECK(each->answer().prefix->degraded_reason ==
          "#FALLBACK native_apc_unsupported: simulated takes no snapshots, so each request of this key "
          "computes its whole prompt");
  }
  CHECK(first.answer().prefix->first_report);
  CHECK_FALSE(second.answer().prefix->first_report);
}

TEST_CASE("a key where prefixes are switched off is told so, once for each key to a log") {
  rig one({}, on_grid(1));
  auto first = one.submit(sharing(items(100, 2)[0], {{100}}));
  auto second = one.submit(sharing(items(100, 2)[1], {{100}}));
  auto other = sharing(items(100, 2)[1], {{100}});
  other.share->key = "another";
  auto third = one.submit(other);
  auto plain = one.submit(asking(items(100, 2)[1]));
  one.run();
  for (auto* each : {&first, &second, &third}) {
    CHECK(each->answer().prefix->degraded_reason.starts_with("#FALLBACK native_apc_off: "));
  }
  CHECK(first.answer().prefix->first_report);
  CHECK_FALSE(second.answer().prefix->first_report);
  CHECK(third.answer().prefix->first_report);
  CHECK_FALSE(plain.answer().prefix.has_value());
}
