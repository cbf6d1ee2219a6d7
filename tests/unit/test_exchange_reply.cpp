#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "net/reply_parser.hpp"

using namespace evalcore;

namespace {

struct recorder final : net::reply_events {
  std::vector<net::http_head> heads;
  std::string body;
  void on_head(const net::http_head& head) override { heads.push_back(head); }
  void on_body(std::string_view piece) override { body += piece; }
};

struct reading {
  recorder seen;
  result<void> outcome;
  bool done = false;
  bool reusable = false;
};

/// Feeds `bytes` in pieces of `step`, then the end of the connection if the answer is not done.
reading read(const std::string& bytes, std::size_t step, const net::http_limits& bounds = {}) {
  reading out;
  net::reply_parser parser(bounds, out.seen);
  for (std::size_t at = 0; at < bytes.size() && out.outcome; at += step) {
    out.outcome = parser.feed(std::string_view(bytes).substr(at, step));
  }
  if (out.outcome && !parser.done()) out.outcome = parser.finish();
  out.done = parser.done();
  out.reusable = out.done && parser.reusable();
  return out;
}

std::string file(const std::string& name) {
  std::ifstream in(std::string(EVALCORE_TEST_DATA "/http/") + name, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), name);
  return {std::istreambuf_iterator<char>(in), {}};
}

const std::string chunked_head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

}  // namespace

TEST_CASE("answers of real servers, in pieces of every size") {
  for (const char* name :
       {"llama_server_stream", "llama_server_kept", "llama_server_continue", "mlx_lm_server_stream"}) {
    CAPTURE(name);
    const std::string bytes = file(std::string(name) + ".bytes");
    const std::string body = file(std::string(name) + ".body");
    for (std::size_t step = 1; step <= bytes.size(); step = step < 300 ? step + 1 : step * 2) {
      const auto got = read(bytes, step);
      REQUIRE(got.outcome);
      REQUIRE(got.done);
      REQUIRE(got.seen.heads.size() == 1);
      REQUIRE(got.seen.heads[0].status == 200);
      REQUIRE(got.seen.body == body);
      REQUIRE(got.reusable == (std::string(name) == "llama_server_kept"));
    }
  }
}

TEST_CASE("every cut of a chunked answer is noticed, and its pieces are not lost") {
  // RFC 9112, section 7.1: two chunks, the last one, a trailer.
  const std::string bytes = chunked_head + "4\r\nWiki\r\n5\r\npedia\r\n0\r\nX-T: 1\r\n\r\n";
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    CAPTURE(cut);
    const auto got = read(bytes.substr(0, cut), 1);
    REQUIRE_FALSE(got.outcome);
    CHECK(got.outcome.error().code == (cut == 0 ? errc::transport : errc::truncated));
    CHECK(got.outcome.error().at == (cut < chunked_head.size() ? stage::first_byte : stage::body));
  }
  const auto whole = read(bytes, 1);
  CHECK(whole.outcome);
  CHECK(whole.seen.body == "Wikipedia");
  CHECK(whole.seen.heads[0].headers.size() == 1);
  CHECK(whole.reusable);
}

TEST_CASE("an empty chunked body arrives in any pieces") {
  for (std::size_t step = 1; step <= 6; ++step) {
    const auto got = read(chunked_head + "0\r\n\r\n", step);
    CHECK(got.outcome);
    CHECK(got.reusable);
  }
}

TEST_CASE("a piece of a chunk is delivered without waiting for more") {
  recorder seen;
  net::reply_parser parser({}, seen);
  CHECK(parser.feed(chunked_head + "a\r\nabcdefg"));
  CHECK(seen.body == "abcdefg");
  CHECK(parser.feed("h"));
  CHECK(seen.body == "abcdefgh");
  CHECK(parser.feed("ij"));
  CHECK(seen.body == "abcdefghij");
}

TEST_CASE("framing that is wrong or contradicts itself is refused") {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::vector<std::string> bad{
      "<html>",
      "HTTP/2 200 OK\r\n\r\n",
      "HTTP/1.1 20 OK\r\n\r\n",
      "HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n",
      std::string("\x15\x03\x01\x00\x02\x02\x46", 7),
      ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
      ok + "Content-Length: 5, 6\r\n\r\nhello",
      ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      ok + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
      ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      ok + "Transfer-Encoding: gzip\r\n\r\nabc",
      ok + "Content-Length: -1\r\n\r\n",
      ok + "Content-Length: 0x5\r\n\r\nhello",
      ok + "Content-Length: 18446744073709551616\r\n\r\n",
      ok + "No colon\r\n\r\n",
      ok + "Bad name: x\r\n\r\n",
      chunked_head + "xyz\r\nabc\r\n0\r\n\r\n",
      chunked_head + "-3\r\nabc\r\n0\r\n\r\n",
      chunked_head + "\r\nabc\r\n0\r\n\r\n",
      chunked_head + "10000000000000000\r\nabc\r\n0\r\n\r\n",
      chunked_head + "3\r\nabcd\r\n0\r\n\r\n",
      chunked_head + "3\r\nabc0\r\n\r\n",
      chunked_head + "3;x=" + std::string(5000, 'y') + "\r\nabc\r\n0\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\n\r\n",
  };
  for (const auto& bytes : bad) {
    for (const std::size_t step : {std::size_t{1}, bytes.size()}) {
      CAPTURE(bytes);
      CAPTURE(step);
      const auto got = read(bytes, step);
      REQUIRE_FALSE(got.outcome);
      CHECK(got.outcome.error().code == errc::bad_reply);
    }
  }
}

