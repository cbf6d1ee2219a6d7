// Rows of the canned models: what they feed, what they answer, and what they refuse.
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "unit/llama_model.hpp"

using namespace evalcore;
using namespace evalcore::engine;

namespace {

llama_options canned(evaluation mode = evaluation::parity, std::uint32_t rows = 4) {
  return {
      .model_path = canned_model("canned-q8_0.gguf"), .mode = mode, .max_rows = rows, .context_tokens = 1024};
}

chat::request asks(std::string text) {
  chat::request request;
  auto& turn = request.messages.emplace_back();
  turn.text = std::move(text);
  return request;
}

/// The text of a whole answer, and whether the model ended it.
std::pair<std::string, bool> answer_to(step_engine& engine, const std::string& question) {
  const auto prompt = engine.render(asks(question));
  REQUIRE(prompt);
  row_request row;
  row.prompt = must_tokenize(engine, const_cast<result<rendered>&>(prompt)->text, true);
  row.max_tokens = 64;
  const auto id = engine.open(std::move(row));
  REQUIRE(id);
  std::string text;
  step_output out;
  for (int step = 0; step < 80; ++step) {
    REQUIRE(engine.step(4, out));
    for (const auto& one : out.tokens) {
      text += one.text;
      if (one.end) return {text, true};
    }
  }
  return {text, false};
}

}  // namespace

TEST_CASE("the model answers what it was trained to, in both ways of evaluation and for both weights") {
  for (const auto mode : {evaluation::parity, evaluation::fast}) {
    for (const char* file : {"canned.gguf", "canned-q8_0.gguf"}) {
      auto options = canned(mode);
      options.model_path = canned_model(file);
      const auto engine = must_open(options);
      CHECK(answer_to(*engine, "hi") == std::pair{std::string("Hello!"), true});
      CHECK(answer_to(*engine, "emoji") == std::pair{std::string("café 😀 你好"), true});
      CHECK(answer_to(*engine, "think") ==
            std::pair{std::string("<think>Two plus two is four.</think>The answer is 4."), true});
    }
  }
}

