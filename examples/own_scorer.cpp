// A scorer of one's own in C++, beside one of evalcore's.
//
//   own_scorer SUITE.jsonl SCRIPT.jsonl
//
// asks every item of the suite through a pool and prints what both make of each answer.
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <evalcore/backend/scripted.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/pool/pool.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/score/scorer.hpp>

using namespace evalcore;

namespace {

/// The share of the target's letters that the answer begins with: partial credit. Pure: the same answer has
/// the same score whenever and wherever it is scored.
class common_beginning final : public score::scorer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "common_beginning"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "beginning"; }
  [[nodiscard]] result<void> check(const score::task& what) const override {
    const auto* target = what.target->if_string();
    if (target != nullptr && !target->empty()) return {};
    return fail(errc::bad_suite, stage::score, "common_beginning needs a target with text in it");
  }
  [[nodiscard]] score::verdict score(const score::task& what, const chat::reply& answer) const override {
    const auto& target = *what.target->if_string();
    std::size_t same = 0;
    while (same < target.size() && same < answer.text.size() && target[same] == answer.text[same]) ++same;
    score::verdict verdict;
    verdict.scored = true;  // Unscored is for a checker that failed, never for a wrong answer.
    verdict.value = static_cast<double>(same) / static_cast<double>(target.size());
    verdict.extracted = answer.text;
    if (verdict.value < 1) verdict.reason = "begins otherwise";
    return verdict;
  }
};

/// A checker that failed has no value to show.
std::string shown(const score::verdict& verdict) {
  if (!verdict.scored) return "unscored";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", verdict.value);
  return text;
}

/// The pool takes a request when it has room for one; a million items cost what is in flight.
class items final : public pool::source {
 public:
  explicit items(const run::suite& from) : from_(from) {}
  pool::pull next() override {
    if (at_ == from_.size()) return pool::exhausted{};
    auto one = from_.get(at_);
    if (!one) return pool::refused{at_++, std::move(one).error()};
    return pool::work{.id = at_++, .request = std::move(one->request)};
  }
  void on_end(pool::item_id, const result<chat::reply>&) override {}

 private:
  const run::suite& from_;
  std::size_t at_ = 0;
};

result<void> score_all(const std::string& path, const std::string& script) {
  auto suite = run::suite::open(path);
  if (!suite) return std::move(suite).error();
  const auto exact = score::find_scorer("exact");
  if (!exact) return exact.error();
  const common_beginning own;

  net::loop loop;
  auto backend = backend::open_scripted(loop, script);
  if (!backend) return std::move(backend).error();
  items asked(*suite);
  pool::pool pool(loop, {backend->get()}, asked, {});
  pool.start();
  std::map<pool::item_id, std::string> lines;  // Answers come in any order.
  using kind = pool::event::kind;
  for (auto event = pool.poll(std::chrono::hours(1)); event && event->what != kind::drained;
       event = pool.poll(std::chrono::hours(1))) {
    if (event->what != kind::ended) continue;
    auto item = suite->get(event->id);
    if (!item) return std::move(item).error();
    const auto& outcome = *event->outcome;
    if (!outcome) {  // A failure is never an answer: there is nothing to score.
      lines[event->id] = item->id + ": no answer: " + outcome.error().message;
      continue;
    }
    const score::task task{.target = &item->target};
    if (auto checked = own.check(task); !checked) return checked;
    lines[event->id] = item->id + ": exact " + shown((*exact)->score(task, *outcome)) + ", beginning " +
                       shown(own.score(task, *outcome));
  }
  for (const auto& [id, line] : lines) std::puts(line.c_str());
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const auto done = score_all(arguments[1], arguments[2]);
  if (!done) std::fprintf(stderr, "own_scorer: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
