// bench_loglikelihood MODEL ITEMS: the likelihoods of the choices of each item, asked of the embedded
// backend. ITEMS has a JSON object a line, {"context": text, "choices": [text, …]}. What loglikelihood.py
// reads goes to standard output as JSON.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/backend/embedded.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/base/processor_time.hpp>
#include <evalcore/chat/context_end.hpp>
#include <evalcore/engine/parity.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/prefix/cut_points.hpp>
#include <evalcore/prefix/plan.hpp>

using namespace evalcore;

namespace {

constexpr std::uint32_t context_tokens = 512;

[[noreturn]] void give_up(const error& why) {
  std::fprintf(stderr, "bench_loglikelihood: %s %s\n", why.message.c_str(), why.backend_words.c_str());
  std::exit(1);
}

template <class T>
T must(result<T> outcome) {
  if (!outcome) give_up(outcome.error());
  return *std::move(outcome);
}

struct item {
  std::string context;
  std::vector<std::string> choices;
};

std::vector<item> read_items(const char* file) {
  std::vector<item> all;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const auto read = must(json::parse(line));
    auto& one = all.emplace_back();
    one.context = *read.find("context")->if_string();
    for (const auto& choice : *read.find("choices")->if_array()) one.choices.push_back(*choice.if_string());
  }
  return all;
}

/// The model, loaded and checked as open_embedded() does it; then the contexts are cut into tokens for the
/// planner, which is work of the run.
class loading {
 public:
  loading(std::string model, const std::vector<item>& items, std::uint32_t rows)
      : model_(std::move(model)), items_(items), rows_(rows) {}

  result<engine::loaded_engine> operator()() {
    engine::loaded_engine made;
    made.engine =
        must(engine::open_llama({.model_path = model_, .max_rows = rows_, .context_tokens = context_tokens}));
    const auto verdict = must(engine::check_parity(*made.engine));
    made.safe_width = verdict.width;
    made.keep_prefixes = verdict.restores;
    loaded = processor_seconds();
    for (const auto& one : items_) {
      const auto text = std::string_view(one.context).substr(0, chat::size_without_end_blanks(one.context));
      contexts.push_back(must(made.engine->tokenize(text, false)));
    }
    return made;
  }

  double loaded = 0;
  std::vector<prefix::sequence> contexts;

 private:
  std::string model_;
  const std::vector<item>& items_;
  std::uint32_t rows_;
};

/// What came for each choice of each item.
class answers {
 public:
  explicit answers(const std::vector<item>& items) {
    for (const auto& one : items) {
      all_.emplace_back(one.choices.size());
      missing_ += one.choices.size();
    }
  }
  void came(std::size_t item, std::size_t choice, result<chat::loglikelihood> one) {
    const std::lock_guard lock(mutex_);
    all_[item][choice] = must(std::move(one));
    if (--missing_ == 0) whole_.notify_all();
  }
  const std::vector<std::vector<chat::loglikelihood>>& wait() {
    std::unique_lock lock(mutex_);
    whole_.wait(lock, [this] { return missing_ == 0; });
    return all_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable whole_;
  std::vector<std::vector<chat::loglikelihood>> all_;
  std::size_t missing_ = 0;
};

void write(const std::vector<prefix::sequence>& contexts,
           const std::vector<std::vector<chat::loglikelihood>>& all, json::writer& out) {
  out.key("items").begin_array();
  for (std::size_t at = 0; at < all.size(); ++at) {
    out.begin_object();
    out.key("context").begin_array();
    for (const auto id : contexts[at]) out.number(std::int64_t{id});
    out.end_array();
    out.key("choices").begin_array();
    for (const auto& one : all[at]) {
      out.begin_object();
      out.key("sum_logprob").number(one.sum_logprob);
      out.key("is_greedy").boolean(one.is_greedy.value_or(false));
      out.key("tokens").number(one.tokens);
      out.end_object();
    }
    out.end_array();
    out.end_object();
  }
  out.end_array();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: bench_loglikelihood MODEL ITEMS\n");
    return 2;
  }
  const auto items = read_items(arguments[2]);
  net::loop loop;
  engine::options schedule;
  schedule.max_queue_size = static_cast<std::uint32_t>(2 * items.size() + 1);
  loading load(arguments[1], items, schedule.max_batch_size);
  auto scorer = must(backend::open_embedded(loop, std::ref(load), schedule, {}));

  const auto plan = prefix::make_plan(load.contexts, true, {});
  const prefix::cut_points cuts(plan);
  const auto got = std::make_shared<answers>(items);
  loop.run_and_wait([&] {
    for (const auto which : plan.order) {
      chat::loglikelihood_request asked{.model = {}, .context = items[which].context};
      asked.hints.shared_tokens = cuts.of(which);
      for (std::size_t at = 0; at < items[which].choices.size(); ++at) {
        asked.continuation = items[which].choices[at];
        scorer->loglikelihood(asked, [got, which, at](result<chat::loglikelihood> one) {
          got->came(which, at, std::move(one));
        });
      }
    }
  });
  const auto& all = got->wait();
  const double scored = processor_seconds();

  json::writer out;
  out.begin_object();
  out.key("load_cpu_s").number(load.loaded);
  out.key("cpu_s").number(scored - load.loaded);
  out.key("shared_tokens").number(std::int64_t{plan.invariant_units});
  write(load.contexts, all, out);
  out.end_object();
  std::puts(out.text().c_str());
  return 0;
}
