// A prefix that several requests share is computed once.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "unit/shared_prompts.hpp"

using namespace evalcore;
using namespace evalcore::test;

TEST_CASE("off the grid a shared prefix is computed once: prefix and suffixes") {
  rig one({.max_batch_size = 4}, on_grid(1), roomy());
  std::vector<reader> asked;
  std::uint64_t suffixes = 0;
  for (const auto& text : items(643, 16)) {
    suffixes += text.size() - 643;
    asked.push_back(one.submit(sharing(text, {{643}})));
  }
  one.run();
  CHECK(one.model.model.counted().prompt_tokens == 643 + suffixes);
  CHECK(one.model.model.counted().snapshots == 1);
  int restored = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    CHECK(asked[i].read().text == alone(items(643, 16)[i], 4));
    restored += asked[i].answer().cached_tokens == 643 ? 1 : 0;
  }
  CHECK(restored == 15);
  CHECK(asked[0].answer().cached_tokens == 0);
}

TEST_CASE("on a grid a shared prefix is computed once up to the grid's last point") {
  rig one({.max_batch_size = 4}, on_grid(64), roomy());
  std::uint64_t fed = 640;  // The largest multiple of 64 not above 643.
  std::vector<reader> asked;
  for (const auto& text : items(643, 16)) {
    fed += text.size() - 640;
    asked.push_back(one.submit(sharing(text, {{643}})));
  }
  one.run();
  CHECK(one.model.model.counted().prompt_tokens == fed);
  CHECK(asked[15].answer().cached_tokens == 640);
  CHECK(one.model.opened.at(0).cuts == std::vector<std::uint32_t>{640});
}

TEST_CASE("requests that share more than the first cut wait for the deepest that they share") {
  // A system turn for all, and a document for each half.
  rig one({.max_batch_size = 8}, on_grid(1), roomy());
  const std::string system(200, 's');
  std::uint64_t suffixes = 0;
  std::vector<reader> asked;
  for (const char document : {'a', 'b'}) {
    for (int i = 0; i < 4; ++i) {
      suffixes += item(i).size();
      asked.push_back(one.submit(sharing(system + std::string(300, document) + item(i), {{200, 500}})));
    }
  }
  one.run();
  CHECK(one.model.model.counted().prompt_tokens == 200 + 2 * 300 + suffixes);
  for (auto& each : asked) CHECK(each.answer().generation_tokens == 4);
}

TEST_CASE("a request waits for a prefix that it does not name itself") {
  rig one({.max_batch_size = 2}, on_grid(1), roomy());
  auto first = one.submit(sharing(std::string(100, 's') + " one", {{100}}));
  auto second = one.submit(sharing(std::string(100, 's') + " two", {{}}));
  one.run();
  CHECK(second.answer().cached_tokens == 100);
  CHECK(one.model.model.counted().prompt_tokens == 108);
}

TEST_CASE("when the one that computes a prefix is cancelled another takes its place") {
  rig one({.max_batch_size = 4}, on_grid(1), roomy());
  std::vector<reader> asked;
  for (const auto& text : items(200, 4)) asked.push_back(one.submit(sharing(text, {{200}})));
  one.steps(2);
  CHECK(one.model.model.open_rows() == 1);
  CHECK(one.machine.cancel(asked[0].id));
  one.run();
  // 100 tokens were lost.
  CHECK(one.model.model.counted().prompt_tokens == 100 + 200 + 3 * item(0).size());
  for (std::size_t i = 1; i < 4; ++i) CHECK(asked[i].answer().generation_tokens == 4);
}

TEST_CASE("nobody waits for a cancelled row that the engine cannot let go") {
  auto how = on_grid(1);
  how.holds_prefilling_rows = true;
  how.prefill_chunk = 10;
  rig one({.max_batch_size = 3}, how, roomy());
  auto first = one.submit(sharing(items(200, 2)[0], {{200}}));
  auto other = one.submit(sharing(std::string(300, 'x'), {{}}));  // Prefills beside it.
  auto second = one.submit(sharing(items(200, 2)[1], {{200}}));
  one.steps(3);
  CHECK(one.model.opened.size() == 2);
  CHECK(one.machine.cancel(first.id));
  one.steps(1);
  CHECK(one.model.model.open_rows() == 3);
  one.run();
  CHECK(second.answer().cached_tokens == 0);
  CHECK(second.text == alone(items(200, 2)[1], 4));
}

