#include <doctest/doctest.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <evalcore/run/store.hpp>

#include "run/store_schema.hpp"
#include "unit/store_samples.hpp"
#include "unit/system_calls.hpp"
#include "unit/temporary_folder.hpp"

using namespace evalcore;
using namespace evalcore::test;

namespace {

/// Runs `work` in a child process and gives what it returned; the parent has no threads.
std::string in_child(const std::function<std::string()>& work) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto text = work();
    const auto wrote = ::write(ends[1], text.data(), text.size());
    ::_exit(wrote == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  return text;
}

std::string outcome(const std::string& path) {
  const auto store = run::store::open(path);
  return store ? "opened" : std::string(name(store.error().code)) + ": " + store.error().message;
}

void execute(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  REQUIRE(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

/// What sets the fifth schema apart from the next, the fourth from that, and the third from that.
const std::string without_cache =
    "DROP INDEX replies_of_request; ALTER TABLE attempts DROP COLUMN answered_by; ";
const std::string without_episodes = without_cache + "DROP TABLE turns; DROP TABLE episodes;";
const std::string without_costs =
    without_episodes +
    "ALTER TABLE runs DROP COLUMN setup; ALTER TABLE attempts DROP COLUMN cost_least;"
    "ALTER TABLE attempts DROP COLUMN cost_most;";

/// The first column of each row, with a blank behind it.
std::string texts(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  std::string all;
  const auto add = [](void* into, int, char** row, char**) {
    *static_cast<std::string*>(into) += std::string(row[0]) + " ";
    return 0;
  };
  REQUIRE(sqlite3_exec(database, sql.c_str(), add, &all, nullptr) == SQLITE_OK);
  sqlite3_close(database);
  return all;
}

/// A store with one reply, closed.
std::string store_with_reply(const temporary_folder& folder) {
  const auto path = folder / "run.db";
  auto store = run::store::open(path);
  REQUIRE(store);
  REQUIRE(store->begin_run(sample_run("R1")));
  REQUIRE(store->put_reply(sample_item("a"), attempt(), sample_reply("the answer is forty-two"), right()));
  return path;
}

}  // namespace

TEST_CASE("only its owner can read a store, whatever the umask") {
  const temporary_folder folder;
  const auto before = ::umask(0);
  auto store = run::store::open(folder / "run.db");
  ::umask(before);
  REQUIRE(store);
  REQUIRE(store->begin_run(sample_run("R1")));
  for (const char* file : {"run.db", "run.db-wal"}) {
    struct stat about{};
    REQUIRE(::stat((folder / file).c_str(), &about) == 0);
    CHECK((about.st_mode & 0777U) == 0600U);
  }
}

TEST_CASE("a second process is refused at once, and let in when the first is done") {
  const temporary_folder folder;
  const auto path = folder / "run.db";
  const auto in_use =
      "busy: store " + path + " is in use by another process; wait for it or give another --store";
  {
    auto store = run::store::open(path);
    REQUIRE(store);
    REQUIRE(store->begin_run(sample_run("R1")));
    const auto started = std::chrono::steady_clock::now();
    CHECK(in_child([&] { return outcome(path); }) == in_use);
    CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(1));
    CHECK(outcome(path) == in_use);
    REQUIRE(store->put_reply(sample_item("a"), attempt(), sample_reply("x"), right()));
  }
  CHECK(in_child([&] { return outcome(path); }) == "opened");
}

TEST_CASE("a file that is no store is refused and left as it was") {
  const temporary_folder folder;
  const auto text = folder.write("notes.txt", std::string(5000, 'n'));
  CHECK(outcome(text) ==
        "storage: " + text + " is not an evalcore store (file is not a database); give another --store");
  CHECK(read_bytes(text) == std::string(5000, 'n'));

  const auto other = folder / "other.db";
  execute(other, "CREATE TABLE t (x); INSERT INTO t VALUES (1)");
  const auto bytes = read_bytes(other);
  CHECK(outcome(other) ==
        "storage: " + other +
            " is not an evalcore store (another program's SQLite file); give another --store");
  CHECK(read_bytes(other) == bytes);
}

TEST_CASE("a store of a newer evalcore is refused") {
  const temporary_folder folder;
  const auto path = store_with_reply(folder);
  const auto known = run::store_schema_version;
  execute(path, "PRAGMA user_version = " + std::to_string(known + 1));
  CHECK(outcome(path) == "storage: store " + path + " has schema " + std::to_string(known + 1) +
                             ", this evalcore knows " + std::to_string(known) +
                             "; use the evalcore that wrote it or another "
                             "--store");
}

TEST_CASE("a store of the first schema is brought up to date and keeps what it has") {
  const temporary_folder folder;
  const auto path = store_with_reply(folder);
  // What sets the first schema apart.
  execute(path, without_costs +
                    "ALTER TABLE runs DROP COLUMN limits; ALTER TABLE runs DROP COLUMN probe;"
                    "PRAGMA user_version = 1");
  {
    auto store = run::store::open(path);
    REQUIRE(store);
    const auto kept = store->find(sample_item("a"));
    REQUIRE(kept);
    REQUIRE(kept->has_value());
    CHECK((*kept)->reply.text == "the answer is forty-two");
    auto next = sample_run("R2");
    next.probe_json = R"({"depth":"facts"})";
    CHECK(store->begin_run(next));
    CHECK(store->put_limits("R2", R"([{"limit":4}])"));
    CHECK(store->put_limits("R3", "[]").error().code == errc::not_found);
  }
  CHECK(texts(path, "SELECT probe FROM runs ORDER BY run_id") == R"({} {"depth":"facts"} )");
  CHECK(texts(path, "SELECT limits FROM runs ORDER BY run_id") == R"([] [{"limit":4}] )");
  CHECK(texts(path, "PRAGMA user_version") == std::to_string(run::store_schema_version) + " ");
}

TEST_CASE("a store of the second schema gets its place for limits") {
  const temporary_folder folder;
  const auto path = store_with_reply(folder);
  execute(path, without_costs + "ALTER TABLE runs DROP COLUMN limits; PRAGMA user_version = 2");
  CHECK(outcome(path) == "opened");
  CHECK(texts(path, "SELECT limits FROM runs") == "[] ");
  CHECK(texts(path, "PRAGMA user_version") == std::to_string(run::store_schema_version) + " ");
}

TEST_CASE("a store of the third schema gets its place for costs, which it does not know of old attempts") {
  const temporary_folder folder;
  const auto path = store_with_reply(folder);
  execute(path, without_costs + "PRAGMA user_version = 3");
  CHECK(outcome(path) == "opened");
  CHECK(texts(path, "SELECT cost_least IS NULL, cost_most IS NULL FROM attempts") == "1 ");
  CHECK(texts(path, "SELECT setup FROM runs") == "{} ");
}

TEST_CASE("a store of the fourth schema gets its place for episodes") {
  const temporary_folder folder;
  const auto path = store_with_reply(folder);
  execute(path, without_episodes + "PRAGMA user_version = 4");
  CHECK(outcome(path) == "opened");
  CHECK(texts(path, "SELECT count(*) FROM episodes UNION ALL SELECT count(*) FROM turns") == "0 0 ");
}

TEST_CASE("a store of the fifth schema is searched by request once it is opened") {
  const temporary_folder folder;
  const auto path = store_with_reply(folder);
  execute(path, without_cache + "PRAGMA user_version = 5");
  const auto store = run::store::open(path);
  REQUIRE(store);
  const auto found = store->find_earlier(sample_item("a").cache_key, [](const chat::reply&) { return true; });
  REQUIRE(found);
  REQUIRE(found->has_value());
  CHECK((*found)->run_id == "R1");
}

TEST_CASE("a missing folder, a link, a folder and no name are refused by name") {
  const temporary_folder folder;
  CHECK(outcome(folder / "absent/run.db") == "storage: cannot create store " + (folder / "absent/run.db") +
                                                 ": there is no folder " + (folder / "absent") +
                                                 "; make it first");
  std::filesystem::create_symlink(folder / "elsewhere.db", folder / "link.db");
  CHECK(outcome(folder / "link.db") ==
        "storage: store " + (folder / "link.db") + " is a symbolic link; give the file itself");
  CHECK_FALSE(std::filesystem::exists(folder / "elsewhere.db"));
  CHECK(outcome(folder.path()) ==
        "storage: store " + folder.path() + " is not a regular file; give a file name");
  CHECK(outcome("") == "invalid_argument: the name of the store is empty");
}

TEST_CASE("a read-only folder and a read-only store are refused by name") {
  const temporary_folder folder;
  const auto path = store_with_reply(folder);
  REQUIRE(::chmod(path.c_str(), 0444) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0555) == 0);
  // The rights of a file mean nothing to root.
  const auto as_nobody = [](const std::string& name) {
    return in_child([&] {
      if (::geteuid() == 0 && ::seteuid(65534) != 0) return std::string("cannot drop root's rights");
      return outcome(name);
    });
  };
  CHECK(as_nobody(folder / "new.db") == "storage: cannot create store " + (folder / "new.db") +
                                            ": Permission denied; mend that, or give another --store");
  CHECK(as_nobody(path) ==
        "storage: store " + path + " cannot be written; check the rights on it and on its folder");
  REQUIRE(::chmod(path.c_str(), 0666) == 0);
  CHECK(as_nobody(path) ==
        "storage: cannot write store " + path +
            " (attempt to write a readonly database); check the rights on it and on its folder");
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
}

