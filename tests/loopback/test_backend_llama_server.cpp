#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <evalcore/backend/http_backend.hpp>
#include <evalcore/backend/managed_server.hpp>
#include <evalcore/backend/probe.hpp>
#include <evalcore/base/hash.hpp>

#include "unit/backend_probe.hpp"

// These tests run a real llama.cpp server on a model of 358 KB: the program that the environment variable
// EVALCORE_LLAMA_SERVER names. Without it they fail.

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

const std::string model = EVALCORE_TEST_DATA "/models/canned/canned-q8_0.gguf";

backend::managed_options options() {
  const char* program = std::getenv("EVALCORE_LLAMA_SERVER");
  REQUIRE_MESSAGE(program != nullptr, "EVALCORE_LLAMA_SERVER must name a program with llama-server's flags");
  backend::managed_options how;
  how.ways = wire::find_dialect("llama-server");
  how.program = program;
  how.model = model;
  how.slots = 2;
  how.context_per_slot = 1024;
  return how;
}

std::unique_ptr<backend::backend> start_server(net::loop& loop, const backend::managed_options& how) {
  auto made = backend::start_managed_server(loop, how);
  REQUIRE_MESSAGE(made, (made ? std::string() : made.error().message));
  return *std::move(made);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

/// The child that leads a process group of its own.
pid_t server_pid() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto status = read_file(entry.path() / "status");
    const auto pid = static_cast<pid_t>(std::stol(number));
    if (status.find("\nPPid:\t" + std::to_string(::getpid()) + "\n") != std::string::npos &&
        ::getpgid(pid) == pid) {
      return pid;
    }
  }
  FAIL("no server process");
  return -1;
}

/// The value that the server was started with.
std::string started_with(pid_t server, std::string flag) {
  const auto line = read_file("/proc/" + std::to_string(server) + "/cmdline");
  flag.push_back('\0');
  const auto begin = line.find(flag) + flag.size();
  return line.substr(begin, line.find('\0', begin) - begin);
}

chat::request shared_system(const std::string& question) {
  auto request = test::user_says(question);
  std::string words;
  for (int count = 0; count < 6; ++count) words += "system words that are long enough to share, ";
  request.messages.insert(request.messages.begin(), test::turn(chat::role::system, words));
  request.params.max_tokens = 12;
  return request;
}

std::vector<backend::token> tokens_of(net::loop& loop, backend::backend& of, const chat::request& request) {
  auto tokens =
      test::ask<std::vector<backend::token>>(loop, [&](auto done) { of.tokenize(request, std::move(done)); });
  REQUIRE(tokens);
  return *std::move(tokens);
}

}  // namespace

