#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/backend/embedded.hpp>
#include <evalcore/backend/scripted.hpp>
#include <evalcore/engine/simulated.hpp>
#include <evalcore/run/runner.hpp>
#include <evalcore/run/store.hpp>

#include "unit/temporary_folder.hpp"

namespace evalcore::test {

/// A folder with a suite, a script of replies and a store.
class run_fixture {
 public:
  void suite(const std::string& lines) { folder_.write("suite.jsonl", lines); }
  void script(const std::string& lines) { folder_.write("script.jsonl", lines); }
  /// The store that the next runs use; "run.db" at first.
  void use_store(const std::string& name) { store_ = name; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }

  /// With the cache, what the run's own store and `other` hold stands in for answers.
  run::summary run(run::run_options how = {}, const std::stop_token& stop = {}, bool cache = false,
                   const run::store* other = nullptr) {
    net::loop loop;
    auto backend = backend::open_scripted(loop, path("script.jsonl"));
    REQUIRE(backend);
    return run_on(loop, **backend, std::move(how), stop, cache, other);
  }
  /// The same on another backend.
  run::summary run_on(net::loop& loop, backend::backend& backend, run::run_options how,
                      const std::stop_token& stop = {}, bool cache = false,
                      const run::store* other = nullptr) {
    auto suite = run::suite::open(path("suite.jsonl"));
    REQUIRE(suite);
    auto store = run::store::open(path(store_));
    REQUIRE(store);
    if (cache) how.cache.stores.push_back(&*store);
    if (other != nullptr) how.cache.stores.push_back(other);
    notes.clear();
    const run::observer watch{[this](const std::string& text) { notes.push_back(text); },
                              [this](const run::progress& at) {
                                if (on_progress) on_progress(at);
                              }};
    auto ran = run::run_suite(*suite, loop, {&backend}, *store, how, watch, stop);
    REQUIRE_MESSAGE(ran, ran.error().message);
    return *std::move(ran);
  }

  std::vector<std::string> notes;
  std::function<void(const run::progress&)> on_progress;

 private:
  temporary_folder folder_;
  std::string store_ = "run.db";
};

/// On an engine in this process: greedy where a request has no temperature. `clock` must outlive it.
inline std::unique_ptr<backend::backend> open_simulated(net::loop& loop, engine::virtual_clock& clock) {
  auto opened = backend::open_embedded(
      loop,
      [&]() -> result<engine::loaded_engine> {
        return engine::loaded_engine{
            .engine = std::make_unique<engine::simulated_engine>(engine::simulated_options{}, clock)};
      },
      {}, {});
  REQUIRE(opened);
  return *std::move(opened);
}

inline std::string item(const std::string& id, const std::string& target) {
  return R"({"id":")" + id + R"(","prompt":"ask )" + id + R"(","target":")" + target + "\"}\n";
}

}  // namespace evalcore::test
