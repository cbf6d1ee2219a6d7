#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <semaphore>
#include <thread>

#include <evalcore/backend/embedded.hpp>
#include <evalcore/engine/simulated.hpp>

#include "backend/embedded_notes.hpp"
#include "unit/backend_probe.hpp"

using namespace evalcore;

namespace {

/// Goes on with the alphabet from "a" where the row does not end in a part of it, and ends after so many
/// letters.
engine::simulated_options spelling(std::size_t letters) {
  engine::simulated_options how;
  how.next = [letters](std::span<const engine::token> tokens) -> engine::token {
    for (std::size_t length = letters; length > 0; --length) {
      bool all = tokens.size() >= length;
      for (std::size_t at = 0; all && at < length; ++at) {
        all = tokens[tokens.size() - length + at] == static_cast<engine::token>('a' + at);
      }
      if (all)
        return length == letters ? engine::simulated_engine::end_token
                                 : static_cast<engine::token>('a' + length);
    }
    return 'a';
  };
  return how;
}

/// A backend on a simulated engine, whose counters stay readable.
struct bench {
  explicit bench(engine::simulated_options how = spelling(3), engine::options schedule = {},
                 std::optional<std::uint32_t> safe_width = {}, bool keep_prefixes = true,
                 bool completions = false) {
    schedule.batch_wait_ms = 0;
    auto made = backend::open_embedded(
        loop,
        [&]() -> result<engine::loaded_engine> {
          auto simulated = std::make_unique<engine::simulated_engine>(how, clock);
          counted = &simulated->counted();
          return engine::loaded_engine{
              .engine = std::move(simulated), .safe_width = safe_width, .keep_prefixes = keep_prefixes};
        },
        schedule, {}, completions);
    REQUIRE(made);
    held = *std::move(made);
  }
  chat::reply answer(const chat::request& request) {
    auto outcome = test::start(loop, *held, request).sink->wait();
    REQUIRE(outcome);
    return *std::move(outcome);
  }

  net::loop loop;
  engine::virtual_clock clock;
  const engine::simulated_engine::counters* counted = nullptr;
  std::unique_ptr<backend::backend> held;
};

/// The likelihoods of these continuations, all asked in one turn of the loop; in their order.
std::vector<result<chat::loglikelihood>> score_all(bench& b, const std::string& context,
                                                   const std::vector<std::string>& continuations) {
  struct answers {
    std::mutex guarded;
    std::condition_variable changed;
    std::vector<std::optional<result<chat::loglikelihood>>> all;
    std::size_t missing;
  };
  const auto came = std::make_shared<answers>();
  came->missing = continuations.size();
  came->all.resize(continuations.size());
  b.loop.run_and_wait([&] {
    for (std::size_t at = 0; at < continuations.size(); ++at) {
      b.held->loglikelihood({.model = {}, .context = context, .continuation = continuations[at], .hints = {}},
                            [came, at](result<chat::loglikelihood> one) {
                              const std::lock_guard lock(came->guarded);
                              came->all[at] = std::move(one);
                              --came->missing;
                              came->changed.notify_all();
                            });
    }
  });
  std::unique_lock lock(came->guarded);
  REQUIRE(came->changed.wait_for(lock, std::chrono::seconds(60), [&] { return came->missing == 0; }));
  std::vector<result<chat::loglikelihood>> all;
  for (auto& one : came->all) all.push_back(*std::move(one));
  return all;
}

chat::request with_bound(std::uint32_t tokens) {
  auto request = test::user_says("hi");
  request.params.max_tokens = tokens;
  return request;
}

}  // namespace

TEST_CASE("an engine's answer is a reply with its counts and how it was run") {
  bench b;
  const auto one = test::start(b.loop, *b.held, with_bound(10));
  const auto reply = one.sink->wait();
  REQUIRE(reply);
  CHECK(reply->text == "abc");
  CHECK(one.sink->text == "abc");
  CHECK(one.sink->first_tokens == 1);
  CHECK(one.sink->ends == 1);
  CHECK(reply->finish == chat::finish_reason::stop);
  CHECK(reply->usage.completion_tokens == 3);
  CHECK(reply->usage.prompt_tokens == b.counted->prompt_tokens);
  CHECK(reply->timing.first_token);
  REQUIRE(reply->metadata.size() > 1);
  CHECK(reply->metadata.front().first == "execution");
  // The engine's own stamps, not the times at which the loop came to read them.
  const auto* ttft = reply->metadata.front().second.find("ttft_s");
  double storage = 0;
  REQUIRE(ttft);
  CHECK(*ttft->as_double(storage) == seconds(*reply->timing.first_token));
  CHECK(reply->metadata[1].first == "performance");
  const auto* peak = reply->metadata[1].second.find("peak_memory_gb");
  REQUIRE(peak);
  CHECK(*peak->as_double(storage) > 0.001);
}