TEST_CASE("the real server starts, answers by heart, shares a prefix between slots and is gone afterwards") {
  net::loop loop;
  auto server = start_server(loop, options());
  const auto pid = server_pid();
  const auto folder = started_with(pid, "--slot-save-path");
  struct stat facts{};
  REQUIRE(::stat(folder.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0700);

  const auto& about = server->about();
  CHECK(about.slots == 2U);
  CHECK(about.context_per_slot == 1024U);
  CHECK(about.model == "canned-q8_0.gguf");
  CHECK(about.sent_model == "canned-q8_0.gguf");
  // sha256sum of the file.
  CHECK(about.identity.at("model_file") ==
        "47a51ec2a6adeb5662a90ebeec4ef40a666c7f19e0d89753b2ab3c09aab6c0dd");
  CHECK(about.identity.contains("build"));
  CHECK(about.identity.contains("chat_template"));
  CHECK(server->can().share_prefix == backend::ability::yes);

  auto hi = test::user_says("hi");
  hi.hints.slot = 0;
  const auto greeting = test::start(loop, *server, hi).sink->wait();
  REQUIRE(greeting);
  CHECK(greeting->text == "Hello!");
  CHECK(greeting->finish == chat::finish_reason::stop);
  CHECK(greeting->usage.prompt_tokens == tokens_of(loop, *server, hi).size());

  auto first = shared_system("hi");
  first.hints.slot = 0;
  const auto leader = test::start(loop, *server, first).sink->wait();
  REQUIRE(leader);
  const auto shared =
      test::ask<void>(loop, [&](auto done) { server->share_prefix(0, {1}, std::move(done)); });
  CHECK(shared);
  auto second = shared_system("emoji");
  second.hints.slot = 1;
  const auto held = tokens_of(loop, *server, first);
  const auto asked = tokens_of(loop, *server, second);
  const auto common = std::ranges::mismatch(held, asked).in1 - held.begin();
  REQUIRE(common > 200);
  const auto follower = test::start(loop, *server, second).sink->wait();
  REQUIRE(follower);
  CHECK(follower->usage.prompt_tokens == asked.size());
  CHECK(follower->usage.cached_tokens == static_cast<std::uint64_t>(common));

  const auto tools = test::ask<bool>(loop, [&](auto done) {
    server->check_tools({{.name = "get_weather", .description = "Weather", .parameters = "{}"}},
                        std::move(done));
  });
  CHECK(tools.value_or(false));

  server.reset();
  CHECK(::kill(pid, 0) != 0);
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("an answer that the request begins goes on the same way streamed and whole, in both formats") {
  net::loop loop;
  const auto server = start_server(loop, options());
  auto begun = test::user_says("hi");
  begun.messages.push_back(test::turn(chat::role::assistant, "Hel"));
  const auto goes_on = [&](bool stream, bool messages) {
    backend::http_options how;
    how.base_url = "http://127.0.0.1:" + started_with(server_pid(), "--port");
    how.ways = wire::find_dialect("llama-server");
    how.stream = stream;
    auto made = messages ? backend::connect_anthropic_url(loop, how) : backend::connect_openai_url(loop, how);
    REQUIRE(made);
    const auto reply = test::start(loop, **made, begun).sink->wait();
    REQUIRE(reply);
    return reply->text;
  };
  // The model knows "Hello!" by heart.
  CHECK(goes_on(true, false) == "lo!");
  CHECK(goes_on(false, false) == "lo!");
  CHECK(goes_on(true, true) == "lo!");
  CHECK(goes_on(false, true) == "lo!");
}

TEST_CASE("a probe of the real server finds its cache at work and no logprobs of prompts") {
  net::loop loop;
  const auto server = start_server(loop, options());
  const auto report = backend::probe(loop, *server, {});
  REQUIRE(report);
  CHECK(report->alive);
  for (const auto* what : {"chat", "streaming", "stream_end", "stream_usage", "greedy_repeat", "logprobs",
                           "cached_tokens", "stop", "n", "tools"}) {
    CAPTURE(what);
    CHECK_MESSAGE(report->find(what)->answer == backend::ability::yes, report->find(what)->evidence);
  }
  CHECK(report->find("prompt_logprobs")->answer == backend::ability::no);

  // By URL and as a server that nobody knows, it is asked, and its answer is seen through.
  backend::http_options how;
  how.base_url = "http://127.0.0.1:" + started_with(server_pid(), "--port");
  const auto stranger = backend::connect_openai_url(loop, how);
  REQUIRE(stranger);
  CHECK((*stranger)->can().prompt_logprobs == backend::ability::unknown);
  const auto models = test::ask<std::vector<backend::listed_model>>(
      loop, [&](auto done) { (*stranger)->list_models(std::move(done)); });
  REQUIRE(models);
  CHECK(wire::dialect_of_owner(models->at(0).owned_by) == wire::find_dialect("llama-server"));
  const auto score = test::ask<chat::loglikelihood>(loop, [&](auto done) {
    (*stranger)->loglikelihood({.context = "Is it true?", .continuation = " yes"}, std::move(done));
  });
  REQUIRE_FALSE(score);
  CHECK(score.error().code == errc::unsupported);
  CHECK(score.error().message.find("only those of generated tokens (1 logprobs for") != std::string::npos);
}

TEST_CASE(
    "a client that leaves in the middle of a stream frees its slot: the next is served within a second") {
  net::loop loop;
  auto how = options();
  how.slots = 1;
  const auto server = start_server(loop, how);
  auto endless = test::user_says("tell me everything");
  endless.params.max_tokens = 900;
  // A list that may not end before that.
  endless.params.format =
      chat::response_format{.how = chat::response_format::kind::json_schema,
                            .name = "list",
                            .schema = R"({"type": "array", "items": {"type": "integer"}, "minItems": 300})"};
  for (int round = 0; round < 3; ++round) {
    const auto leaving = test::start(loop, *server, endless);
    leaving.sink->wait_for_first_token();
    CHECK(leaving.sink->ends == 0);
    const auto left = std::chrono::steady_clock::now();
    loop.run_and_wait([&] { server->cancel(leaving.ticket); });
    const auto next = test::start(loop, *server, test::user_says("hi")).sink->wait();
    CHECK(std::chrono::steady_clock::now() - left < 1s);
    REQUIRE(next);
    CHECK(next->text == "Hello!");
    CHECK(leaving.sink->wait().error().code == errc::cancelled);
  }
}

TEST_CASE("a server that is killed in the middle of a request is blamed for it, and started again") {
  net::loop loop;
  auto server = start_server(loop, options());
  const auto pid = server_pid();
  ::kill(pid, SIGSTOP);  // So that the request is under way for sure.
  const auto one = test::start(loop, *server, test::user_says("hi"));
  const auto other = test::start(loop, *server, test::user_says("hello"));
  ::kill(pid, SIGKILL);
  const auto outcome = one.sink->wait();
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == errc::backend_fault);
  CHECK(outcome.error().server_died);
  CHECK(outcome.error().message.starts_with("llama-server died (signal 9); last lines: "));
  // Whether it is being started again by then or not.
  const auto second = other.sink->wait();
  REQUIRE_FALSE(second);
  CHECK(second.error().code == errc::backend_fault);
  CHECK(second.error().server_died);
  // Whoever asks next hears that it is being started again, and after a while its answer.
  const auto patience = std::chrono::steady_clock::now() + 60s;
  auto next = test::start(loop, *server, test::user_says("hi")).sink->wait();
  REQUIRE_FALSE(next);
  while (!next && std::chrono::steady_clock::now() < patience) {
    CHECK(next.error().code == errc::overloaded);
    std::this_thread::sleep_for(100ms);
    next = test::start(loop, *server, test::user_says("hi")).sink->wait();
  }
  CHECK(next);
  CHECK(one.sink->ends == 1);
}

TEST_CASE("the real server's refusal to load a damaged model is shown") {
  net::loop loop;
  auto how = options();
  how.model = "/tmp/evalcore-damaged-" + std::to_string(::getpid()) + ".gguf";
  std::ofstream(how.model) << "GGUF, or so it says";
  const auto made = backend::start_managed_server(loop, how);
  std::filesystem::remove(how.model);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == errc::backend_fault);
  CHECK(made.error().message.starts_with("llama-server died (exit code 1); last lines: "));
  CHECK(made.error().backend_words.find("failed to load model") != std::string::npos);
}