TEST_CASE("a store that cannot be written is read as it stands") {
  const temporary_folder folder;
  const auto path = store_with_reply(folder);
  const auto as_nobody = [&] {
    return in_child([&] {
      if (::geteuid() == 0 && ::seteuid(65534) != 0) return std::string("cannot drop root's rights");
      const auto store = run::store::open_to_read(path);
      if (!store) return std::string(name(store.error().code)) + ": " + store.error().message;
      const auto found = store->find(sample_item("a"));
      return found && *found ? "read " + (*found)->reply.text : std::string("not found");
    });
  };
  REQUIRE(::chmod(path.c_str(), 0444) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0555) == 0);
  CHECK(as_nobody() == "read the answer is forty-two");
  CHECK_FALSE(std::filesystem::exists(path + "-wal"));
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  folder.write("run.db-wal", "what was not brought over");
  REQUIRE(::chmod(folder.path().c_str(), 0555) == 0);
  CHECK(as_nobody().starts_with("storage: store " + path + " cannot be written, and not all of it is in"));
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
}

TEST_CASE("who only reads creates no store and gives up no attempt for lost") {
  const temporary_folder folder;
  const auto absent = run::store::open_to_read(folder / "absent.db");
  REQUIRE_FALSE(absent);
  CHECK(absent.error().code == errc::not_found);
  CHECK_FALSE(std::filesystem::exists(folder / "absent.db"));
  const auto path = store_with_reply(folder);
  {
    auto store = run::store::open(path);
    REQUIRE(store);
    REQUIRE(store->begin_run(sample_run("2")));
    REQUIRE(store->begin_attempt(sample_item("b"), attempt()));
  }
  REQUIRE(run::store::open_to_read(path));
  CHECK(texts(path, "SELECT count(*) FROM attempts WHERE state = 'open'") == "1 ");
  REQUIRE(run::store::open(path));
  CHECK(texts(path, "SELECT count(*) FROM attempts WHERE state = 'open'") == "0 ");
}

