#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/wire/openai_chat.hpp>

#include "unit/capture.hpp"

using namespace evalcore;
using finish = chat::finish_reason;

namespace {

struct counts {
  std::uint64_t prompt;
  std::uint64_t cached;
  std::uint64_t completion;
};
constexpr std::optional<counts> unknown;

struct expectation {
  const char* name;
  std::string text;
  std::string reasoning;
  std::vector<std::pair<std::string, std::string>> calls;
  finish why;
  std::optional<counts> usage;
};

// Read from the recorded bytes, not from this code's output.
const std::vector<expectation> answers{
    {"llama_chat", "I'm sorry for any confusion. I", "", {}, finish::length, counts{36, 0, 8}},
    {"llama_chat_cache_prompt_false", "What is the name", "", {}, finish::length, counts{319, 0, 4}},
    {"llama_chat_json_schema", "{\n  \"x\": 1\n}", "", {}, finish::stop, counts{36, 35, 15}},
    {"llama_chat_n2", "I'm sorry", "", {}, finish::length, counts{36, 35, 3}},
    {"llama_chat_n2_stream", "In one word", "", {}, finish::length, unknown},
    {"llama_chat_prefix_1", "What is the name", "", {}, finish::length, counts{319, 243, 4}},
    {"llama_chat_prefix_2", "What is the answer", "", {}, finish::length, counts{319, 311, 4}},
    {"llama_chat_stop",
     "I'm sorry for any confusion. I'm here to assist you with any text or language processing tasks. I can "
     "assist with text re-writing,",
     "",
     {},
     finish::length,
     counts{36, 35, 30}},
    {"llama_chat_stream", "I'm sorry for", "", {}, finish::length, unknown},
    {"llama_chat_stream_progress_timings_logprobs", "I'm not", "", {}, finish::length, counts{261, 0, 3}},
    {"llama_chat_stream_usage", "I'm sorry for", "", {}, finish::length, counts{36, 35, 4}},
    {"llama_content_null_empty", "You're", "", {}, finish::length, counts{41, 24, 2}},
    {"llama_err_logprobs_stream", "I'm", "", {}, finish::length, unknown},
    {"llama_fs_Qwen-Qwen2.5-7B-Instruct_par",
     "",
     "",
     {{"get_weather", "{\"city\": \"Paris\", \"days\": 2}"},
      {"get_weather", "{\"city\": \"Riga\", \"days\": 2}"}},
     finish::tool_calls,
     counts{667, 666, 73}},
    {"llama_fs_Qwen-Qwen2.5-7B-Instruct_par_stream",
     "",
     "",
     {{"get_weather", "{\"city\": \"Paris\", \"days\": 2}"},
      {"get_weather", "{\"city\": \"Riga\", \"days\": 2}"}},
     finish::tool_calls,
     unknown},
    {"llama_fs_Qwen-Qwen2.5-7B-Instruct_tool_cut",
     "",
     "",
     {{"get_weather", "{"}},
     finish::length,
     counts{503, 502, 16}},
    {"llama_fs_Qwen-Qwen2.5-7B-Instruct_tool_cut_stream",
     "",
     "",
     {{"get_weather", "{"}},
     finish::length,
     unknown},
    {"llama_fs_Qwen-Qwen2.5-7B-Instruct_tool_stream",
     "",
     "",
     {{"get_weather", "{\"city\": \"Paris\", \"days\": 5}"}},
     finish::tool_calls,
     counts{503, 502, 36}},
    {"llama_maxtok0", "Hello", "", {}, finish::length, counts{36, 35, 1}},
    {"llama_reason_budget0_stream", "", "\n\nA", {}, finish::stop, unknown},
    {"llama_reason_chat", "", "\n\nAwesome! I", {}, finish::length, counts{19, 0, 6}},
    {"llama_reason_format_none", "<think>\n\nAwesome! I", "", {}, finish::length, counts{19, 18, 6}},
    {"llama_reason_stream", "", "\n\nAwesome!", {}, finish::length, unknown},
    {"llama_tc_meta-llama-Llama-3.1-8B-Instruct_required",
     "What is the weather in Paris for 2 days?\n\nThe weather in Paris for 2 days is:\n\n",
     "",
     {{"get_weather", "{"}},
     finish::length,
     counts{333, 0, 50}},
    {"llama_tc_meta-llama-Llama-3.1-8B-Instruct_required_stream",
     "What is the weather in Paris for 2 days?\n\nThe weather in Paris for 2 days is:\n\n",
     "",
     {{"get_weather", "{"}},
     finish::length,
     unknown},
    {"llama_tools_history", "<tool_response>", "", {}, finish::length, counts{289, 234, 5}},
    {"mlxlm_canned_bad", "", "", {}, finish::tool_calls, counts{48, 32, 51}},
    {"mlxlm_canned_bad_stream", "", "", {}, finish::tool_calls, counts{48, 47, 51}},
    {"mlxlm_canned_emoji", "café 😀 你好", "", {}, finish::stop, counts{24, 6, 18}},
    {"mlxlm_canned_emoji_cut", "café �", "", {}, finish::length, counts{24, 6, 8}},
    {"mlxlm_canned_emoji_logprobs", "café �", "", {}, finish::length, counts{24, 23, 8}},
    {"mlxlm_canned_emoji_stream", "café 😀 你好", "", {}, finish::stop, counts{24, 23, 18}},
    {"mlxlm_canned_hi_stop_stream", "He", "", {}, finish::stop, unknown},
    {"mlxlm_canned_mixed",
     "Let me check.",
     "",
     {{"get_weather", "{\"city\": \"Oslo\"}"}},
     finish::tool_calls,
     counts{50, 32, 72}},
    {"mlxlm_canned_mixed_stream",
     "Let me check.",
     "",
     {{"get_weather", "{\"city\": \"Oslo\"}"}},
     finish::tool_calls,
     counts{50, 49, 72}},
    {"mlxlm_canned_noargs", "", "", {{"now", "{}"}}, finish::tool_calls, counts{51, 32, 37}},
    {"mlxlm_canned_noargs_stream", "", "", {{"now", "{}"}}, finish::tool_calls, counts{51, 50, 37}},
    {"mlxlm_canned_strargs",
     "",
     "",
     {{"get_weather", "\"{\\\"city\\\": \\\"Paris\\\"}\""}},
     finish::tool_calls,
     counts{52, 32, 66}},
    {"mlxlm_canned_strargs_stream",
     "",
     "",
     {{"get_weather", "\"{\\\"city\\\": \\\"Paris\\\"}\""}},
     finish::tool_calls,
     counts{52, 51, 66}},
    {"mlxlm_canned_think", "The answer is 4.", "Two plus two is four.", {}, finish::stop, counts{24, 6, 40}},
    {"mlxlm_canned_think_cut_stream", "", "Two p", {}, finish::length, unknown},
    {"mlxlm_canned_think_stream",
     "The answer is 4.",
     "Two plus two is four.",
     {},
     finish::stop,
     counts{24, 23, 40}},
    {"mlxlm_canned_thinktool",
     "",
     "Need weather.",
     {{"get_weather", "{\"city\": \"Lima\"}"}},
     finish::tool_calls,
     counts{54, 33, 74}},
    {"mlxlm_canned_thinktool_stream",
     "",
     "Need weather.",
     {{"get_weather", "{\"city\": \"Lima\"}"}},
     finish::tool_calls,
     counts{54, 53, 74}},
    {"mlxlm_canned_tool",
     "",
     "",
     {{"get_weather", "{\"city\": \"Paris\"}"}},
     finish::tool_calls,
     counts{49, 1, 60}},
    {"mlxlm_canned_tool_cut", "", "", {}, finish::length, counts{49, 48, 30}},
    {"mlxlm_canned_tool_cut_stream", "", "", {}, finish::length, unknown},
    {"mlxlm_canned_two",
     "\n",
     "",
     {{"get_weather", "{\"city\": \"Paris\"}"}, {"get_weather", "{\"city\": \"Rome\"}"}},
     finish::tool_calls,
     counts{48, 33, 119}},
    {"mlxlm_canned_two_stream",
     "\n",
     "",
     {{"get_weather", "{\"city\": \"Paris\"}"}, {"get_weather", "{\"city\": \"Rome\"}"}},
     finish::tool_calls,
     counts{48, 47, 119}},
    {"mlxlm_chat_stream_options_empty", "\n\n\n", "", {}, finish::length, unknown},
    {"mlxlm_err_ctx_long", "rend rend", "", {}, finish::length, counts{3031, 24, 2}},
    {"mlxlm_prefix_2", "AW AW AW AW", "", {}, finish::length, counts{259, 251, 4}},
    {"mlxlm_prefix_stream_keepalive", "ographsographsographs", "", {}, finish::length, counts{557, 243, 3}},
    {"mlxlm_tools_tool_stream",
     "<tool_response>\nsunny\n</tool_response>",
     "",
     {},
     finish::stop,
     counts{329, 0, 15}},
};

const wire::dialect& dialect_of(const capture& one) {
  return *wire::find_dialect(one.name.starts_with("llama") ? "llama-server" : "generic");
}

/// Everything a decoder says, as one text that can be compared.
std::string shown(const result<chat::reply>& got) {
  if (!got) return std::string(name(got.error().code)) + ": " + got.error().backend_words;
  std::string out = got->text + "\x1f" + got->reasoning + "\x1f" + got->finish_raw + "\x1f" + got->model;
  for (const auto& call : got->calls) out += "\x1f" + call.id + "|" + call.name + "|" + call.arguments;
  const auto count = [&](std::optional<std::uint64_t> n) { out += n ? " " + std::to_string(*n) : " -"; };
  count(got->usage.prompt_tokens);
  count(got->usage.cached_tokens);
  count(got->usage.completion_tokens);
  return out;
}

result<chat::reply> stream(const capture& one, const std::vector<std::string_view>& pieces) {
  wire::openai_chat_stream decoder(dialect_of(one));
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
  return one.streamed ? stream(one, {one.body}) : wire::decode_openai_chat(one.body, dialect_of(one));
}

}  // namespace

