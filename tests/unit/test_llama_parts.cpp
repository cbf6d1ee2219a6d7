// The parts of the engine on llama.cpp that need no model.
#include <doctest/doctest.h>
#include <llama.h>

#include <cmath>
#include <map>
#include <string>

#include <evalcore/chat/tool_block.hpp>

#include "engine/llama_load.hpp"
#include "engine/llama_sampling.hpp"
#include "engine/llama_template.hpp"

using namespace evalcore;
using namespace evalcore::engine;

namespace {

constexpr calendar_day some_day{2026, 11, 3};
constexpr std::string_view chatml =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n";

chat::request asks(std::string text) {
  chat::request request;
  request.messages.emplace_back().text = std::move(text);
  return request;
}

/// How often each token is drawn, of 4,000 draws from probabilities of an eighth, a quarter and five eighths.
std::map<token, int> draws(sampling how) {
  const std::vector<float> logits{0, std::log(2.0F), std::log(5.0F)};
  std::map<token, int> counts;
  for (std::uint64_t seed = 0; seed < 4'000; ++seed) {
    how.seed = seed * 2'654'435'761U;
    token_chooser chooser(how, {}, 3, 16);
    ++counts[chooser.choose(next_token(logits), logits)];
  }
  return counts;
}

/// Five standard deviations around what is expected.
bool about(int count, double probability) {
  const double expected = 4'000 * probability;
  return std::abs(count - expected) < 5 * std::sqrt(expected * (1 - probability));
}

token chosen(const sampling& how, const std::vector<float>& logits, const std::vector<token>& prompt = {}) {
  token_chooser chooser(how, prompt, static_cast<std::int32_t>(logits.size()), 16);
  return chooser.choose(next_token(logits), logits);
}

}  // namespace

