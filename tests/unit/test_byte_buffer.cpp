#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>

#include <evalcore/base/byte_buffer.hpp>

using namespace evalcore;

TEST_CASE("a buffer holds what its pieces were, and nothing once it is cleared") {
  byte_buffer buffer;
  CHECK(buffer.view().empty());
  std::string expected;
  for (std::size_t length = 0; length < 3000; ++length) {
    const std::string piece(length, static_cast<char>('a' + length % 26));
    buffer.append(piece);
    expected += piece;
  }
  CHECK(buffer.view() == expected);
  byte_buffer moved = std::move(buffer);
  CHECK(moved.view() == expected);
  const std::size_t held = moved.capacity();
  moved.clear();
  CHECK(moved.empty());
  moved.append("a");
  CHECK(moved.view() == "a");
  CHECK(moved.capacity() == held);
}

TEST_CASE("a buffer of 64 MiB grows in steps of 16 MiB at most, and not often") {
  constexpr std::size_t mib = 1024 * 1024;
  const std::string piece(16 * 1024, 'x');
  byte_buffer buffer;
  std::size_t before = 0;
  std::size_t longest = 0;
  int steps = 0;
  while (buffer.view().size() < 64 * mib) {
    buffer.append(piece);
    if (buffer.capacity() == before) continue;
    longest = std::max(longest, buffer.capacity() - before);
    before = buffer.capacity();
    ++steps;
  }
  CHECK(longest <= 16 * mib);
  CHECK(buffer.capacity() < 80 * mib);
  CHECK(steps < 40);
}
