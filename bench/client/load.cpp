#include "load.hpp"

#include <cstdio>
#include <cstdlib>

#include <evalcore/base/processor_time.hpp>
#include <evalcore/wire/openai_chat.hpp>

#include "backend/endpoint.hpp"
#include "net/request_text.hpp"

using namespace evalcore;

namespace {

constexpr auto warm_up = std::chrono::milliseconds(400);

}  // namespace

void give_up(const std::string& why) {
  std::fprintf(stderr, "bench_client: %s\n", why.c_str());
  std::exit(1);
}

std::string load::base_url() const { return "http://127.0.0.1:" + std::to_string(port) + path; }

meter::meter(const load& of)
    : begin_(std::chrono::steady_clock::now() + warm_up),
      end_(begin_ +
           std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(of.seconds))) {}

bool meter::answered() {
  const auto now = std::chrono::steady_clock::now();
  if (!counting_) {
    if (now < begin_) return true;
    counting_ = true;
    begin_ = now;
    cpu_at_begin_ = processor_seconds();
    return true;
  }
  if (now > end_ && seen_.wall_s > 0) return false;
  ++seen_.requests;
  if (now < end_) return true;
  seen_.wall_s = std::chrono::duration<double>(now - begin_).count();
  seen_.cpu_s = processor_seconds() - cpu_at_begin_;
  return false;
}

chat::request question() {
  chat::request asked;
  asked.model = "mock";
  asked.messages.resize(2);
  asked.messages[0].who = chat::role::system;
  asked.messages[1].who = chat::role::user;
  for (int i = 0; i < 12; ++i) {
    asked.messages[0].text += "Answer in one short sentence, and name nothing that was not asked for. ";
  }
  asked.messages[1].text = "What is the capital of France, and what is the capital of Germany?";
  asked.params.max_tokens = 16;
  asked.params.temperature = 0;
  return asked;
}

std::string body_text() {
  auto written = wire::encode_openai_chat(question(), *wire::find_dialect("generic"), false);
  if (!written) give_up(written.error().message);
  return std::move(written->body);
}

std::string request_bytes(const load& of) {
  const auto at = backend::read_endpoint(of.base_url());
  if (!at) give_up(at.error().message);
  auto text = net::request_text(net::headers_of(at->at), at->post("/v1/chat/completions", body_text()));
  if (!text) give_up(text.error().message);
  return *std::move(text);
}