TEST_CASE("the chat is written by the template that llama.cpp takes the model's own for") {
  const auto engine = must_open(canned());
  auto prompt = engine->render(asks("hi"));
  REQUIRE(prompt);
  CHECK(prompt->text == "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
  CHECK(prompt->template_name == "chatml");
  CHECK(prompt->warning.empty());
  // One token each: the two marks, and a byte a token for the rest.
  CHECK(must_tokenize(*engine, prompt->text, true).size() == std::string("\x01user\nhi\x02\n\x01"
                                                                         "assistant\n")
                                                                 .size());
  CHECK(must_tokenize(*engine, "<|im_end|>", false).size() == 10);
}

TEST_CASE("bytes that are no UTF-8 become tokens or an error, and no text none") {
  const auto engine = must_open(canned());
  CHECK(must_tokenize(*engine, "").empty());
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  for (const bool special : {false, true}) {
    CHECK_FALSE(must_tokenize(*engine, bytes, special).empty());
    CHECK_FALSE(must_tokenize(*engine, "\xff\xc3\xed\xa0\x80", special).empty());
    CHECK(must_tokenize(*engine, std::string(300'000, 'a'), special).size() == 300'000);
    auto beyond = engine->tokenize("\xf4\x90\x80\x80", special);  // Above U+10FFFF.
    REQUIRE_FALSE(beyond);
    CHECK(beyond.error().code == errc::invalid_argument);
  }
}

TEST_CASE("a prompt is fed in steps of 256 tokens, from the grid point that was restored") {
  const auto engine = must_open(canned());
  const auto prompt = some_prompt(*engine, 400, 3);
  auto row = greedy_row(prompt, 2);
  row.request.cuts = {192};
  const auto id = engine->open(row.request);
  REQUIRE(id);
  step_output out;
  std::vector<std::uint32_t> processed;
  std::shared_ptr<const snapshot> kept;
  while (out.tokens.empty()) {
    REQUIRE(engine->step(4, out));
    REQUIRE(out.prefill.size() == 1);
    CHECK(out.prefill[0].batch_rows == 1);
    processed.push_back(out.prefill[0].processed);
    CHECK(out.prefill[0].at_cut == (processed.back() == 192));
    auto taken = engine->take_snapshot(*id);
    CHECK(static_cast<bool>(taken) == (processed.back() == 192));
    if (taken) kept = *taken;
  }
  CHECK(processed == std::vector<std::uint32_t>{192, 400});
  REQUIRE(kept);
  CHECK(kept->bytes() == engine->snapshot_bytes(192));
  CHECK(engine->remove(*id));

  row.request.cuts.clear();
  row.request.from = kept;
  row.request.restored = 128;  // Less than it holds.
  REQUIRE(engine->open(row.request));
  processed.clear();
  do {
    REQUIRE(engine->step(4, out));
    for (const auto& one : out.prefill) processed.push_back(one.processed);
  } while (out.tokens.empty());
  CHECK(processed == std::vector<std::uint32_t>{384, 400});
}

TEST_CASE("tokens come with the log probabilities of the likeliest beside them, and stop at max_tokens") {
  const auto engine = must_open(canned());
  row_request row;
  row.prompt = some_prompt(*engine, 20, 1);
  row.max_tokens = 3;
  row.top_logprobs = 4;
  REQUIRE(engine->open(row));
  step_output out;
  std::size_t tokens = 0;
  for (int step = 0; step < 6; ++step) {
    REQUIRE(engine->step(4, out));
    for (const auto& one : out.tokens) {
      ++tokens;
      REQUIRE(one.top.size() == 4);
      CHECK(one.top[0].id == one.id);
      CHECK(one.top[0].logprob == one.logprob);
      CHECK(one.top[0].logprob >= one.top[1].logprob);
      CHECK(one.top[2].logprob >= one.top[3].logprob);
    }
  }
  CHECK(tokens == 3);
}

TEST_CASE("rows beyond max_rows are told to wait, and a row that goes makes room") {
  for (const auto mode : {evaluation::parity, evaluation::fast}) {
    const auto engine = must_open(canned(mode, 2));
    const auto row = greedy_row(some_prompt(*engine, 10, 1), 4).request;
    const auto first = engine->open(row);
    REQUIRE(first);
    REQUIRE(engine->open(row));
    auto third = engine->open(row);
    REQUIRE_FALSE(third);
    CHECK(third.error().code == errc::busy);
    CHECK(engine->remove(*first));
    CHECK(engine->remove(12345));
    third = engine->open(row);
    REQUIRE(third);
    CHECK(*third != *first);
  }
}

TEST_CASE("a snapshot is refused for another beginning and by another engine") {
  for (const auto mode : {evaluation::parity, evaluation::fast}) {
    const auto engine = must_open(canned(mode));
    auto row = greedy_row(some_prompt(*engine, 100, 1), 1);
    row.request.cuts = {64};
    const auto kept = must_run_alone(*engine, row).kept;
    REQUIRE(kept);
    row.request.cuts.clear();
    row.request.from = kept;
    row.request.restored = 64;
    auto other = row.request;
    other.prompt[63] = other.prompt[63] == 5 ? 6 : 5;
    auto opened = engine->open(other);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == errc::invalid_argument);
    const auto stranger = must_open(canned(mode));
    opened = stranger->open(row.request);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == errc::invalid_argument);
    CHECK(engine->open(row.request));
  }
}

TEST_CASE("in fast snapshots share the memory of the rows, and a full one says so until they go") {
  const auto engine = must_open(canned(evaluation::fast, 2));  // A memory for 2,304 tokens.
  std::vector<std::shared_ptr<const snapshot>> kept;
  for (unsigned index = 0; index < 3; ++index) {
    auto row = greedy_row(some_prompt(*engine, 700, index), 4);
    row.request.cuts = {655};  // No grid.
    kept.push_back(must_run_alone(*engine, std::move(row)).kept);
    REQUIRE(kept.back());
  }
  CHECK_FALSE(engine->snapshot_bytes(655));  // It depends on what the row itself came from.
  const auto large = greedy_row(some_prompt(*engine, 900, 5), 4).request;
  auto opened = engine->open(large);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == errc::busy);
  auto warm = greedy_row(some_prompt(*engine, 700, 1), 4);
  warm.request.from = kept[1];
  warm.request.restored = 655;
  CHECK(must_run_alone(*engine, warm).fed == 45);
  warm.request.from.reset();
  kept.clear();
  CHECK(engine->open(large));
}

