#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evalcore/wire/anthropic_messages.hpp>

#include "unit/capture.hpp"

using namespace evalcore;
using finish = chat::finish_reason;

namespace {

struct expectation {
  const char* name;
  std::string text;
  std::string reasoning;
  std::string arguments;  ///< Of the one call to get_weather, if there is one.
  finish why;
  std::uint64_t prompt;
  std::uint64_t cached;
  std::uint64_t completion;
};

// Read from the recorded bytes, not from this code's output; prompt is input and cached together.
const std::vector<expectation> answers{
    {"llama_messages", "I'm glad you're happy", "", "", finish::length, 23, 3, 6},
    {"llama_messages_2nd", "I'm glad you're happy", "", "", finish::length, 23, 22, 6},
    {"llama_messages_no_max",
     "x = 72\n\nThe original sentence: \"x = 72\"\n\nUsing the given formula:\nx = 72 - 7 (12)\nx = 72 - 7\n"
     "x = 72\n\nThis is the final answer you asked for.",
     "", "", finish::stop, 31, 24, 65},
    {"llama_messages_sameroles", "The best", "", "", finish::length, 37, 24, 2},
    {"llama_messages_stop_seq", "I'm ", "", "", finish::stop, 36, 35, 3},
    {"llama_messages_stream", "Hello there, welcome", "", "", finish::length, 19, 13, 4},
    {"llama_fs_Qwen-Qwen2.5-7B-Instruct_anth", "", "", R"({"city":"Paris","days":5})", finish::tool_calls,
     503, 502, 36},
    {"llama_fs_Qwen-Qwen2.5-7B-Instruct_anth_stream", "", "", R"({"city": "Paris", "days": 5})",
     finish::tool_calls, 503, 502, 36},
    {"llama_reason_messages", "", "\n\nAwesome! I", "", finish::length, 19, 18, 6},
    {"llama_reason_messages_stream", "", "\n\nAw", "", finish::stop, 19, 18, 7},
    {"llama_tools_anth_tool",
     "You can use the following function to get the weather in Paris:\n```\nfunction get_weather_in_paris() "
     "{\n"
     "  return {\n    \"type\": \"weather\",\n    \"description\": \"Paris\",\n    \"location\": \"Paris\"\n "
     " }\n}\n"
     "```\n\nThis",
     "", "", finish::length, 196, 84, 60},
    {"llama_tools_anth_tool_result", "Let me check\n", "", "", finish::length, 262, 196, 5},
    {"llama_tools_anth_tool_stream",
     "You can use the following function to get the weather in Paris:\n```\nfunction get_weather_in_paris() "
     "{\n"
     "  return {\n    \"type\": \"weather\",\n    \"description\": \"Paris is a city renowned for its "
     "beautiful "
     "weather\",\n    \"location\": \"Paris\"\n ",
     "", "", finish::length, 196, 195, 60},
};

const wire::dialect& llama() { return *wire::find_dialect("llama-server"); }

result<chat::reply> stream(const std::vector<std::string_view>& pieces) {
  wire::anthropic_messages_stream decoder(llama());
  std::string text;
  for (const auto piece : pieces) {
    auto made = decoder.feed(piece);
    if (!made) return std::move(made).error();
    text += made->text;
  }
  auto reply = decoder.take();
  if (reply) CHECK(reply->text == text);
  return reply;
}

result<chat::reply> decode(const capture& one) {
  return one.streamed ? stream({one.body}) : wire::decode_anthropic_message(one.body, llama());
}

/// Everything a decoder says, as one text that can be compared.
std::string shown(const result<chat::reply>& got) {
  if (!got) return std::string(name(got.error().code)) + ": " + got.error().backend_words;
  std::string out = got->text + "\x1f" + got->reasoning + "\x1f" + got->finish_raw + "\x1f" + got->model;
  for (const auto& call : got->calls) out += "\x1f" + call.id + "|" + call.name + "|" + call.arguments;
  for (const auto& block : got->thinking) out += "\x1f" + block.text + "|" + block.signature;
  return out + "\x1f" + std::to_string(got->usage.prompt_tokens.value_or(0)) + " " +
         std::to_string(got->usage.completion_tokens.value_or(0));
}

}  // namespace