TEST_CASE("a changed reply and a changed score are found out") {
  const temporary_folder folder;
  const auto path = store_with_reply(folder);
  const auto of_item = [&](const char* sql) {
    execute(path, sql);
    auto store = run::store::open(path);
    REQUIRE(store);
    const auto row = store->find(sample_item("a"));
    return row ? std::string("read") : std::string(name(row.error().code)) + ": " + row.error().message;
  };
  const auto damaged = "storage: store " + path + " is damaged: the reply of item a ";
  const std::string mend = "; restore a copy or give another --store";
  CHECK(of_item("UPDATE scores SET value = 0") ==
        damaged + "has a score that does not match its checksum" + mend);
  CHECK(of_item("UPDATE scores SET value = 1") == "read");
  CHECK(of_item("UPDATE replies SET body = replace(body, 'forty', 'fifty')") ==
        damaged + "does not match its checksum" + mend);
}

TEST_CASE("a file cut off or overwritten in the middle is an error, not an empty store") {
  const temporary_folder folder;
  const auto whole = read_bytes(store_with_reply(folder));
  const auto cut = folder.write("cut.db", whole.substr(0, whole.size() / 2));
  auto zeroed_bytes = whole;
  const auto body = zeroed_bytes.find("the answer is");
  REQUIRE(body != std::string::npos);
  zeroed_bytes.replace(body / 4096 * 4096, 4096, 4096, '\0');
  const auto zeroed = folder.write("zeroed.db", zeroed_bytes);
  for (const auto& path : {cut, zeroed}) {
    const auto store = run::store::open(path);
    const auto row =
        store ? store->find(sample_item("a")) : result<std::optional<run::stored_reply>>(store.error());
    REQUIRE_FALSE(row);
    CHECK(row.error().code == errc::storage);
    CHECK(row.error().message.find(path) != std::string::npos);
  }
}