TEST_CASE("a request that is cancelled at its cut leaves its prefix to those that wait for it") {
  rig one({.max_batch_size = 2}, on_grid(1), roomy());
  auto first = one.submit(sharing(items(100, 2)[0], {{100}}));
  auto second = one.submit(sharing(items(100, 2)[1], {{100}}));
  one.steps(2);
  CHECK(one.machine.cancel(first.id));
  one.run();
  CHECK(second.answer().cached_tokens == 100);
}

TEST_CASE("a prefix that cannot be kept is waited for once") {
  rig one({.max_batch_size = 4}, on_grid(1), engine::prefix_cache_options{.max_bytes = 100 * token_bytes});
  std::vector<reader> asked;
  std::uint64_t all = 0;
  for (const auto& text : items(200, 4)) {
    all += text.size();
    asked.push_back(one.submit(sharing(text, {{200}})));
  }
  one.run();
  CHECK(one.model.model.counted().prompt_tokens == all);
  CHECK(one.model.model.counted().snapshots == 0);
  CHECK(one.model.most_rows == 4);
  int told_first = 0;
  for (auto& each : asked) {
    CHECK(each.answer().prefix->degraded_reason.starts_with("#FALLBACK native_apc_store_skipped: "));
    told_first += each.answer().prefix->first_report ? 1 : 0;
  }
  CHECK(told_first == 1);
}

TEST_CASE("an engine that tells a snapshot's size only afterwards keeps the same budget") {
  auto how = on_grid(1);
  how.knows_snapshot_size = false;
  rig one({}, how, engine::prefix_cache_options{.max_bytes = 250 * token_bytes, .reserve_bytes = 0});
  auto first = one.submit(sharing(items(200, 1)[0], {{200}}));
  auto second = one.submit(sharing(std::string(300, 'x') + item(0), {{300}}));
  one.run();
  CHECK(first.answer().prefix->degraded_reason.empty());
  CHECK(second.answer().prefix->degraded_reason.starts_with("#FALLBACK native_apc_store_skipped: "));
  CHECK(one.prefixes->stats().resident_bytes == 200 * token_bytes);
  CHECK(one.model.model.live_snapshots() == 1);
}

TEST_CASE("a snapshot that the engine cannot take is said and harms no answer") {
  rig one({.max_batch_size = 2}, on_grid(1), roomy());
  one.model.model.fail_snapshot(fail(errc::no_memory, stage::body, "no room"));
  auto first = one.submit(sharing(items(200, 2)[0], {{200}}));
  auto second = one.submit(sharing(items(200, 2)[1], {{200}}));
  one.run();
  CHECK(first.answer().prefix->degraded_reason.starts_with("#FALLBACK native_apc_store_rejected: "));
  CHECK(first.text == alone(items(200, 2)[0], 4));
  CHECK(second.answer().prefix->degraded_reason.empty());  // It took one itself.
  CHECK(one.prefixes->stats().stores == 1);
}

TEST_CASE("free memory that is too small for a snapshot keeps it from being taken") {
  auto how = on_grid(1);
  how.memory = {
      .working_set = 1000 * token_bytes, .active = 700 * token_bytes, .free_ram = 5000 * token_bytes};
  rig one({}, how,
          engine::prefix_cache_options{.max_bytes = 900 * token_bytes, .reserve_bytes = 150 * token_bytes});
  auto first = one.submit(sharing(items(200, 1)[0], {{200}}));
  one.run();
  CHECK(one.prefixes->stats().memory_skips == 1);
  one.model.model.set_memory({.working_set = 1000 * token_bytes, .active = 600 * token_bytes});
  auto second = one.submit(sharing(items(200, 1)[0], {{200}}));
  one.run();
  CHECK(one.prefixes->stats().stores == 1);
  CHECK(second.answer().cached_tokens == 0);
}

TEST_CASE("requests of another key, scope or image do not share, whatever their text") {
  auto how = on_grid(1);
  how.about.media = true;
  rig one({.max_batch_size = 1}, how, roomy());
  const auto text = items(100, 1)[0];
  auto plain = sharing(text, {{100}});
  auto key = plain;
  key.share->key = "another";
  auto scope = plain;
  scope.share->scope = "another";
  auto image = plain;
  image.media = {{.index = 0, .bytes = "png"}};
  std::vector<reader> asked;
  for (const auto& each : {plain, key, scope, image, plain, image}) asked.push_back(one.submit(each));
  one.run();
  const std::vector<std::uint32_t> cached{0, 0, 0, 0, 100, 100};
  for (std::size_t i = 0; i < asked.size(); ++i) CHECK(asked[i].answer().cached_tokens == cached[i]);
  CHECK(one.model.opened.at(3).media.size() == 1);
}

