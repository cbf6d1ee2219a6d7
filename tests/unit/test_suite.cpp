#include <doctest/doctest.h>
#include <zlib.h>

#include <string>
#include <thread>
#include <vector>

#include <evalcore/run/suite.hpp>

#include "unit/temporary_folder.hpp"

using namespace evalcore;

namespace {

constexpr const char* two_items =
    "{\"id\":\"a\",\"prompt\":\"1+1?\",\"target\":\"2\"}\n"
    "{\"id\":\"b\",\"prompt\":\"2+2?\",\"target\":\"4\"}\n";

run::suite opened(const std::string& path) {
  auto suite = run::suite::open(path);
  REQUIRE_MESSAGE(suite, (suite ? "" : suite.error().message));
  return *std::move(suite);
}

error refused(const std::string& path) {
  auto suite = run::suite::open(path);
  REQUIRE_FALSE(suite);
  return suite.error();
}

std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  std::string in = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

TEST_CASE("items are read back in the order of the file") {
  const test::temporary_folder folder;
  const auto suite = opened(folder.write("sums.jsonl", two_items));
  REQUIRE(suite.size() == 2);
  CHECK(suite.get(0)->id == "a");
  CHECK(suite.get(1)->id == "b");
  CHECK(suite.task() == "sums");
  const auto one = suite.get(1);
  REQUIRE(one);
  CHECK(one->id == "b");
  CHECK(one->line == 2);
  CHECK(one->scorer == "exact");
  CHECK(one->target == json::value("4"));
  REQUIRE(one->request.messages.size() == 1);
  CHECK(one->request.messages[0].who == chat::role::user);
  CHECK(one->request.messages[0].text == "2+2?");
}

TEST_CASE("lines in memory are the suite that their file would be, with the same hash") {
  const test::temporary_folder folder;
  const std::string lines = std::string("\xEF\xBB\xBF") + two_items + "\r\n";
  const auto file = opened(folder.write("sums.jsonl", lines));
  const auto suite = run::suite::from_text("sums.jsonl", lines);
  REQUIRE(suite);
  REQUIRE(suite->size() == 2);
  CHECK(suite->hash() == file.hash());
  CHECK(suite->task() == "sums");
  CHECK(suite->path() == "sums.jsonl");
  CHECK(suite->get(1)->id == "b");
  CHECK(suite->get(1)->line == 2);
  CHECK(*suite->line(1) == *file.line(1));

  const auto wrong = run::suite::from_text("mine", std::string(two_items) + "{\"id\":\"a\"}\n");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == errc::bad_suite);
  CHECK(wrong.error().message.starts_with("mine:3: "));
  CHECK(run::suite::from_text("mine", "\n").error().message == "mine holds no item");
  const auto bfcl = run::suite::from_text("mine", R"({"id":"x","question":[],"function":[]})");
  REQUIRE_FALSE(bfcl);
  CHECK(bfcl.error().message.starts_with("mine:1: a question of BFCL"));
}

TEST_CASE("byte order mark, CRLF, blank lines and a missing last newline change nothing") {
  const test::temporary_folder folder;
  const auto suite = opened(folder.write("sums.jsonl",
                                         "\xEF\xBB\xBF{\"id\":\"a\",\"prompt\":\"1+1?\",\"target\":\"2\"}\r\n"
                                         "\r\n"
                                         "  \n"
                                         "{\"id\":\"b\",\"prompt\":\"2+2?\",\"target\":\"4\"}"));
  REQUIRE(suite.size() == 2);
  const auto first = suite.get(0);
  const auto second = suite.get(1);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->request.messages[0].text == "1+1?");
  CHECK(first->line == 1);
  CHECK(second->request.messages[0].text == "2+2?");
  CHECK(second->line == 4);
}

TEST_CASE("lines that are longer than a read block, or end on its border, are whole") {
  const test::temporary_folder folder;
  const auto item_of_length = [](const std::string& id, std::size_t length) {
    const std::string head = "{\"id\":\"" + id + "\",\"target\":\"x\",\"prompt\":\"";
    return head + std::string(length - head.size() - 3, 'p') + "\"}\n";
  };
  constexpr std::size_t block = std::size_t{1} << 20;
  const auto suite =
      opened(folder.write("long.jsonl", item_of_length("border", block) + item_of_length("long", 3 * block) +
                                            item_of_length("last", 100)));
  REQUIRE(suite.size() == 3);
  CHECK(suite.get(1)->request.messages[0].text.find_first_not_of('p') == std::string::npos);
  CHECK(suite.get(2)->id == "last");
  CHECK(suite.get(2)->line == 3);
}