TEST_CASE("limits hold at their value and not beyond") {
  net::http_limits bounds;
  bounds.body_bytes = 10;
  bounds.header_count = 3;
  const std::string head = "HTTP/1.1 200 OK\r\n";
  struct row {
    std::string bytes;
    bool fits;
  };
  const std::string a_10 = std::string(10, 'a');
  const std::string a_11 = std::string(11, 'a');
  const std::vector<row> rows{
      {head + "Content-Length: 10\r\n\r\n" + a_10, true},
      {head + "Content-Length: 11\r\n\r\n" + a_11, false},
      {chunked_head + "5\r\naaaaa\r\n5\r\naaaaa\r\n0\r\n\r\n", true},
      {chunked_head + "5\r\naaaaa\r\n6\r\naaaaaa\r\n0\r\n\r\n", false},
      {head + "\r\n" + a_10, true},
      {head + "\r\n" + a_11, false},
      {head + "A: 1\r\nB: 2\r\nContent-Length: 0\r\n\r\n", true},
      {head + "A: 1\r\nB: 2\r\nC: 3\r\nContent-Length: 0\r\n\r\n", false},
      {chunked_head + "0\r\nA: 1\r\nB: 2\r\n\r\n", true},
      {chunked_head + "0\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n", false},
  };
  for (const auto& expected : rows) {
    for (const std::size_t step : {std::size_t{1}, expected.bytes.size()}) {
      CAPTURE(expected.bytes);
      const auto got = read(expected.bytes, step, bounds);
      CHECK(got.outcome.has_value() == expected.fits);
      CHECK(got.seen.body.size() <= 10);
      if (!expected.fits) CHECK(got.outcome.error().code == errc::bad_reply);
    }
  }
}

TEST_CASE("the sum of the headers is bounded, in many lines and in one") {
  net::http_limits bounds;
  bounds.header_bytes = 1000;
  std::string many = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 200; ++i) many += "A: b\r\n";
  const std::string one = "HTTP/1.1 200 OK\r\nA: " + std::string(2000, 'b');
  for (const auto& bytes : {many, one}) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{64}, bytes.size()}) {
      const auto got = read(bytes, step, bounds);
      REQUIRE_FALSE(got.outcome);
      CHECK(got.outcome.error().code == errc::bad_reply);
      CHECK(got.outcome.error().at == stage::first_byte);
    }
  }
  // 17 + 2 + 19 + 2 + 900: below the limit.
  CHECK(read("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: " + std::string(900, 'b') + "\r\n\r\n", 7, bounds)
            .outcome);
}

TEST_CASE("eight informational answers are skipped, a ninth is not") {
  const std::string hint = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
  const std::string end = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += hint;
  const auto eight = read(bytes + end, 5);
  CHECK(eight.outcome);
  REQUIRE(eight.seen.heads.size() == 1);
  CHECK(eight.seen.heads[0].status == 200);
  CHECK(eight.seen.heads[0].header("link").empty());
  CHECK(read(bytes + hint + end, 5).outcome.error().code == errc::bad_reply);
}

TEST_CASE("answers without a body are whole at once") {
  for (const char* status : {"204 No Content", "304 Not Modified"}) {
    const auto got = read(std::string("HTTP/1.1 ") + status + "\r\n\r\n", 3);
    CHECK(got.outcome);
    CHECK(got.done);
    CHECK(got.seen.body.empty());
  }
}

TEST_CASE("whether the connection may be used again") {
  // RFC 9112, section 9.3.
  struct row {
    std::string head;
    bool reusable;
  };
  const std::vector<row> rows{
      {"HTTP/1.1 200 OK\r\n", true},
      {"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n", true},
      {"HTTP/1.1 200 OK\r\nConnection: close\r\n", false},
      {"HTTP/1.1 200 OK\r\nConnection: x-hop, Close\r\n", false},
      {"HTTP/1.0 200 OK\r\n", false},
      {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n", true},
  };
  for (const auto& expected : rows) {
    CAPTURE(expected.head);
    const std::string answer = expected.head + "Content-Length: 2\r\n\r\nok";
    CHECK(read(answer, answer.size()).reusable == expected.reusable);
    CHECK_FALSE(read(answer + "x", answer.size() + 1).reusable);
  }
  CHECK_FALSE(read("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\nto the end", 100).reusable);
}