TEST_CASE("what a loader found out about its engine is told, and planned for") {
  bench careful(spelling(3), {.max_batch_size = 4}, 2, false);
  const auto& about = careful.held->about();
  CHECK(about.notes ==
        std::vector<std::string>{
            "at most 2 rows share a batch, and prefixes are not kept, so "
            "that an answer does not depend on the others: whoever loaded the engine says so"});
  REQUIRE(about.cache);
  CHECK_FALSE(about.cache->keeps);
  CHECK(about.slots == 4);
  for (int i = 0; i < 2; ++i) {
    auto request = with_bound(4);
    request.messages.front().text = std::string(300, 's');
    request.hints.shared_tokens = std::vector<std::uint32_t>{200};
    CHECK(careful.answer(request).usage.cached_tokens == 0);
  }

  bench alone(spelling(3), {.max_batch_size = 4}, 0);
  CHECK(alone.held->about().slots == 1);
  CHECK(alone.held->about().notes ==
        std::vector<std::string>{"rows are computed one by one, so that an answer does not depend on the "
                                 "others: whoever loaded the engine says so"});
  CHECK(alone.held->about().cache->keeps);

  const bench free;
  CHECK(free.held->about().notes.empty());
}

TEST_CASE("an answer that its bound cuts says so") {
  bench b;
  const auto reply = b.answer(with_bound(2));
  CHECK(reply.text == "ab");
  CHECK(reply.finish == chat::finish_reason::length);
}

TEST_CASE("an answer ends before a stop string") {
  bench b;
  auto request = with_bound(10);
  request.params.stop = {"bc"};
  const auto reply = b.answer(request);
  CHECK(reply.text == "a");
  CHECK(reply.stop_string == "bc");
}

TEST_CASE("a character that the bound cuts is no part of the answer") {
  engine::simulated_options how;
  how.next = [](std::span<const engine::token> tokens) -> engine::token {
    // U+20AC again and again: E2 82 AC.
    switch (tokens.back()) {
      case 0xE2:
        return 0x82;
      case 0x82:
        return 0xAC;
      default:
        return 0xE2;
    }
  };
  bench b(how);
  const auto one = test::start(b.loop, *b.held, with_bound(5));
  const auto reply = one.sink->wait();
  REQUIRE(reply);
  CHECK(reply->text == "\u20AC");
  CHECK(one.sink->text == "\u20AC");
  CHECK_FALSE(reply->damage.invalid_utf8);
}

TEST_CASE("what the engine cannot honour is refused before it is sent, with the mend") {
  bench b;
  auto request = with_bound(10);
  request.params.format = chat::response_format{};
  CHECK(b.held->check(request).error().code == errc::unsupported);
  const auto one = test::start(b.loop, *b.held, request);
  const auto outcome = one.sink->wait();
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == errc::unsupported);
  CHECK(outcome.error().message ==
        "the embedded engine has no response_format; leave it out, or run the model behind a server");
  CHECK(one.sink->ends == 1);
}

TEST_CASE("a request that is cancelled ends as such, once") {
  engine::simulated_options how;
  how.next = [](std::span<const engine::token>) -> engine::token { return 'a'; };
  bench b(how);
  const auto one = test::start(b.loop, *b.held, with_bound(1'000'000));
  b.loop.run_and_wait([&] { b.held->cancel(one.ticket); });
  const auto outcome = one.sink->wait();
  REQUIRE_FALSE(outcome);
  // A reader that falls behind a simulated engine may lose the request first.
  CHECK(outcome.error().code == errc::cancelled);
  CHECK(one.sink->ends == 1);
}

TEST_CASE("requests that are out when the backend goes end as closed") {
  engine::simulated_options how;
  how.next = [](std::span<const engine::token>) -> engine::token { return 'a'; };
  how.about.max_rows = 1;
  auto b = std::make_unique<bench>(how, engine::options{.max_batch_size = 1});
  std::vector<test::started> all;
  for (int i = 0; i < 4; ++i) all.push_back(test::start(b->loop, *b->held, with_bound(1'000'000)));
  b->held.reset();
  for (const auto& one : all) {
    const auto outcome = one.sink->wait();
    REQUIRE_FALSE(outcome);
    CHECK((outcome.error().code == errc::closed || outcome.error().code == errc::cancelled));
    CHECK(one.sink->ends == 1);
  }
}