TEST_CASE("anthropic: what llama.cpp answered is read as it meant it") {
  for (const auto& want : answers) {
    CAPTURE(want.name);
    const auto got = decode(read_capture(want.name));
    REQUIRE(got);
    CHECK(got->text == want.text);
    CHECK(got->reasoning == want.reasoning);
    CHECK(got->finish == want.why);
    CHECK(got->usage.prompt_tokens == want.prompt);
    CHECK(got->usage.cached_tokens == want.cached);
    CHECK(got->usage.completion_tokens == want.completion);
    REQUIRE(got->calls.size() == (want.arguments.empty() ? 0 : 1));
    if (!want.arguments.empty()) {
      CHECK(got->calls[0].name == "get_weather");
      CHECK(got->calls[0].arguments == want.arguments);
      CHECK(got->calls[0].id.size() == 32);
    }
    // llama.cpp signs with nothing.
    REQUIRE(got->thinking.size() == (want.reasoning.empty() ? 0 : 1));
    if (!want.reasoning.empty()) {
      CHECK(got->thinking[0].text == want.reasoning);
      CHECK(got->thinking[0].signature.empty());
    }
  }
}

TEST_CASE("anthropic: llama.cpp says end_turn where a stop string hit, and names the string") {
  const auto got = decode(read_capture("llama_messages_stop_seq"));
  REQUIRE(got);
  CHECK(got->finish_raw == "end_turn");
  CHECK(got->stop_string == "sorry");
}

TEST_CASE("anthropic: a stream reads the same wherever it is cut in two") {
  std::vector<std::string> names{"llama_kvover_2_messages_stream"};
  for (const auto& one : answers) {
    if (std::string_view(one.name).ends_with("_stream")) names.emplace_back(one.name);
  }
  REQUIRE(names.size() == 5);
  for (const auto& name : names) {
    const capture one = read_capture(name);
    CAPTURE(name);
    const std::string_view bytes = one.body;
    const std::string whole = shown(stream({bytes}));
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
      CAPTURE(cut);
      REQUIRE(shown(stream({bytes.substr(0, cut), bytes.substr(cut)})) == whole);
    }
    std::vector<std::string_view> single;
    for (std::size_t i = 0; i < bytes.size(); ++i) single.push_back(bytes.substr(i, 1));
    CHECK(shown(stream(single)) == whole);
  }
}

TEST_CASE("anthropic: a stream that is cut anywhere is no answer") {
  for (const char* name : {"llama_messages_stream", "llama_fs_Qwen-Qwen2.5-7B-Instruct_anth_stream"}) {
    const capture one = read_capture(name);
    const std::string_view bytes = one.body;
    const std::size_t proof = bytes.rfind("\"message_stop\"}");
    REQUIRE(proof != std::string_view::npos);
    for (std::size_t end = 0; end < proof; ++end) {
      const auto got = stream({bytes.substr(0, end)});
      REQUIRE_FALSE(got);
      CHECK(got.error().code == errc::truncated);
    }
  }
}

TEST_CASE("anthropic: errors in llama.cpp's shape, before and inside a stream") {
  struct refusal {
    const char* name;
    errc code;
    const char* words;
  };
  for (const auto& want : {
           refusal{"llama_err_ctx_messages", errc::context_overflow, "request (731 tokens) exceeds"},
           refusal{"llama_err_ctx_messages_stream", errc::context_overflow, "request (731 tokens) exceeds"},
           refusal{"llama_messages_malformed", errc::invalid_request, "[json.exception.parse_error.101]"},
           refusal{"llama_messages_no_messages", errc::backend_fault, "'messages' is required"},
           refusal{"llama_tools_unauth_messages", errc::auth, "Invalid API Key"},
           refusal{"mlxlm_err_messages_route", errc::invalid_request, "Not Found"},
       }) {
    CAPTURE(want.name);
    const capture one = read_capture(want.name);
    const auto got = wire::classify_anthropic_error(one.status, one.body, llama());
    CHECK(got.code == want.code);
    CHECK(got.backend_words.starts_with(want.words));
  }
  const auto broken = decode(read_capture("llama_kvover_2_messages_stream"));
  REQUIRE_FALSE(broken);
  CHECK(broken.error().code == errc::overloaded);
  CHECK(broken.error().backend_words == "Context size has been exceeded.");
}
