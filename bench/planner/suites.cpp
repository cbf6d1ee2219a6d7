#include "suites.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace evalcore::bench {
namespace {

constexpr std::uint64_t seed = 11;

struct range {
  std::uint32_t low;
  std::uint32_t high;
};

class author {
 public:
  explicit author(std::string name) { suite_.name = std::move(name); }

  /// Text that no other call writes again.
  prefix::sequence text(range length) {
    prefix::sequence out(within(length));
    for (auto& token : out) token = static_cast<prefix::unit>(random_() % 50'000);
    return out;
  }
  /// A request: `shared`, and what is its own.
  void ask(const prefix::sequence& shared, range own, range answer) {
    auto prompt = shared;
    const auto tail = text(own);
    prompt.insert(prompt.end(), tail.begin(), tail.end());
    suite_.prompts.push_back(std::move(prompt));
    suite_.outputs.push_back(within(answer));
  }
  void shuffle() {
    for (std::size_t left = suite_.prompts.size(); left > 1; --left) {
      const auto other = random_() % left;
      std::swap(suite_.prompts[left - 1], suite_.prompts[other]);
      std::swap(suite_.outputs[left - 1], suite_.outputs[other]);
    }
  }
  token_suite done() { return std::move(suite_); }

 private:
  std::uint32_t within(range bounds) {
    return bounds.low + static_cast<std::uint32_t>(random_() % (bounds.high - bounds.low + 1));
  }

  token_suite suite_;
  std::mt19937_64 random_{seed};
};

token_suite one_prefix() {
  author by("one prefix");
  const auto shared = by.text({1'500, 1'500});
  for (int i = 0; i < 3'000; ++i) by.ask(shared, {20, 200}, {5, 60});
  return by.done();
}

token_suite documents() {
  author by("three questions each");
  for (int i = 0; i < 800; ++i) {
    const auto document = by.text({300, 1'800});
    for (int question = 0; question < 3; ++question) by.ask(document, {15, 60}, {5, 80});
  }
  by.shuffle();
  return by.done();
}

token_suite short_template() {
  author by("a short template");
  const auto shared = by.text({24, 24});
  for (int i = 0; i < 3'000; ++i) by.ask(shared, {60, 300}, {5, 120});
  return by.done();
}

token_suite nothing_shared() {
  author by("nothing shared");
  for (int i = 0; i < 2'500; ++i) by.ask({}, {100, 1'500}, {5, 150});
  return by.done();
}

/// Long prompts with short answers, then the other way round: to run them side by side is faster.
token_suite two_phases() {
  author by("two phases");
  for (int i = 0; i < 1'200; ++i) by.ask({}, {900, 1'500}, {2, 6});
  for (int i = 0; i < 1'200; ++i) by.ask({}, {20, 60}, {100, 300});
  return by.done();
}

/// The same with a prefix in each half, which is short for what follows it.
token_suite two_phases_shared() {
  author by("two phases, shared");
  const auto first = by.text({400, 400});
  for (int i = 0; i < 1'200; ++i) by.ask(first, {600, 1'000}, {2, 6});
  const auto second = by.text({300, 300});
  for (int i = 0; i < 1'200; ++i) by.ask(second, {20, 60}, {100, 300});
  return by.done();
}

}  // namespace

token_suite five_interleaved() {
  author by("five interleaved");
  const auto system = by.text({60, 60});
  std::vector<prefix::sequence> shared;
  for (const std::uint32_t tools : {600U, 1'900U, 3'200U}) {
    auto list = system;
    const auto declared = by.text({tools, tools});
    list.insert(list.end(), declared.begin(), declared.end());
    shared.push_back(std::move(list));
  }
  for (const std::uint32_t shots : {1'100U, 2'400U}) shared.push_back(by.text({shots, shots}));
  for (int round = 0; round < 700; ++round) {
    for (std::size_t suite = 0; suite < shared.size(); ++suite) {
      suite < 3 ? by.ask(shared[suite], {20, 140}, {20, 90}) : by.ask(shared[suite], {40, 160}, {2, 12});
    }
  }
  return by.done();
}

std::vector<token_suite> token_suites() {
  std::vector<token_suite> all;
  all.push_back(five_interleaved());
  all.push_back(one_prefix());
  all.push_back(documents());
  all.push_back(short_template());
  all.push_back(nothing_shared());
  all.push_back(two_phases());
  all.push_back(two_phases_shared());
  return all;
}

}  // namespace evalcore::bench