TEST_CASE("a request without a key neither lends nor borrows") {
  rig one({.max_batch_size = 1}, on_grid(1), roomy());
  auto first = one.submit(sharing(items(100, 1)[0], {{100}}));
  auto second = one.submit(asking(items(100, 1)[0]));
  one.run();
  CHECK(second.answer().cached_tokens == 0);
  CHECK(!second.answer().prefix.has_value());
  CHECK(one.prefixes->stats().stores == 1);
}

TEST_CASE("a conversation's next prompt begins where the last one ended, less eight tokens") {
  rig one({}, on_grid(1), roomy());
  std::string talk(100, 't');
  auto first = one.submit(sharing(talk, std::nullopt));
  one.run();
  CHECK(first.answer().cached_tokens == 0);
  talk += first.text + std::string(20, 'u');
  auto second = one.submit(sharing(talk, std::nullopt));
  one.run();
  CHECK(second.answer().cached_tokens == 92);
  CHECK(second.text == alone(talk, 4));
}

TEST_CASE(
    "cuts are rounded down to the grid and into the prompt, and those too short or doubled are left out") {
  rig one({}, on_grid(64), roomy());
  auto asked = one.submit(sharing(std::string(200, 's'), {{200, 191, 0, 130, 300, 128, 63}}));
  one.run();
  CHECK(asked.answer().generation_tokens == 4);
  CHECK(one.model.opened.at(0).cuts == std::vector<std::uint32_t>{128, 192});
}

TEST_CASE("an engine that lacks room for a row gets that of the oldest snapshot") {
  rig one({.max_batch_size = 1}, on_grid(1), roomy());
  auto first = one.submit(sharing(items(100, 2)[0], {{100}}));
  one.run();
  CHECK(one.model.model.live_snapshots() == 1);
  one.model.model.fail_open(fail(errc::busy, stage::send, "no room"));
  auto second = one.submit(sharing(items(100, 2)[1], {{}}));
  one.run();
  CHECK(second.answer().cached_tokens == 0);
  CHECK(second.answer().generation_tokens == 4);
  CHECK(one.prefixes->stats().evictions == 1);
}

TEST_CASE("metadata says what a request took") {
  auto how = on_grid(1);
  how.cost = {.prefill_token = 10ms, .decode_step = 100ms, .decode_row = 0ms, .snapshot = 0ms};
  rig one({}, how, roomy());
  auto first = one.submit(sharing(items(92, 1)[0], {{92}}, 5));  // 100 tokens.
  one.run();
  // 10 ms of collection, 1 s of prefill, 0.5 s of decode.
  auto meta = engine::metadata(first.answer());
  CHECK(json::to_text(meta) ==
        R"({"execution":{"mode":"continuous","peak_batch_size":1,"queue_s":0.0,"ttft_s":1.11},)"
        R"("performance":{"prompt_tokens_per_second":90.9090909090909,"generation_tokens_per_second":10.0},)"
        R"("prompt_cache":{"mode":"key","key":"suite","backend":"evalcore","cached_tokens":0,)"
        R"("fed_tokens":100,"outcome":"cold"}})");
  auto second = one.submit(sharing(items(92, 1)[0], {{92}}, 5));
  one.run();
  meta = engine::metadata(second.answer());
  CHECK(json::to_text(meta).find(R"("cached_tokens":92,"fed_tokens":8,"outcome":"hit_restore")") !=
        std::string::npos);
  CHECK(second.answer().how.ttft == 190ms);
}

TEST_CASE("metadata has no value for what is unknown") {
  engine::answer none;
  none.template_name = "chatml";
  none.template_warning = "it prints the date";
  CHECK(json::to_text(engine::metadata(none)) ==
        R"({"execution":{"mode":"continuous","peak_batch_size":1,"queue_s":0.0,"ttft_s":null},)"
        R"("performance":{},"template":{"name":"chatml","warning":"it prints the date"}})");
}