TEST_CASE("what real servers answered is read as they meant it") {
  for (const auto& want : answers) {
    CAPTURE(want.name);
    const auto got = decode(read_capture(want.name));
    REQUIRE(got);
    CHECK(got->text == want.text);
    CHECK(got->reasoning == want.reasoning);
    CHECK(got->finish == want.why);
    CHECK(got->usage.prompt_tokens.has_value() == want.usage.has_value());
    if (want.usage) {
      CHECK(got->usage.prompt_tokens == want.usage->prompt);
      CHECK(got->usage.cached_tokens == want.usage->cached);
      CHECK(got->usage.completion_tokens == want.usage->completion);
    }
    REQUIRE(got->calls.size() == want.calls.size());
    for (std::size_t i = 0; i < want.calls.size(); ++i) {
      CHECK(got->calls[i].name == want.calls[i].first);
      CHECK(got->calls[i].arguments == want.calls[i].second);
      CHECK(got->calls[i].id.size() >= 32);
    }
  }
}

TEST_CASE("a recording that broke off is no answer") {
  for (const char* cut : {"llama_disconnect_stream", "mlxlm_disconnect_stream"}) {
    const auto got = decode(read_capture(cut));
    REQUIRE_FALSE(got);
    CHECK(got.error().code == errc::truncated);
  }
  const auto failed = decode(read_capture("llama_kvover_0_completions_stream"));
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == errc::overloaded);
  CHECK(failed.error().backend_words == "Context size has been exceeded.");
}

