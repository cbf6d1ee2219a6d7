#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>

#include <evalcore/net/body_buffer.hpp>

using namespace evalcore;

TEST_CASE("a body is what its pieces were") {
  net::body_buffer body;
  CHECK(body.view().empty());
  std::string expected;
  for (std::size_t length = 0; length < 3000; ++length) {
    const std::string piece(length, static_cast<char>('a' + length % 26));
    body.append(piece);
    expected += piece;
  }
  CHECK(body.view() == expected);
  const net::body_buffer moved = std::move(body);
  CHECK(moved.view() == expected);
}

TEST_CASE("a body of 64 MiB grows in steps of 16 MiB at most, and not often") {
  constexpr std::size_t mib = 1024 * 1024;
  const std::string piece(16 * 1024, 'x');
  net::body_buffer body;
  std::size_t before = 0;
  std::size_t longest = 0;
  int steps = 0;
  while (body.view().size() < 64 * mib) {
    body.append(piece);
    if (body.capacity() == before) continue;
    longest = std::max(longest, body.capacity() - before);
    before = body.capacity();
    ++steps;
  }
  CHECK(longest <= 16 * mib);
  CHECK(body.capacity() < 80 * mib);
  CHECK(steps < 40);
}
