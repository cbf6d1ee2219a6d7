#include "suites.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace evalcore::bench {
namespace {

struct range {
  std::uint32_t low;
  std::uint32_t high;
};

class author {
 public:
  explicit author(std::string name, std::uint64_t seed = 11) : random_(seed) {
    suite_.name = std::move(name);
  }

  /// Text that no other call writes again.
  prefix::sequence text(range length) {
    prefix::sequence out(within(length));
    for (auto& token : out) token = static_cast<prefix::unit>(random_() % 50'000);
    return out;
  }
  /// A prefix that begins with `above`.
  prefix::sequence join(const prefix::sequence& above, range added) {
    auto out = above;
    const auto tail = text(added);
    out.insert(out.end(), tail.begin(), tail.end());
    return out;
  }
  /// A request: `shared`, and what is its own.
  void ask(const prefix::sequence& shared, range own, range answer) {
    suite_.prompts.push_back(join(shared, own));
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
  std::uint32_t within(range bounds) {
    return bounds.low + static_cast<std::uint32_t>(random_() % (bounds.high - bounds.low + 1));
  }

 private:
  token_suite suite_;
  std::mt19937_64 random_;
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

/// Five levels of three branches, each with text of its own, and requests below each of the lowest.
token_suite deep_tree() {
  author by("deep tree", 23);
  const auto grow = [&](const auto& self, const prefix::sequence& above, int levels) -> void {
    if (levels == 0) {
      for (int i = 0; i < 8; ++i) by.ask(above, {20, 120}, {5, 60});
      return;
    }
    for (int branch = 0; branch < 3; ++branch) self(self, by.join(above, {80, 400}), levels - 1);
  };
  grow(grow, {}, 5);
  by.shuffle();
  return by.done();
}

token_suite giant_group() {
  author by("one giant group", 24);
  const auto shared = by.text({4'000, 4'000});
  for (int i = 0; i < 4'000; ++i) by.ask(shared, {10, 40}, {1, 20});
  return by.done();
}

token_suite all_different() {
  author by("all different", 25);
  for (int i = 0; i < 2'000; ++i) by.ask({}, {30, 3'000}, {1, 300});
  return by.done();
}

/// Prefixes of two levels; the sizes of the groups fall as 1/n.
token_suite skewed_groups() {
  author by("skewed sizes", 26);
  for (int family = 1; family <= 12; ++family) {
    const auto shared = by.text({200, 1'200});
    for (int group = 1; group <= 12; ++group) {
      const auto below = by.join(shared, {50, 800});
      for (int i = 0; i < 1 + 700 / (family * group); ++i) by.ask(below, {15, 200}, {2, 80});
    }
  }
  by.shuffle();
  return by.done();
}

token_suite pairs() {
  author by("pairs", 27);
  for (int i = 0; i < 1'300; ++i) {
    const auto shared = by.text({100, 1'500});
    for (int one = 0; one < 2; ++one) by.ask(shared, {10, 300}, {5, 100});
  }
  by.shuffle();
  return by.done();
}

/// Each turn of a conversation is a request that has all turns before it.
token_suite conversations() {
  author by("conversations", 28);
  const auto system = by.text({350, 350});
  for (int i = 0; i < 250; ++i) {
    auto so_far = system;
    for (int turn = 0; turn < 8; ++turn) {
      so_far = by.join(so_far, {30, 250});
      by.ask(so_far, {5, 10}, {20, 120});
    }
  }
  by.shuffle();
  return by.done();
}

/// Families that stand together already, as a benchmark of many subjects has them.
token_suite families_in_order() {
  author by("subjects in order", 29);
  for (int subject = 0; subject < 40; ++subject) {
    const auto shots = by.text({300, 1'000});
    for (int i = 0; i < 75; ++i) by.ask(shots, {40, 300}, {1, 4});
  }
  return by.done();
}

token_suite few_long_answers() {
  author by("few, long answers", 30);
  const auto shared = by.text({1'500, 1'500});
  for (int i = 0; i < 64; ++i) by.ask(shared, {10, 60}, {780, 820});
  return by.done();
}

/// A tree whose depth, widths and lengths are drawn.
token_suite by_chance(std::uint64_t seed) {
  author by("by chance " + std::to_string(seed), seed);
  const auto grow = [&](const auto& self, const prefix::sequence& above, std::uint32_t levels) -> void {
    const auto own = by.within({20, 600});
    const auto answer = by.within({2, 200});
    for (auto left = by.within({1, 25}); left > 0; --left)
      by.ask(above, {own / 2, own}, {answer / 2, answer});
    if (levels == 0) return;
    for (auto left = by.within({1, 6}); left > 0; --left) self(self, by.join(above, {10, 900}), levels - 1);
  };
  for (int root = 0; root < 3; ++root) grow(grow, by.text({0, 300}), 4);
  if (seed % 2 == 0) by.shuffle();
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

std::vector<token_suite> unseen_token_suites() {
  std::vector<token_suite> all;
  all.push_back(deep_tree());
  all.push_back(giant_group());
  all.push_back(all_different());
  all.push_back(skewed_groups());
  all.push_back(pairs());
  all.push_back(conversations());
  all.push_back(families_in_order());
  all.push_back(few_long_answers());
  for (const std::uint64_t seed : {41U, 42U, 43U}) all.push_back(by_chance(seed));
  return all;
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
