#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <evalcore/run/store.hpp>

#include "unit/store_samples.hpp"
#include "unit/temporary_folder.hpp"

using namespace evalcore;
using namespace evalcore::test;

namespace {

constexpr int items = 4;

std::string id(int number) { return "item " + std::to_string(number); }
std::string answer(int number) { return "the answer is " + std::to_string(number); }

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// A store of a few replies, and its file and log as a kill after the last commit leaves them.
struct killed_store {
  std::string file;
  std::string log;
  std::string closed;  ///< The file alone, as the end of a run leaves it.

  explicit killed_store(const temporary_folder& folder) {
    const auto path = folder / "made.db";
    {
      auto store = run::store::open(path);
      REQUIRE(store);
      REQUIRE(store->begin_run(sample_run("R1")));
      REQUIRE(store->sync());
      for (int number = 0; number < items; ++number) {
        REQUIRE(store->put_reply(sample_item(id(number)), attempt(), sample_reply(answer(number)), right()));
      }
      file = read_bytes(path);
      log = read_bytes(path + "-wal");
    }
    closed = read_bytes(path);
  }
};

/// Replies that can be read, from the first one on; -1: the store is refused, -2: it holds what nobody said,
/// -3: a reply is missing between others.
int readable(const std::string& path) {
  const auto store = run::store::open(path);
  if (!store) return store.error().message.find(path) == std::string::npos ? -2 : -1;
  int found = 0;
  for (int number = 0; number < items; ++number) {
    const auto row = store->find(sample_item(id(number)));
    if (!row) return row.error().message.find(path) == std::string::npos ? -2 : -1;
    if (!row->has_value()) continue;
    if ((*row)->reply.text != answer(number) || (*row)->verdict->value != right().value) return -2;
    if (found++ != number) return -3;
  }
  return found;
}

}  // namespace

TEST_CASE("a log cut at a byte gives back what was committed before the cut, in order, and nothing else") {
  const temporary_folder folder;
  const killed_store whole(folder);
  const auto path = folder / "run.db";
  // Every byte around the ends of frames (a header of 24 bytes and a page), where something may change, and
  // one in a hundred elsewhere.
  constexpr std::size_t log_header = 32;
  constexpr std::size_t frame = 24 + 4096;
  int before = 0;
  for (std::size_t length = 0; length <= whole.log.size(); ++length) {
    const auto within = length < log_header ? 0 : (length - log_header) % frame;
    if (within > 32 && within < frame - 8 && length % 101 != 0) continue;
    write_bytes(path, whole.file);
    write_bytes(path + "-wal", whole.log.substr(0, length));
    const int found = readable(path);
    if (found < before || found > before + 1) FAIL_CHECK("cut at " << length << ": " << found);
    before = std::max(before, found);
  }
  CHECK(before == items);
}

TEST_CASE("a flipped bit in any byte of a store is found out, or changes no answer") {
  const temporary_folder folder;
  const killed_store whole(folder);
  const auto path = folder / "run.db";
  std::size_t tried = 0;
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.closed.size(); ++at) {
    // The free space of a page holds nothing.
    constexpr std::size_t near = 8;
    const auto around = whole.closed.substr(at - std::min(at, near), 2 * near);
    if (around.find_first_not_of('\0') == std::string::npos) continue;
    ++tried;
    auto flipped = whole.closed;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    write_bytes(path, flipped);
    const int found = readable(path);
    if (found != items && found != -1) FAIL_CHECK("flipped at " << at << ": " << found);
    refused += found == -1 ? 1 : 0;
    std::filesystem::remove(path + "-wal");
  }
  CHECK(tried > 5000);
  CHECK(refused > tried / 4);
}

TEST_CASE("a page of zeros anywhere in a store is found out, or changes no answer") {
  const temporary_folder folder;
  const killed_store whole(folder);
  const auto path = folder / "run.db";
  constexpr std::size_t page = 4096;
  for (std::size_t at = 0; at < whole.closed.size(); at += page) {
    auto zeroed = whole.closed;
    zeroed.replace(at, page, page, '\0');
    write_bytes(path, zeroed);
    const int found = readable(path);
    if (found != items && found != -1) FAIL_CHECK("zeroed at " << at << ": " << found);
  }
}
