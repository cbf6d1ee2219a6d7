#include <doctest/doctest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include <evalcore/run/store.hpp>

#include "unit/store_samples.hpp"
#include "unit/temporary_folder.hpp"

using namespace evalcore;
using namespace evalcore::test;

namespace {

/// Commits replies until it is killed and reports the number of each when it is committed.
[[noreturn]] void commit_for_ever(const std::string& path, std::uint32_t first, int cycle, int acknowledge) {
  auto store = run::store::open(path);
  if (!store || !store->begin_run(sample_run("R" + std::to_string(cycle)))) ::_exit(1);
  for (std::uint32_t number = first;; ++number) {
    const auto item = sample_item(std::to_string(number));
    const auto reply = sample_reply("reply " + std::to_string(number) + std::string(number % 3000, '.'));
    if (!store->begin_attempt(item, attempt())) ::_exit(2);
    if (!store->put_reply(item, attempt(), reply, right())) ::_exit(3);
    if (number % 200 == 0 && !store->sync()) ::_exit(4);
    if (::write(acknowledge, &number, sizeof number) != sizeof number) ::_exit(5);
  }
}

std::string integrity(const std::string& path) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  sqlite3_stmt* check = nullptr;
  REQUIRE(sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &check, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_step(check) == SQLITE_ROW);
  const std::string verdict(reinterpret_cast<const char*>(sqlite3_column_text(check, 0)));
  sqlite3_finalize(check);
  sqlite3_close(database);
  return verdict;
}

}  // namespace

TEST_CASE("kill -9 loses nothing that was acknowledged") {
  const temporary_folder folder;
  const auto path = folder / "run.db";
  std::mt19937 random(20260808);
  std::uint32_t committed = 0;  // Numbers below this were acknowledged.
  for (int cycle = 0; cycle < 30; ++cycle) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::close(ends[0]);
      commit_for_ever(path, committed, cycle, ends[1]);
    }
    ::close(ends[1]);
    // The child is somewhere in a later commit when it is killed: a whole number of reports, and then a
    // pause that is not tied to them.
    const auto reports = random() % 120;
    std::uint32_t number = 0;
    for (std::uint32_t i = 0; i < reports; ++i) {
      REQUIRE(::read(ends[0], &number, sizeof number) == sizeof number);
    }
    ::usleep(static_cast<useconds_t>(random() % 3000));
    REQUIRE(::kill(child, SIGKILL) == 0);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    // What it had reported before it died and was not read yet.
    while (::read(ends[0], &number, sizeof number) == sizeof number) committed = number + 1;
    committed = std::max(committed, reports > 0 ? number + 1 : committed);
    ::close(ends[0]);

    {
      const auto store = run::store::open(path);
      REQUIRE(store);
      for (std::uint32_t i = 0; i < committed; ++i) {
        const auto row = store->find(sample_item(std::to_string(i)));
        REQUIRE(row);
        REQUIRE(row->has_value());
        REQUIRE((*row)->reply.text == "reply " + std::to_string(i) + std::string(i % 3000, '.'));
        REQUIRE((*row)->verdict.has_value());
      }
    }
    REQUIRE(integrity(path) == "ok");
  }
  CHECK(committed > 500);
}