TEST_CASE("in fast what nested snapshots share counts once") {
  const auto engine = must_open(canned(evaluation::fast, 2));  // A memory for 2,304 tokens.
  auto row = greedy_row(some_prompt(*engine, 900, 1), 4).request;
  row.cuts = {300, 600, 800};
  const auto id = engine->open(row);
  REQUIRE(id);
  std::vector<std::shared_ptr<const snapshot>> kept;
  step_output out;
  while (kept.size() < 3) {
    REQUIRE(engine->step(1, out));
    if (!out.prefill.at(0).at_cut) continue;
    auto taken = engine->take_snapshot(*id);
    REQUIRE(taken);
    kept.push_back(*std::move(taken));
  }
  CHECK(engine->remove(*id));
  CHECK(kept[0]->bytes() == kept[1]->bytes());
  CHECK(2 * kept[0]->bytes() == 3 * kept[2]->bytes());
  // 800 tokens are held, and one more row of 1,000, but no second one.
  auto large = greedy_row(some_prompt(*engine, 980, 5), 20).request;
  const auto first = engine->open(large);
  REQUIRE(first);
  CHECK(engine->open(large).error().code == errc::busy);
  // A longer one holds those that it came from, so that its tokens are there as long as itself.
  kept.erase(kept.begin(), kept.begin() + 2);
  CHECK(engine->open(large).error().code == errc::busy);
  auto warm = row;
  warm.cuts.clear();
  warm.from = kept[0];
  warm.restored = 800;
  const auto second = engine->open(warm);
  REQUIRE(second);
  CHECK(engine->remove(*second));
  warm.from.reset();
  kept.clear();
  CHECK(engine->open(large));
}

TEST_CASE("in fast there are as many snapshots as one memory can share") {
  const auto engine = must_open(canned(evaluation::fast, 2));
  std::vector<std::shared_ptr<const snapshot>> kept;
  for (unsigned index = 0; index < 32; ++index) {
    auto row = greedy_row(some_prompt(*engine, 6, index), 1);
    row.request.cuts = {5};
    kept.push_back(must_run_alone(*engine, std::move(row)).kept);
  }
  auto row = greedy_row(some_prompt(*engine, 6, 0), 1).request;
  row.cuts = {5};
  const auto id = engine->open(row);
  REQUIRE(id);
  step_output out;
  REQUIRE(engine->step(1, out));
  auto taken = engine->take_snapshot(*id);
  REQUIRE_FALSE(taken);
  CHECK(taken.error().code == errc::busy);
  kept.pop_back();
  CHECK(engine->take_snapshot(*id));
}

TEST_CASE(
    "an interrupt just before a step stops that one, and one in a step leaves the row where it stands") {
  const auto engine = must_open(canned());
  const auto row = greedy_row(some_prompt(*engine, 900, 2), 20);
  const auto wanted = must_run_alone(*engine, row);
  REQUIRE(wanted.tokens.size() >= 10);

  const auto id = engine->open(row.request);
  REQUIRE(id);
  step_output out;
  engine->interrupt();
  REQUIRE(engine->step(1, out));
  CHECK(out.interrupted);
  CHECK(out.prefill.empty());
  REQUIRE(engine->step(1, out));
  CHECK_FALSE(out.interrupted);
  CHECK(out.prefill.at(0).processed == 256);

  std::atomic<bool> done{false};
  std::thread caller([&] {
    for (int call = 0; call < 400 && !done; ++call) {
      engine->interrupt();
      std::this_thread::yield();
    }
  });
  row_answer got;
  std::uint32_t processed = 256;
  bool good = true;
  bool end = false;
  for (int step = 0; step < 100'000 && good && !end; ++step) {
    good = static_cast<bool>(engine->step(1, out));
    for (const auto& one : out.prefill) {
      good = good && one.processed > processed;
      processed = one.processed;
    }
    for (const auto& one : out.tokens) {
      if (!one.end) got.tokens.push_back(one.id);
      got.logprobs.push_back(*one.logprob);
      end = one.end || got.tokens.size() == 20;
    }
  }
  done = true;
  caller.join();
  CHECK(good);
  CHECK(got.same_bits(wanted));
}

