#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <evalcore/backend/managed_server.hpp>
#include <evalcore/backend/process.hpp>

#include "loopback/fault_server.hpp"

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

const std::string model = EVALCORE_TEST_DATA "/models/canned/canned-q8_0.gguf";

/// A program of a few lines, for a server that misbehaves; gone with the object.
class shell_program {
 public:
  explicit shell_program(const std::string& lines)
      : path("/tmp/evalcore-program-" + std::to_string(::getpid()) + ".sh") {
    std::ofstream(path) << "#!/bin/sh\n" << lines;
    ::chmod(path.c_str(), 0700);
  }
  ~shell_program() { ::unlink(path.c_str()); }
  shell_program(const shell_program&) = delete;
  shell_program& operator=(const shell_program&) = delete;
  std::string path;
};

backend::managed_options options(std::string program) {
  backend::managed_options how;
  how.ways = wire::find_dialect("llama-server");
  how.program = std::move(program);
  how.model = model;
  return how;
}

error failure(const backend::managed_options& how, std::stop_token stop = {}) {
  net::loop loop;
  const auto made = backend::start_managed_server(loop, how, std::move(stop));
  REQUIRE_FALSE(made);
  return made.error();
}

}  // namespace

TEST_CASE("a missing program is named with the mend") {
  const auto why = failure(options("no-such-llama-server"));
  CHECK(why.code == errc::not_found);
  CHECK(why.message ==
        "cannot find no-such-llama-server on PATH; install llama.cpp or name the program with "
        "--server-program PATH");
}

TEST_CASE("a missing model is named") {
  auto how = options("/bin/true");
  how.model = "/nowhere/m.gguf";
  const auto why = failure(how);
  CHECK(why.code == errc::not_found);
  CHECK(why.message == "there is no model file /nowhere/m.gguf; name a GGUF file with --model");
}

TEST_CASE("a port in use is named") {
  const test::fault_server other({{test::close()}});
  auto how = options("/bin/true");
  how.port = other.port();
  const auto why = failure(how);
  CHECK(why.code == errc::busy);
  CHECK(why.message.starts_with("port " + std::to_string(other.port()) + " is in use; "));
}

TEST_CASE("flags that evalcore sets itself are refused by name") {
  for (const char* flag : {"--port", "--port=80", "-m", "--slot-save-path"}) {
    auto how = options("/bin/true");
    how.extra_args = {"--verbose", flag};
    const auto why = failure(how);
    CHECK(why.code == errc::invalid_argument);
    const std::string text = flag;
    CHECK(why.message.starts_with(text.substr(0, text.find('=')) + " cannot be passed to llama-server"));
  }
}

TEST_CASE("a server that dies while loading tells how and its last words, at once") {
  const shell_program program("echo one; echo two; echo 'error: wrong magic' >&2; exit 3\n");
  const auto before = std::chrono::steady_clock::now();
  const auto why = failure(options(program.path));
  CHECK(std::chrono::steady_clock::now() - before < 5s);
  CHECK(why.code == errc::backend_fault);
  CHECK(why.message == "llama-server died (exit code 3); last lines: one | two | error: wrong magic");
}

TEST_CASE("the server is given what was asked for and a folder of its own") {
  const shell_program program("for a in \"$@\"; do echo \"$a\"; done; stat -c %a \"${14}\"; exit 1\n");
  auto how = options(program.path);
  how.port = backend::free_port().value_or(0);
  how.slots = 3;
  how.context_per_slot = 1000;
  how.threads = 2;
  how.extra_args = {"--flash-attn", "on"};
  const auto why = failure(how);
  const auto& words = why.backend_words;
  CHECK(words.starts_with("--model\n" + model + "\n--host\n127.0.0.1\n--port\n" + std::to_string(how.port) +
                          "\n--parallel\n3\n--ctx-size\n3000\n--threads\n2\n--slot-save-path\n/"));
  CHECK(words.ends_with("/\n--flash-attn\non\n700\n"));
  // It is gone with the server.
  const auto begin = words.find("--slot-save-path\n") + 17;
  CHECK_FALSE(std::filesystem::exists(words.substr(begin, words.find('\n', begin) - begin)));
}

TEST_CASE("without sharing there is no folder") {
  const shell_program program("echo \"$@\"; exit 1\n");
  auto how = options(program.path);
  how.share_prefix = false;
  CHECK(failure(how).backend_words.find("--slot-save-path") == std::string::npos);
}

TEST_CASE("a server that is never ready is given up and stopped") {
  const shell_program program("echo still loading; exec sleep 1000\n");
  auto how = options(program.path);
  how.ready_deadline = 1s;
  const auto why = failure(how);
  CHECK(why.code == errc::timeout);
  CHECK(why.message == "llama-server was not ready within 1 s; last lines: still loading");
}

TEST_CASE("starting can be interrupted, even when the server ignores it") {
  const shell_program program("trap '' TERM; while :; do sleep 0.1; done\n");
  std::stop_source stop;
  std::chrono::steady_clock::time_point asked;
  std::jthread interrupt([&] {
    std::this_thread::sleep_for(200ms);
    asked = std::chrono::steady_clock::now();
    stop.request_stop();
  });
  const auto why = failure(options(program.path), stop.get_token());
  CHECK(why.code == errc::cancelled);
  CHECK(std::chrono::steady_clock::now() - asked < 1s);
}