namespace {

/// Commits replies of 2 KB until one is refused, lets `make_space` mend the cause, and tells: the refusal,
/// whether all that was committed can be read, and whether the next commit succeeds.
std::string fill(const std::string& path, const std::function<void()>& make_space) {
  auto store = run::store::open(path);
  if (!store || !store->begin_run(sample_run("R1"))) return "cannot begin";
  std::optional<error> refusal;
  int kept = 0;
  while (!refusal && kept < 1000) {
    const auto reply = sample_reply(std::string(2000, 'x'));
    auto put = store->put_reply(sample_item(std::to_string(kept)), attempt(), reply, right());
    if (put) {
      ++kept;
    } else {
      refusal = put.error();
    }
  }
  if (!refusal) return "never refused";
  make_space();
  bool whole = kept > 10;
  for (int i = 0; i < kept; ++i) {
    const auto row = store->find(sample_item(std::to_string(i)));
    whole = whole && row && row->has_value();
  }
  const bool goes_on =
      store->put_reply(sample_item("after"), attempt(), sample_reply("x"), right()).has_value();
  return std::string(name(refusal->code)) + ": " + refusal->message + (whole ? "; all kept" : "; lost some") +
         (goes_on ? "; goes on" : "; stuck");
}

}  // namespace

TEST_CASE("a full disk is named, keeps what was committed, and space lets the run go on") {
  const temporary_folder folder;
  const auto told = in_child([&] {
    const int spaces = CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
    if (::unshare(spaces) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0) {
      return std::string("no mount");
    }
    folder.write("ballast", std::string(200'000, 'b'));
    return fill(folder / "run.db", [&] { std::filesystem::remove(folder / "ballast"); });
  });
  if (told == "no mount") {
    MESSAGE("this machine lets nobody mount a small disk; only the write error below is tried");
    return;
  }
  CHECK(told ==
        "storage: store " + (folder / "run.db") +
            ": the disk is full; free space and run again, what was committed is kept; all kept; goes on");
}

TEST_CASE("a write error is named, keeps what was committed, and the run goes on when it is mended") {
  const temporary_folder folder;
  const auto told = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit tight{1'000'000, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &tight);
    return fill(folder / "run.db", [] {
      const rlimit wide{RLIM_INFINITY, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &wide);
    });
  });
  CHECK(told == "storage: store " + (folder / "run.db") +
                    " cannot be read or written (disk I/O error); what was committed is kept, "
                    "mend the disk and run again; all kept; goes on");
}

TEST_CASE("after a failed flush nothing more is written, and what was committed is still there") {
  const temporary_folder folder;
  const auto path = folder / "run.db";
  {
    auto store = run::store::open(path);
    REQUIRE(store);
    REQUIRE(store->begin_run(sample_run("R1")));
    REQUIRE(store->put_reply(sample_item("a"), attempt(), sample_reply("x"), right()));
    bool fail_next_flush = true;
    intercepted.on_flush = [&](int) { return std::exchange(fail_next_flush, false) ? -EIO : 0; };
    const auto failed = store->sync();
    REQUIRE_FALSE(failed);
    CHECK_FALSE(fail_next_flush);
    CHECK(failed.error().code == errc::storage);
    CHECK(failed.error().message ==
          "store " + path +
              " cannot be read or written (disk I/O error); what was "
              "committed is kept, mend the disk and run again; nothing more is written "
              "to it");
    CHECK_FALSE(store->sync());
    CHECK(store->put_reply(sample_item("b"), attempt(), sample_reply("x"), right()).error().message ==
          failed.error().message);
  }
  intercepted.on_flush = nullptr;
  CHECK(std::filesystem::file_size(path + "-wal") > 0);
  const auto again = run::store::open(path);
  REQUIRE(again);
  CHECK((*again->find(sample_item("a"))).has_value());
  CHECK_FALSE((*again->find(sample_item("b"))).has_value());
}