TEST_CASE("files that are no models are refused with llama.cpp's words, cut ones too") {
  llama_options options = canned();
  options.model_path = "/no/such/model.gguf";
  auto opened = open_llama(options);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == errc::not_found);
  CHECK(opened.error().backend_words.empty());
  options.model_path = canned_model("README.md");
  opened = open_llama(options);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == errc::invalid_argument);
  CHECK(opened.error().backend_words.find("gguf") != std::string::npos);

  std::ifstream whole(canned_model("canned-q8_0.gguf"), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(whole), {});
  const auto folder = std::filesystem::temp_directory_path() / ("evalcore-cut-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  options.model_path = (folder / "cut.gguf").string();
  for (const std::size_t length : {0UL, 3UL, 23UL, 1'000UL, 9'000UL, 40'000UL, 357'000UL}) {
    std::ofstream(options.model_path, std::ios::binary) << bytes.substr(0, length);
    opened = open_llama(options);
    REQUIRE_FALSE(opened);
    CHECK_MESSAGE(opened.error().code == errc::invalid_argument, length);
    CHECK_FALSE(opened.error().backend_words.empty());
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("options out of their range are refused, and a long context is what the model was trained for") {
  for (const auto change :
       {+[](llama_options& o) { o.max_rows = 0; }, +[](llama_options& o) { o.max_rows = 65; },
        +[](llama_options& o) { o.context_tokens = 0; }, +[](llama_options& o) { o.threads = 0; }}) {
    auto options = canned();
    change(options);
    auto opened = open_llama(options);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == errc::invalid_argument);
  }
  auto options = canned();
  options.context_tokens = 100'000;
  CHECK(must_open(options)->about().context_tokens == 1024);
}

TEST_CASE("what an answer may depend on is told") {
  const auto engine = must_open(canned());
  const auto& about = engine->about();
  CHECK(about.name == "llama.cpp");
  CHECK(about.prefix_grid == 64);
  CHECK(about.per_row_sampling);
  CHECK(about.scoring);
  CHECK_FALSE(about.media);
  // sha256sum of the file and of chat_template.jinja beside it.
  CHECK(about.identity.at("model_sha256") ==
        "47a51ec2a6adeb5662a90ebeec4ef40a666c7f19e0d89753b2ab3c09aab6c0dd");
  CHECK(about.identity.at("template_sha256") ==
        "43b8c4b9dc69c965d490eee618988fa5df86ab502d2342e0ebb72c065aacfbce");
  CHECK(about.identity.at("evaluation") == "parity");
  CHECK(about.identity.at("runtime").starts_with("llama.cpp 0."));
  CHECK(must_open(canned(evaluation::fast))->about().prefix_grid == 1);
}

TEST_CASE("of the rows asked for as many are opened as fit beside kept prefixes, and one at least") {
  for (const auto mode : {evaluation::parity, evaluation::fast}) {
    auto options = canned(mode, 64);
    options.context_tokens = 256;
    const auto all = must_open(options);
    CHECK(all->about().max_rows == 64);
    // The whole machine is left to others.
    options.fit_beside = prefix_cache_options{.reserve_bytes = std::uint64_t{1} << 60U};
    const auto one = must_open(options);
    CHECK(one->about().max_rows == 1);
    REQUIRE(one->open(greedy_row(some_prompt(*one, 10, 1), 4).request));
    CHECK(one->open(greedy_row(some_prompt(*one, 10, 1), 4).request).error().code == errc::busy);
    options.fit_beside = prefix_cache_options{.max_bytes = 1, .reserve_bytes = 0};
    CHECK(must_open(options)->about().max_rows == 64);
  }
  // Rows of their own memory leave the prefixes' budget free; those that share one keep prefixes in it.
  auto options = canned(evaluation::parity, 64);
  options.fit_beside = prefix_cache_options{.max_bytes = std::uint64_t{1} << 60U, .reserve_bytes = 0};
  CHECK(must_open(options)->about().max_rows == 1);
  options.mode = evaluation::fast;
  CHECK(must_open(options)->about().max_rows > 1);
}