TEST_CASE("every recorded answer but those three is an answer") {
  int answered = 0;
  int failed = 0;
  for (const auto& name : capture_names()) {
    const capture one = read_capture(name);
    if (one.status != 200) continue;
    ++(decode(one) ? answered : failed);
  }
  CHECK(answered == 110);
  CHECK(failed == 3);
}

TEST_CASE("a stream reads the same wherever it is cut in two") {
  int streams = 0;
  for (const auto& name : capture_names()) {
    const capture one = read_capture(name);
    if (!one.streamed) continue;
    CAPTURE(name);
    ++streams;
    const std::string_view bytes = one.body;
    const std::string whole = shown(stream(one, {bytes}));
    // All cuts of the short ones; of the long ones, which repeat the same few kinds of event a hundred
    // times, every 17th.
    const std::size_t step = bytes.size() < 3000 ? 1 : 17;
    for (std::size_t cut = 1; cut < bytes.size(); cut += step) {
      CAPTURE(cut);
      REQUIRE(shown(stream(one, {bytes.substr(0, cut), bytes.substr(cut)})) == whole);
    }
    std::vector<std::string_view> single;
    for (std::size_t i = 0; i < bytes.size(); ++i) single.push_back(bytes.substr(i, 1));
    CHECK(shown(stream(one, single)) == whole);
  }
  CHECK(streams == 42);
}

TEST_CASE("the first token is the first text, not a role, a progress report or a keep-alive") {
  const capture one = read_capture("llama_chat_stream_progress_timings_logprobs");
  wire::openai_chat_stream decoder(dialect_of(one));
  const std::size_t first_text = one.body.find("\"content\":\"I\"");
  const std::size_t before = one.body.rfind("data: ", first_text);
  auto made = decoder.feed(std::string_view(one.body).substr(0, before));
  REQUIRE(made);
  CHECK_FALSE(made->content);
  CHECK(decoder.comments() == 10);
  made = decoder.feed(std::string_view(one.body).substr(before));
  REQUIRE(made);
  CHECK(made->content);
  CHECK(made->text == "I'm not");
}
