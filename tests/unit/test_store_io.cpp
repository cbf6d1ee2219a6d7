#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include <evalcore/run/store.hpp>

#include "unit/store_samples.hpp"
#include "unit/system_calls.hpp"
#include "unit/temporary_folder.hpp"

using namespace evalcore;
using namespace evalcore::test;

namespace {

constexpr int items = 6;
constexpr int items_a_sync = 2;

std::string id(int number) { return "item " + std::to_string(number); }
std::string answer(int number) {
  return "answer " + std::to_string(number) + std::string(static_cast<std::size_t>(number) * 500, '.');
}

struct outcome {
  int acknowledged = 0;  ///< Replies whose commit was reported as done, from the first on.
  int durable = 0;       ///< Of these, those before a sync that was reported as done.
  bool failed = false;
  bool typed = true;  ///< Every failure was of the class storage and named the file.
};

/// Writes replies until the first failure; `at` is up to date all the time.
void write_replies(const std::string& path, outcome& at) {
  const auto succeeded = [&](const result<void>& done) {
    if (!done) {
      at.failed = true;
      at.typed = at.typed && done.error().code == errc::storage &&
                 done.error().message.find(path) != std::string::npos;
    }
    return done.has_value();
  };
  auto store = run::store::open(path);
  if (!store) {
    succeeded(store.error());
    return;
  }
  if (!succeeded(store->begin_run(sample_run("R1")))) return;
  for (int number = 0; number < items; ++number) {
    if (!succeeded(
            store->put_reply(sample_item(id(number)), attempt(), sample_reply(answer(number)), right())))
      return;
    ++at.acknowledged;
    if (at.acknowledged % items_a_sync != 0) continue;
    if (!succeeded(store->sync())) return;
    at.durable = at.acknowledged;
  }
}

/// Replies that are there, all from the first on; -1: one is missing between others, or the store is refused.
int readable(const std::string& path) {
  const auto store = run::store::open(path);
  if (!store) return -1;
  int found = 0;
  for (int number = 0; number < items; ++number) {
    const auto row = store->find(sample_item(id(number)));
    if (!row) return -1;
    if (!row->has_value()) continue;
    if (found++ != number || (*row)->reply.text != answer(number)) return -1;
  }
  return found;
}

/// Lets the n-th write go wrong in some way, and with `always` all that follow; true when there was an n-th.
template <class Way>
bool with_write_fault(int n, bool always, const Way& way, const std::string& path, outcome& at) {
  int writes = 0;
  intercepted.on_flush = [](int) { return 0; };
  intercepted.on_write = [&](std::size_t length) {
    ++writes;
    return writes == n || (always && writes > n) ? way(length) : static_cast<ssize_t>(length);
  };
  write_replies(path, at);
  intercepted = {};
  return writes >= n;
}

}  // namespace

TEST_CASE(
    "whichever write fails, once or for good, the error names the store and nothing committed is lost") {
  constexpr std::array causes{EIO, ENOSPC, EDQUOT};
  int n = 1;
  for (bool met = true; met; ++n) {
    for (const bool always : {false, true}) {
      const temporary_folder folder;
      const int why = causes.at(static_cast<std::size_t>(n) % causes.size());
      outcome at;
      met = with_write_fault(n, always, [&](std::size_t) { return ssize_t{-why}; }, folder / "run.db", at);
      const int found = readable(folder / "run.db");
      INFO("write ", n, ", error ", why, ", for good: ", always);
      CHECK(at.failed == met);
      CHECK(at.typed);
      CHECK(found >= at.acknowledged);
      CHECK(found <= at.acknowledged + 1);
    }
  }
  CHECK(n > 40);
}

TEST_CASE("a write that is interrupted or takes only some bytes goes on to its end") {
  const auto interrupted = [](std::size_t) { return ssize_t{-EINTR}; };
  const auto half = [](std::size_t length) { return static_cast<ssize_t>((length + 1) / 2); };
  int n = 1;
  for (bool met = true; met; ++n) {
    for (const bool short_write : {false, true}) {
      const temporary_folder folder;
      outcome at;
      met = short_write ? with_write_fault(n, true, half, folder / "run.db", at)
                        : with_write_fault(n, false, interrupted, folder / "run.db", at);
      INFO("write ", n);
      CHECK(at.acknowledged == items);
      CHECK(readable(folder / "run.db") == items);
    }
  }
  CHECK(n > 40);
}

TEST_CASE("whichever flush fails, nothing is said to be safe that is not, and nothing committed is lost") {
  int n = 1;
  for (bool met = true; met; ++n) {
    const temporary_folder folder;
    outcome at;
    int flushes = 0;
    intercepted.on_flush = [&](int) { return ++flushes == n ? -EIO : 0; };
    write_replies(folder / "run.db", at);
    intercepted = {};
    met = flushes >= n;
    INFO("flush ", n);
    CHECK(at.typed);
    CHECK(readable(folder / "run.db") >= at.acknowledged);
  }
  CHECK(n > 5);
}

namespace {

using images = std::map<std::string, std::string>;  ///< Bytes by file name.

images files_in(const std::string& folder) {
  images all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    all[entry.path().filename().string()] = read_bytes(entry.path().string());
  }
  return all;
}

/// What a power cut may leave of a file: what was flushed, and of what came later any blocks.
std::string after_power_cut(const std::string& flushed, const std::string& later, std::mt19937& random) {
  constexpr std::size_t block = 512;
  auto left = flushed;
  for (std::size_t at = 0; at < later.size(); at += block) {
    if (random() % 2 == 0) continue;
    const auto piece = later.substr(at, block);
    left.resize(std::max(left.size(), at + piece.size()), '\0');
    left.replace(at, piece.size(), piece);
  }
  return left;
}

}  // namespace

TEST_CASE("a power cut before any write keeps what was synced, and of the rest a beginning") {
  std::mt19937 random(29);
  bool met = true;
  int cut = 1;
  for (; met; ++cut) {
    const temporary_folder folder;
    const auto path = folder / "run.db";
    outcome at;
    int writes = 0;
    int durable = 0;
    images flushed;
    images later;
    intercepted.on_write = [&](std::size_t length) {
      if (++writes == cut) {
        later = files_in(folder.path());
        durable = at.durable;
      }
      return static_cast<ssize_t>(length);
    };
    intercepted.on_flush = [&](int descriptor) {
      if (writes >= cut) return 0;
      const auto file = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor));
      if (std::filesystem::is_regular_file(file)) {
        flushed[file.filename().string()] = read_bytes(file.string());
      }
      return 0;
    };
    write_replies(path, at);
    intercepted = {};
    met = writes >= cut;
    if (!met || durable == 0) continue;
    for (int variant = 0; variant < 3; ++variant) {
      const temporary_folder after;
      for (const auto& [name, bytes] : later)
        after.write(name, after_power_cut(flushed[name], bytes, random));
      INFO("cut before write ", cut);
      CHECK(readable(after / "run.db") >= durable);
    }
  }
  CHECK(cut > 40);
}