TEST_CASE("the hash is that of the file's bytes, gzipped or not") {
  const test::temporary_folder folder;
  // printf '{"id":"a","prompt":"1+1?","target":"2"}\n{"id":"b","prompt":"2+2?","target":"4"}\n' | sha256sum
  constexpr const char* expected = "910276c59688f3a5d632a88c4c9c685375018542f447153672f27908b25553f9";
  CHECK(opened(folder.write("sums.jsonl", two_items)).hash() == expected);
  const auto zipped = opened(folder.write("sums.jsonl.gz", gzipped(two_items)));
  CHECK(zipped.hash() == expected);
  CHECK(zipped.task() == "sums");
  CHECK(zipped.get(1)->request.messages[0].text == "2+2?");
}

TEST_CASE("gzip data is told by content, and may have several members") {
  const test::temporary_folder folder;
  const std::string text = two_items;
  const auto cut = text.find('\n') + 1;
  const auto suite =
      opened(folder.write("plain-name.jsonl", gzipped(text.substr(0, cut)) + gzipped(text.substr(cut))));
  REQUIRE(suite.size() == 2);
  CHECK(suite.get(1)->id == "b");
}

TEST_CASE("damaged and cut gzip data is refused by name") {
  const test::temporary_folder folder;
  const auto whole = gzipped(two_items);
  const auto cut = folder.write("cut.gz", whole.substr(0, whole.size() - 9));
  CHECK(refused(cut).code == errc::bad_suite);
  CHECK(refused(cut).message ==
        cut + ": damaged gzip data (it ends in the middle); fetch or compress the file again");
  auto wrong = whole;
  wrong[wrong.size() - 6] = static_cast<char>(wrong[wrong.size() - 6] ^ 1);
  const auto flipped = folder.write("flipped.gz", wrong);
  CHECK(refused(flipped).message ==
        flipped + ": damaged gzip data (incorrect data check); fetch or compress the file again");
}

TEST_CASE("a file that is missing, no file, or empty is refused by name") {
  const test::temporary_folder folder;
  CHECK(refused(folder / "absent.jsonl").code == errc::not_found);
  CHECK(refused(folder / "absent.jsonl").message ==
        "cannot read " + (folder / "absent.jsonl") + ": No such file or directory");
  CHECK(refused(folder.path()).message == folder.path() + " is not a regular file; give a JSONL file");
  const auto empty = folder.write("empty.jsonl", "\n\n");
  CHECK(refused(empty).code == errc::bad_suite);
  CHECK(refused(empty).message == empty + " holds no item");
}

TEST_CASE("an id that stands twice is refused with both lines") {
  const test::temporary_folder folder;
  const auto path = folder.write(
      "twice.jsonl", std::string(two_items) + "\n" + "{\"id\":\"a\",\"prompt\":\"3?\",\"target\":\"3\"}\n");
  CHECK(refused(path).message == path + ":4: the id \"a\" stands in line 1 already; ids must be unique");
}

TEST_CASE("a suite that is changed while it is in use is an error, not another item") {
  const test::temporary_folder folder;
  const auto path = folder.write("sums.jsonl", two_items);
  const auto suite = opened(path);
  folder.write("sums.jsonl", std::string(two_items) + "\n");
  const auto one = suite.get(0);
  REQUIRE_FALSE(one);
  CHECK(one.error().code == errc::storage);
  CHECK(one.error().message == path + " was changed while it was in use; run again");
}

TEST_CASE("items are read from several threads at once") {
  const test::temporary_folder folder;
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += "{\"id\":" + std::to_string(i) + ",\"prompt\":\"p" + std::to_string(i) + "\",\"target\":1}\n";
  }
  const auto suite = opened(folder.write("many.jsonl", text));
  std::vector<int> wrong(4, 0);
  {
    std::vector<std::jthread> readers;
    for (auto& count : wrong) {
      readers.emplace_back([&suite, &count] {
        for (std::size_t i = 0; i < suite.size(); ++i) {
          const auto one = suite.get(i);
          if (!one || one->request.messages[0].text != "p" + std::to_string(i)) ++count;
        }
      });
    }
  }
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("the first item with tools is known without reading again") {
  const test::temporary_folder folder;
  CHECK_FALSE(opened(folder.write("none.jsonl", two_items)).first_with_tools());
  const auto third = std::string(two_items) +
                     R"({"id":"c","prompt":"weather?","target":"x","tools":[{"name":"f"}]})"
                     "\n"
                     R"({"id":"d","prompt":"wind?","target":"x","tools":[{"name":"g"}]})"
                     "\n";
  CHECK(opened(folder.write("third.jsonl", third)).first_with_tools() == 2);
}