TEST_CASE("tokens are drawn by their probabilities, which temperature, top-k, top-p and min-p change") {
  auto counts = draws({.temperature = 1});
  CHECK(about(counts[0], 0.125));
  CHECK(about(counts[1], 0.25));
  CHECK(about(counts[2], 0.625));
  counts = draws({.temperature = 0.5});  // Squared: 1, 4 and 25 thirtieths.
  CHECK(about(counts[0], 1.0 / 30));
  CHECK(about(counts[1], 4.0 / 30));
  counts = draws({.temperature = 1, .top_k = 2});
  CHECK(counts[0] == 0);
  CHECK(about(counts[1], 2.0 / 7));
  CHECK(draws({.temperature = 1, .top_p = 0.6})[2] == 4'000);
  CHECK(draws({.temperature = 1, .min_p = 0.5})[2] == 4'000);
  counts = draws({.temperature = 1, .min_p = 0.3});
  CHECK(counts[0] == 0);
  CHECK(counts[1] > 0);
}

TEST_CASE("one seed draws the same tokens again") {
  const std::vector<float> logits(50, 0.0F);
  const auto drawn = [&](std::uint64_t seed) {
    token_chooser chooser({.temperature = 1, .seed = seed}, {}, 50, 16);
    std::vector<token> tokens;
    for (int at = 0; at < 20; ++at) tokens.push_back(chooser.choose(next_token(logits), logits));
    return tokens;
  };
  CHECK(drawn(1) == drawn(1));
  CHECK(drawn(1) != drawn(2));
  CHECK(drawn(0xFFFFFFFF) == drawn(0xFFFFFFFF));
}

TEST_CASE("bias and penalties change what is likeliest, by hand") {
  const std::vector<float> logits{2.0F, 1.5F, 0.5F};
  CHECK(chosen({}, logits) == 0);
  CHECK(chosen({.logit_bias = {{2, 3.0}}}, logits) == 2);
  CHECK(chosen({.logit_bias = {{0, -1e9}}}, logits) == 1);
  // 2.0 / 1.6 = 1.25 for a token of the prompt.
  CHECK(chosen({.repetition_penalty = 1.6}, logits, {0}) == 1);
  CHECK(chosen({.repetition_penalty = 1.3}, logits, {0}) == 0);
  // The prompt does not count for the others; the answer does.
  CHECK(chosen({.presence_penalty = 0.6}, logits, {0}) == 0);
  token_chooser presence({.presence_penalty = 0.6}, {}, 3, 16);
  CHECK(presence.choose(next_token(logits), logits) == 0);
  CHECK(presence.choose(next_token(logits), logits) == 1);  // 1.4 and 1.5.
  CHECK(presence.choose(next_token(logits), logits) == 0);  // 1.4, 0.9.
  token_chooser frequency({.frequency_penalty = 0.3}, {}, 3, 16);
  std::string tokens;
  // 2.0; 1.7; then 1.4 and 1.5; then 1.4 and 1.2.
  for (int at = 0; at < 4; ++at) tokens += std::to_string(frequency.choose(next_token(logits), logits));
  CHECK(tokens == "0010");
}

TEST_CASE("a library whose fields are elsewhere is told by its defaults") {
  CHECK(layout_agrees(llama_context_default_params()));
  for (const auto change :
       {+[](llama_context_params& p) { p.offload_kqv = false; },
        +[](llama_context_params& p) { p.no_perf = false; },
        +[](llama_context_params& p) { p.op_offload = false; },
        +[](llama_context_params& p) { p.swa_full = false; },
        +[](llama_context_params& p) { p.samplers = reinterpret_cast<llama_sampler_seq_config*>(8); }}) {
    auto shifted = llama_context_default_params();
    change(shifted);
    CHECK_FALSE(layout_agrees(shifted));
  }
}

TEST_CASE("tools are written into the system turn, and the reply is told so") {
  const chat_template writer{std::string(chatml)};
  auto request = asks("What is the weather?");
  request.tools.push_back({.name = "get_weather", .description = "d", .parameters = R"({"type": "object"})"});
  auto prompt = writer.render(request, "<s>", some_day);
  REQUIRE(prompt);
  CHECK(prompt->text ==
        "<s><|im_start|>system\n" + chat::render_tool_block(request.tools) +
            "<|im_end|>\n<|im_start|>user\nWhat is the weather?<|im_end|>\n<|im_start|>assistant\n");
  CHECK(prompt->template_name == "chatml with the tools as text");
}

TEST_CASE("what the template has no place for is unsupported, not left out") {
  const chat_template writer{std::string(chatml)};
  const auto code_of = [&](const chat::request& request) {
    auto prompt = writer.render(request, "", some_day);
    return prompt ? errc{} : prompt.error().code;
  };
  CHECK(code_of(asks("x")) == errc{});
  auto image = asks("x");
  image.messages[0].image_urls = {"data:image/png;base64,AAAA"};
  CHECK(code_of(image) == errc::unsupported);
  auto calls = asks("x");
  calls.messages.push_back(
      {.who = chat::role::assistant, .calls = {{.id = "1", .name = "f", .arguments = "{}"}}});
  CHECK(code_of(calls) == errc::unsupported);
  calls.tools.push_back({.name = "f"});
  CHECK(code_of(calls) == errc{});
  auto thinks = asks("x");
  thinks.thinking.enabled = false;
  CHECK(code_of(thinks) == errc::unsupported);
  CHECK(code_of({}) == errc::invalid_argument);
  CHECK(code_of(asks(std::string("a\0b", 3))) == errc::invalid_argument);
  auto none = chat_template("").render(asks("x"), "", some_day);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == errc::unsupported);
  auto unknown = chat_template("{{ messages }}").render(asks("x"), "", some_day);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == errc::unsupported);
}

TEST_CASE("a prompt that depends on the day is warned of, but not one whose request names it") {
  const chat_template dated{std::string(chatml) + "{{ strftime_now('%d %b %Y') }}"};
  auto prompt = dated.render(asks("x"), "", some_day);
  REQUIRE(prompt);
  CHECK(prompt->warning.find("prints the date") != std::string::npos);
  const chat_template writer{std::string(chatml)};
  CHECK(writer.render(asks("Is it 03 Nov 2026?"), "", some_day)->warning.empty());
  CHECK(writer.render(asks("x"), "Today is 03 Nov 2026.", some_day)->warning.find("today's date") !=
        std::string::npos);
}

TEST_CASE("a long chat is written whole") {
  const chat_template writer{std::string(chatml)};
  const std::string text(100'000, 'x');
  CHECK(writer.render(asks(text), "", some_day)->text ==
        "<|im_start|>user\n" + text + "<|im_end|>\n<|im_start|>assistant\n");
}