TEST_CASE("the tokens of a prompt are those that are computed for it") {
  bench b;
  const auto request = with_bound(1);
  const auto tokens = test::ask<std::vector<backend::token>>(
      b.loop, [&](auto done) { b.held->tokenize(request, std::move(done)); });
  REQUIRE(tokens);
  const auto reply = b.answer(request);
  CHECK(tokens->size() == reply.usage.prompt_tokens);
}

TEST_CASE("what requests share is computed once where the hints say that it is kept") {
  bench b;
  const std::string system(200, 's');
  std::uint64_t cached = 0;
  std::uint64_t prompts = 0;
  for (const char* question : {"one", "two", "three"}) {
    auto request = with_bound(4);
    request.messages.insert(request.messages.begin(), {.who = chat::role::system, .text = system});
    request.messages.back().text = question;
    request.hints.shared_tokens = std::vector<std::uint32_t>{200};
    const auto reply = b.answer(request);
    cached += reply.usage.cached_tokens.value_or(0);
    prompts += reply.usage.prompt_tokens.value_or(0);
  }
  CHECK(cached == 2 * 200);
  CHECK(b.counted->prompt_tokens == prompts - cached);

  auto apart = with_bound(4);
  apart.messages.insert(apart.messages.begin(), {.who = chat::role::system, .text = system});
  apart.hints.use_cache = false;
  CHECK(b.answer(apart).usage.cached_tokens == 0);
}

TEST_CASE("continuations of one context are scored as branches of it, computed once") {
  bench b;
  const auto scores = score_all(b, "which one?", {" a", " bc", " a"});
  for (const auto& one : scores) REQUIRE(one);
  CHECK(scores[0]->tokens == 2);
  CHECK(scores[1]->tokens == 3);
  CHECK(scores[0]->sum_logprob == scores[2]->sum_logprob);
  CHECK(b.counted->opened == 1);
}

TEST_CASE("a continuation that is too long leaves the others of its context alone") {
  auto how = spelling(3);
  how.about.context_tokens = 12;
  bench b(how);
  const auto scores = score_all(b, "0123456789", {"a", "ab", "abc"});
  // A beginning, ten letters, and all but the last letter of each.
  CHECK(scores[0]);
  CHECK(scores[1]);
  REQUIRE_FALSE(scores[2]);
  CHECK(scores[2].error().code == errc::context_overflow);
  CHECK(scores[2].error().message ==
        "context and continuation have 13 tokens without the last, but the model holds 12: open it with a "
        "larger context");
  CHECK(b.counted->opened == 1);
}

namespace {

chat::request choosing(const std::string& prompt, std::vector<std::string> choices) {
  auto request = test::user_says(prompt);
  request.choices = std::move(choices);
  return request;
}

}  // namespace

TEST_CASE("a request with choices is answered with the likelihood of each, in order") {
  bench b;
  const auto alone = score_all(b, "which one? ", {"a", "abc", "b"});
  const auto one = test::start(b.loop, *b.held, choosing("which one? ", {"a", "abc", "b"}));
  const auto reply = one.sink->wait();
  REQUIRE(reply);
  REQUIRE(reply->choices.size() == 3);
  for (std::size_t at = 0; at < 3; ++at) {
    CHECK(reply->choices[at].sum_logprob == alone[at]->sum_logprob);
    CHECK(reply->choices[at].tokens == alone[at]->tokens);
  }
  // The engine's own answer is "abc"; the blank before it is a token of each choice.
  CHECK(reply->choices[1].sum_logprob > reply->choices[2].sum_logprob);
  CHECK(reply->text.empty());
  CHECK(reply->finish == chat::finish_reason::stop);
  // A beginning, and the text without the blank at its end.
  CHECK(reply->usage.prompt_tokens == 11);
  CHECK(reply->usage.completion_tokens == 0);
  CHECK(one.sink->ends == 1);
}

namespace {

/// Lets an engine go on when it has heard of a token, or of the end.
class pacing_sink final : public backend::sink {
 public:
  void on_first_token(instant /*now*/) override {}
  void on_text(std::string_view /*delta*/) override { may_go_on.release(); }
  void on_end(result<chat::reply> outcome) override {
    may_go_on.release();
    end.set_value(std::move(outcome));
  }

  std::counting_semaphore<> may_go_on{1};
  std::promise<result<chat::reply>> end;
};

}  // namespace

