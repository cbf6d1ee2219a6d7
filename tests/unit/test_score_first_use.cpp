#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <evalcore/score/scorer.hpp>

// Each run is a process of its own, since only the first score of a process finds everything unprepared. This
// program forks, so it has no threads itself and scores nothing.

using namespace evalcore;

namespace {

constexpr int runs = 200;
constexpr int threads = 32;

struct question {
  const char* scorer;
  std::string target;  ///< As JSON.
  std::string text;
  double value;
};

const std::vector<question>& questions() {
  static const std::vector<question> all{
      {"exact", R"(["Paris","paris"])", " Paris\n", 1},
      {"exact", R"("Paris")", "Rome", 0},
      {"numeric", "3000", "It is $3,000.", 1},
      {"numeric", "3000", "It is 314.", 0},
      {"letter", R"("B")", "Antwort: B", 1},
      {"f1", R"("the cat")", "A cat!", 1},
      {"math", R"("\\frac{1}{2}")", "\\boxed{\\dfrac12}", 1},
      {R"({"name":"regex","pattern":"(?<=is )[0-9]+"})", R"("7")", "It is 7.", 1},
      {"json_schema", R"({"type":"object"})", "{}", 1},
      {"bfcl", R"([{"f":{"a":["x"]}}])", "[f(a='x')]", 1},
      {"bfcl", R"([{"f":{"a":["x"]}}])", "[f(a='y')]", 0},
  };
  return all;
}

bool scores_as_it_must(const question& what) {
  const auto scorer = score::find_scorer(what.scorer);
  const auto target = json::parse(what.target);
  if (!scorer || !target) return false;
  const std::vector<chat::tool> tools{
      {"f", "", R"({"type":"dict","properties":{"a":{"type":"string"}},"required":["a"]})"}};
  const score::task task{&*target, &tools, "simple_python"};
  chat::reply answer;
  answer.text = what.text;
  const auto verdict = (*scorer)->score(task, answer);
  return verdict.scored && verdict.value == what.value;
}

/// In the child: all threads score their first item at once, each beginning with another.
int wrong_verdicts() {
  std::atomic<int> wrong = 0;
  std::barrier ready(threads);
  std::vector<std::thread> all;
  for (std::size_t n = 0; n < threads; ++n) {
    all.emplace_back([&, n] {
      const auto& asked = questions();
      ready.arrive_and_wait();
      for (std::size_t i = 0; i < asked.size(); ++i) {
        if (!scores_as_it_must(asked[(n + i) % asked.size()])) ++wrong;
      }
    });
  }
  for (auto& one : all) one.join();
  return wrong;
}

}  // namespace

TEST_CASE("thirty-two threads that score the first item at once judge as one does") {
  for (int run = 0; run < runs; ++run) {
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(wrong_verdicts() == 0 ? 0 : 1);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  for (const auto& one : questions()) CHECK(scores_as_it_must(one));
}
