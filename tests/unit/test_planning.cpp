#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <evalcore/run/planning.hpp>

#include "temporary_folder.hpp"

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

error busy() { return fail(errc::overloaded, stage::body, "busy"); }

/// Takes one token for each byte of a prompt, and is busy whenever it is asked something for the first time.
class busy_backend final : public backend::backend {
 public:
  explicit busy_backend(net::loop& owner, const std::string& dialect = {}) : loop_(owner) {
    info_.dialect = dialect;
  }

  const ::evalcore::backend::info& about() const override { return info_; }
  ::evalcore::backend::capabilities can() const override {
    return {.tokenize = ::evalcore::backend::ability::yes};
  }
  ::evalcore::backend::ticket start(const chat::request&,
                                    std::shared_ptr<::evalcore::backend::sink>) override {
    return 0;
  }
  void cancel(::evalcore::backend::ticket) override {}
  void tokenize(const chat::request& request,
                std::function<void(result<std::vector<::evalcore::backend::token>>)> done) override {
    const auto& prompt = request.messages.back().text;
    const bool first = asked[prompt]++ == 0;
    loop_.post([done = std::move(done), first, size = prompt.size()] {
      if (first) return done(busy());
      done(std::vector<::evalcore::backend::token>(size, 7));
    });
  }
  void check_tools(const std::vector<chat::tool>&, std::function<void(result<bool>)> done) override {
    const bool first = asked["tools"]++ == 0;
    loop_.post([done = std::move(done), first] { first ? done(busy()) : done(true); });
  }

  std::map<std::string, int> asked;

 private:
  net::loop& loop_;
  ::evalcore::backend::info info_;
};

run::suite suite_of(const test::temporary_folder& folder, const std::string& lines) {
  auto opened = run::suite::open(folder.write("suite.jsonl", lines));
  REQUIRE(opened);
  return *std::move(opened);
}

}  // namespace

TEST_CASE("what is asked while planning is asked again, and only what is not known yet") {
  const test::temporary_folder folder;
  const auto suite = suite_of(
      folder,
      R"({"id":"a","prompt":"one","target":"x","tools":[{"type":"function","function":{"name":"f"}}]})"
      "\n"
      R"({"id":"b","prompt":"three","target":"x"})"
      "\n");
  net::loop loop;
  busy_backend backend(loop);
  std::vector<std::uint32_t> waits;
  const auto again = [&](error& why, std::uint32_t failures, duration) -> std::optional<duration> {
    CHECK(why.code == errc::overloaded);
    waits.push_back(failures);
    return 1ms;
  };
  const auto quiet = [](const std::string&) {};
  const auto tools =
      run::choose_tools_mode(run::tools_mode::automatic, suite, loop, backend, quiet, again, {});
  REQUIRE(tools);
  CHECK(*tools == run::tools_mode::native);
  CHECK(waits == std::vector<std::uint32_t>{1});

  const auto read = run::plan_items(suite, {0, 1}, {}, {}, loop, backend, again, {});
  REQUIRE(read);
  CHECK(read->exact);
  CHECK(read->lengths == std::vector<std::uint32_t>{3, 5});
  CHECK(backend.asked == std::map<std::string, int>{{"tools", 2}, {"one", 2}, {"three", 2}});
}

TEST_CASE("without patience planning ends with the failure") {
  const test::temporary_folder folder;
  const auto suite = suite_of(folder, "{\"id\":\"a\",\"prompt\":\"one\",\"target\":\"x\"}\n");
  net::loop loop;
  busy_backend backend(loop);
  const auto read = run::plan_items(suite, {0}, {}, {}, loop, backend, {}, {});
  REQUIRE_FALSE(read);
  CHECK(read.error().code == errc::overloaded);
  CHECK(backend.asked.at("one") == 1);
}

TEST_CASE("what a server is known to do with prompts reaches the dispatcher") {
  net::loop loop;
  // vLLM hashes blocks of 16 tokens when it schedules a prompt; mlx_lm.server keeps ten whole prompts;
  // Anthropic keeps a prefix of 1,024 tokens or more for five minutes.
  const auto vllm = run::cache_model_of(busy_backend(loop, "vllm"), true, 16);
  CHECK(vllm.shares_in_flight);
  CHECK(vllm.page == 16);
  CHECK_FALSE(vllm.slots);
  CHECK(run::cache_model_of(busy_backend(loop, "mlx-server"), true, 16).entries == 10U);
  const auto anthropic = run::cache_model_of(busy_backend(loop, "anthropic"), true, 16);
  CHECK(anthropic.least == 1024);
  CHECK(anthropic.lives == 300s);
  const auto unknown = run::cache_model_of(busy_backend(loop), false, 16);
  CHECK_FALSE(unknown.enabled);
  CHECK_FALSE(unknown.shares_in_flight);
  CHECK_FALSE(unknown.entries);
}

TEST_CASE("a suite is dealt the same way each time") {
  const test::temporary_folder folder;
  std::string lines;
  for (int i = 0; i < 50; ++i) {
    lines += "{\"id\":" + std::to_string(i) + ",\"prompt\":\"p\",\"target\":\"x\"}\n";
  }
  const auto suite = suite_of(folder, lines);
  std::vector<std::uint32_t> once{3, 4, 5, 6, 7, 8, 9, 20};
  auto again = once;
  const auto sorted = once;
  run::deal(suite, once);
  run::deal(suite, again);
  CHECK(once == again);
  CHECK(once != sorted);
  std::sort(once.begin(), once.end());
  CHECK(once == sorted);
}
