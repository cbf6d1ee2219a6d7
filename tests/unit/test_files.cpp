#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include <evalcore/base/files.hpp>

#include "unit/temporary_folder.hpp"

using namespace evalcore;

namespace {

auto files_in(const test::temporary_folder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.path()), {});
}

}  // namespace

TEST_CASE("a file is read as a whole, and one that cannot be is named with the reason") {
  const test::temporary_folder folder;
  const std::string bytes = std::string(100'000, 'x') + '\0' + "\r\n";
  const auto read = read_file(folder.write("whole", bytes), "spec", stage::config);
  REQUIRE(read);
  CHECK(*read == bytes);

  const auto absent = read_file(folder / "absent", "spec", stage::config);
  REQUIRE_FALSE(absent);
  CHECK(absent.error().code == errc::not_found);
  CHECK(absent.error().at == stage::config);
  CHECK(absent.error().message ==
        "cannot read the spec " + (folder / "absent") + ": No such file or directory");

  const auto no_file = read_file(folder.path(), "budget", stage::start);
  REQUIRE_FALSE(no_file);
  CHECK(no_file.error().code == errc::storage);
  CHECK(no_file.error().message == "cannot read the budget " + folder.path() + ": Is a directory");
}

TEST_CASE("a file is replaced as a whole and nothing is left beside it") {
  const test::temporary_folder folder;
  const auto path = folder.write("rows.jsonl", "old\n");
  REQUIRE(write_file_atomically(path, "new\nlines\n"));
  CHECK(test::read_bytes(path) == "new\nlines\n");
  CHECK(files_in(folder) == 1);
}

TEST_CASE("a file that cannot be written is named, and the old one stands") {
  const test::temporary_folder folder;
  const auto missing = folder / "absent/rows.jsonl";
  const auto into_nowhere = write_file_atomically(missing, "x");
  REQUIRE_FALSE(into_nowhere);
  CHECK(into_nowhere.error().code == errc::storage);
  CHECK(into_nowhere.error().message == "cannot write " + missing + ": No such file or directory");

  std::filesystem::create_directory(folder / "taken");
  CHECK_FALSE(write_file_atomically(folder / "taken", "x"));
  CHECK(files_in(folder) == 1);
}

TEST_CASE("two threads that write one file both succeed, and one of their texts stands whole") {
  const test::temporary_folder folder;
  const auto path = folder / "verdict.json";
  std::atomic<int> failed = 0;
  const auto write = [&](char letter) {
    for (int i = 0; i < 50; ++i) {
      if (!write_file_atomically(path, std::string(20'000, letter))) ++failed;
    }
  };
  std::thread other(write, 'b');
  write('a');
  other.join();
  CHECK(failed == 0);
  const auto found = test::read_bytes(path);
  CHECK((found == std::string(20'000, 'a') || found == std::string(20'000, 'b')));
  CHECK(files_in(folder) == 1);
}