TEST_CASE(
    "a request with choices is answered, and prompts are cut into tokens, while another answer goes on") {
  const auto paced = std::make_shared<pacing_sink>();
  std::atomic<bool> enough = false;
  engine::simulated_options how;
  how.next = [paced, &enough](std::span<const engine::token> tokens) -> engine::token {
    // Only what the template writes has the end of a turn in it.
    const auto begins = tokens.first(std::min<std::size_t>(tokens.size(), 16));
    if (std::ranges::find(begins, engine::simulated_engine::end_token) == begins.end()) return 'b';
    paced->may_go_on.acquire();
    return enough ? engine::simulated_engine::end_token : static_cast<engine::token>('a');
  };
  bench b(how);
  b.loop.run_and_wait([&] { b.held->start(with_bound(100'000), paced); });
  CHECK(test::start(b.loop, *b.held, choosing("which one?", {" a", " b"})).sink->wait().has_value());
  CHECK(test::ask<std::vector<backend::token>>(
      b.loop, [&](auto done) { b.held->tokenize(with_bound(1), std::move(done)); }));
  enough = true;
  const auto outcome = paced->end.get_future().get();
  REQUIRE(outcome);
  CHECK(outcome->finish == chat::finish_reason::stop);  // Not by its bound, long after.
}

TEST_CASE("a text completion reaches the engine as it stands, without a template") {
  bench b(spelling(3), {}, {}, true, true);
  auto request = test::user_says("which one? ");
  const auto reply = b.answer(request);
  CHECK(reply.text == "abc");
  // A beginning and eleven characters; a template would add its own.
  CHECK(reply.usage.prompt_tokens == 12);
  CHECK(*bench().answer(request).usage.prompt_tokens > 12);
  const auto tokens = test::ask<std::vector<backend::token>>(
      b.loop, [&](auto done) { b.held->tokenize(request, std::move(done)); });
  REQUIRE(tokens);
  CHECK(tokens->size() == 12);
  CHECK(b.held->about().identity.at("api") == "completions");
  request.messages.push_back(request.messages.front());
  CHECK(b.held->check(request).error().code == errc::invalid_argument);
  CHECK(test::start(b.loop, *b.held, request).sink->wait().error().code == errc::invalid_argument);
}

TEST_CASE("the tokens of a prompt with choices are those of its text, without a template") {
  bench b;
  const auto request = choosing("which one? ", {"a", "b"});
  const auto tokens = test::ask<std::vector<backend::token>>(
      b.loop, [&](auto done) { b.held->tokenize(request, std::move(done)); });
  REQUIRE(tokens);
  CHECK(tokens->size() == 11);
  auto none = request;
  none.messages.clear();
  const auto refused = test::ask<std::vector<backend::token>>(
      b.loop, [&](auto done) { b.held->tokenize(none, std::move(done)); });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::invalid_argument);
}

TEST_CASE("the text of a prompt is the template's, and without one the text of its turn") {
  bench b;
  const auto seen = [](bench& of, const chat::request& request) {
    return test::ask<std::string>(of.loop, [&](auto done) { of.held->render(request, std::move(done)); });
  };
  const auto request = test::user_says("which one? ");
  // The simulated engine's template.
  const auto rendered = seen(b, request);
  REQUIRE(rendered);
  CHECK(rendered->find("user: which one? ") != std::string::npos);
  CHECK(rendered->ends_with("assistant: "));
  // The blank belongs to the choices.
  CHECK(*seen(b, choosing("which one? ", {"a", "b"})) == "which one?");
  bench plain(spelling(3), {}, {}, true, true);
  CHECK(*seen(plain, request) == "which one? ");
  CHECK(seen(plain, {}).error().code == errc::invalid_argument);
}

TEST_CASE("more requests with choices than an engine's queue usually holds all wait for their turn") {
  std::promise<void> go;
  engine::simulated_options how;
  how.next = [gone = go.get_future().share()](std::span<const engine::token>) -> engine::token {
    gone.wait();
    return 'a';
  };
  bench b(how);
  const auto first = test::start(b.loop, *b.held, with_bound(1));
  std::vector<test::started> all;
  for (int i = 0; i < 100; ++i) all.push_back(test::start(b.loop, *b.held, choosing("which?", {"a", "b"})));
  go.set_value();
  CHECK(first.sink->wait().has_value());
  for (const auto& one : all) CHECK(one.sink->wait().has_value());
}

TEST_CASE("a request with choices that is cancelled before they are cut into tokens is not begun") {
  bench b;
  std::optional<test::started> one;
  b.loop.run_and_wait([&] {
    one = test::start(b.loop, *b.held, choosing("which one?", {"a", "b"}));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // They are cut, and nobody has heard of it.
    b.held->cancel(one->ticket);
  });
  CHECK(one->sink->wait().error().code == errc::cancelled);
  b.answer(with_bound(1));
  CHECK(b.counted->opened == 1);
}

TEST_CASE("of choices of which one fails the others are not computed on") {
  std::promise<void> go;
  std::atomic<int> scored = 0;
  engine::simulated_options how;
  how.about.context_tokens = 40;
  how.next = [&scored, gone = go.get_future().share()](std::span<const engine::token>) -> engine::token {
    ++scored;
    gone.wait();
    return 'a';
  };
  bench b(how);
  // A beginning, 38 letters, and all but the last letter of the choice.
  const auto one =
      test::start(b.loop, *b.held, choosing(std::string(38, 's'), {"a", "b", "c", "d", "e", "abc"}));
  CHECK(one.sink->wait().error().code == errc::context_overflow);
  b.loop.run_and_wait([] {});
  go.set_value();
  b.answer(with_bound(1));
  // One at most, which was under way, and the token of the answer.
  CHECK(scored.load() <= 2);
}

TEST_CASE("a choice that cannot be scored fails its request, and the others of it are not told") {
  auto how = spelling(3);
  how.about.context_tokens = 12;
  bench b(how);
  const auto one = test::start(b.loop, *b.held, choosing("0123456789", {"a", "abc"}));
  const auto outcome = one.sink->wait();
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == errc::context_overflow);
  CHECK(one.sink->ends == 1);
  auto two_turns = choosing("0", {"a", "b"});
  two_turns.messages.push_back(two_turns.messages.front());
  CHECK(test::start(b.loop, *b.held, two_turns).sink->wait().error().code == errc::invalid_argument);
}

TEST_CASE("a request with choices that is cancelled, or whose backend goes, ends once") {
  auto b = std::make_unique<bench>();
  const auto one = test::start(b->loop, *b->held, choosing("which one?", {"a", "b"}));
  b->loop.run_and_wait([&] { b->held->cancel(one.ticket); });
  const auto outcome = one.sink->wait();
  // It may have been answered before.
  CHECK((outcome.has_value() || outcome.error().code == errc::cancelled));
  std::vector<test::started> all;
  for (int i = 0; i < 20; ++i)
    all.push_back(test::start(b->loop, *b->held, choosing("which one?", {"a", "b"})));
  b->held.reset();
  for (const auto& each : all) {
    const auto end = each.sink->wait();
    CHECK((end.has_value() || end.error().code == errc::closed || end.error().code == errc::cancelled));
    CHECK(each.sink->ends == 1);
  }
  CHECK(one.sink->ends == 1);
}

TEST_CASE("a continuation without a token before it, or of nothing, has no likelihood") {
  bench b;
  const auto score = [&](chat::prompt context, chat::prompt continuation) {
    return test::ask<chat::loglikelihood>(b.loop, [&](auto done) {
      b.held->loglikelihood(
          {.model = {}, .context = std::move(context), .continuation = std::move(continuation), .hints = {}},
          std::move(done));
    });
  };
  CHECK(score(chat::token_ids{}, chat::token_ids{1}).error().code == errc::invalid_argument);
  CHECK(score(std::string("a"), std::string()).error().code == errc::invalid_argument);
  CHECK(score(std::string("a"), chat::token_ids{1}).error().code == errc::invalid_argument);
  CHECK(score(chat::token_ids{7}, chat::token_ids{1}));
}

TEST_CASE("the note on slots tells what is known of their memory, and how there would be more") {
  engine::virtual_clock clock;
  engine::simulated_options how;
  how.about.max_rows = 2;
  how.about.context_tokens = 1'000;
  how.snapshot_token_bytes = 2'000;
  how.memory.free_ram = 4'000'000;
  const auto note = [&](std::uint32_t rows, engine::evaluation mode) {
    const engine::simulated_engine opened(how, clock);
    return backend::note_of_slots(opened, {.model_path = {}, .mode = mode, .max_rows = rows});
  };
  CHECK(note(2, engine::evaluation::parity) == "2 slots of 1000 tokens, 2 MB each");
  CHECK(
      note(4, engine::evaluation::parity) ==
      "2 slots of 1000 tokens, 2 MB each: free memory has no room for more; a shorter --context-per-slot or "
      "a smaller --cache-memory-max-gb gives more");
  how.memory.free_ram.reset();
  CHECK(note(4, engine::evaluation::parity) ==
        "2 slots of 1000 tokens, 2 MB each: how much memory is free is not known here; --slots names more");
  how.knows_snapshot_size = false;
  CHECK(note(2, engine::evaluation::fast) == "2 slots of 1000 tokens");
}
