#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evalcore/wire/openai_chat.hpp>

/// Chat answers made of the few bytes that matter, and what becomes of them.
namespace evalcore::test {

inline const wire::dialect& generic() { return *wire::find_dialect("generic"); }

inline result<chat::reply> whole(std::string_view body) { return wire::decode_openai_chat(body, generic()); }

inline result<chat::reply> read_stream(std::string_view bytes, std::string_view dialect = "generic") {
  wire::openai_chat_stream decoder(*wire::find_dialect(dialect));
  if (auto made = decoder.feed(bytes); !made) return std::move(made).error();
  return decoder.take();
}

inline std::string event(std::string_view data) { return "data: " + std::string(data) + "\n\n"; }

inline std::string chunk(std::string_view delta, std::string_view finish = "null") {
  return event(R"({"choices":[{"index":0,"delta":)" + std::string(delta) + R"(,"finish_reason":)" +
               std::string(finish) + "}]}");
}

inline constexpr std::string_view done = "data: [DONE]\n\n";

/// Id, name and arguments of each call.
using call_list = std::vector<std::vector<std::string>>;

inline call_list calls_in(const result<chat::reply>& got) {
  REQUIRE(got);
  call_list list;
  for (const auto& call : got->calls) list.push_back({call.id, call.name, call.arguments});
  return list;
}

/// The calls that these elements of `tool_calls`, one a delta, add up to.
inline call_list calls_of(const std::vector<std::string>& fragments) {
  std::string bytes;
  for (const auto& one : fragments) bytes += chunk(R"({"tool_calls":[)" + one + "]}");
  return calls_in(read_stream(bytes + chunk("{}", R"("tool_calls")") + std::string(done)));
}

inline errc code_of(const result<chat::reply>& got) {
  REQUIRE_FALSE(got);
  return got.error().code;
}

}  // namespace evalcore::test
