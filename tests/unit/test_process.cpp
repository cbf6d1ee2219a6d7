#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include <evalcore/backend/process.hpp>
#include <evalcore/base/limits.hpp>

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

std::unique_ptr<backend::managed_process> shell(const std::string& script) {
  auto child = backend::managed_process::start("/bin/sh", {"-c", script});
  REQUIRE(child);
  return *std::move(child);
}

/// Waits for real processes to print or to go: bounded, and only as long as it takes.
template <class Condition>
bool soon(const Condition& holds) {
  for (int turn = 0; turn < 1000; ++turn) {
    if (holds()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

pid_t pid_in(const backend::managed_process& child) {
  REQUIRE(soon([&] { return child.log().find('\n') != std::string::npos; }));
  return static_cast<pid_t>(std::stol(child.log()));
}

/// Gone, or a zombie that only its new parent has yet to reap.
bool gone(pid_t pid) {
  if (::kill(pid, 0) != 0) return true;
  std::string state;
  if (FILE* file = std::fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "re")) {
    char text[512] = {};
    static_cast<void>(std::fread(text, 1, sizeof text - 1, file));
    std::fclose(file);
    state = text;
  }
  return state.empty() || state.find(") Z") != std::string::npos;
}

}  // namespace

TEST_CASE("a child's output and exit code are seen") {
  const auto child = shell("echo out; echo err >&2; exit 7");
  const auto status = child->wait(10s);
  REQUIRE(status);
  CHECK(status->code == 7);
  CHECK(status->signal == 0);
  CHECK(status->text() == "exit code 7");
  CHECK(soon([&] { return child->log() == "out\nerr\n"; }));
}

TEST_CASE("a child that is killed tells the signal") {
  const auto child = shell("kill -9 $$");
  const auto status = child->wait(10s);
  REQUIRE(status);
  CHECK(status->text() == "signal 9");
}

TEST_CASE("standard input is empty and arguments pass no shell") {
  const auto cat = shell("cat; echo end");
  REQUIRE(cat->wait(10s));
  CHECK(soon([&] { return cat->log() == "end\n"; }));
  auto echo = backend::managed_process::start("/bin/echo", {"$HOME; `x` *", "a b"});
  REQUIRE(echo);
  REQUIRE((*echo)->wait(10s));
  CHECK(soon([&] { return (*echo)->log() == "$HOME; `x` * a b\n"; }));
}

TEST_CASE("a talkative child keeps only the end of its log") {
  const auto child =
      shell("i=0; while [ $i -lt 20000 ]; do echo line $i of many; i=$((i+1)); done; echo last");
  REQUIRE(child->wait(30s));
  CHECK(soon([&] { return child->log().ends_with("\nlast\n"); }));
  CHECK(child->log().size() == limits::process_log_bytes);
}

TEST_CASE("stopping ends the child's own children too") {
  const auto child = shell("sleep 1000 & echo $!; wait");
  const auto grandchild = pid_in(*child);
  CHECK_FALSE(child->exited());
  child->stop();
  REQUIRE(child->exited());
  CHECK(child->exited()->signal == SIGTERM);
  CHECK(soon([&] { return gone(grandchild); }));
}

TEST_CASE("a child that ignores SIGTERM is killed after the grace") {
  const auto child = shell("trap '' TERM; echo $$; while :; do sleep 0.1; done");
  const auto pid = pid_in(*child);
  const auto before = std::chrono::steady_clock::now();
  child->stop();
  const auto took = std::chrono::steady_clock::now() - before;
  CHECK(took >= 3s);
  CHECK(took < 10s);
  CHECK(child->exited()->signal == SIGKILL);
  CHECK(gone(pid));
}

TEST_CASE("a child does not outlive a host that is killed") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t host = ::fork();
  if (host == 0) {
    auto child = backend::managed_process::start("/bin/sleep", {"1000"});
    const auto pid = static_cast<pid_t>(child ? (*child)->pid() : -1);
    static_cast<void>(::write(ends[1], &pid, sizeof pid));
    ::pause();
    ::_exit(0);
  }
  pid_t child = -1;
  REQUIRE(::read(ends[0], &child, sizeof child) == sizeof child);
  REQUIRE(child > 0);
  CHECK_FALSE(gone(child));
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  CHECK(soon([&] { return gone(child); }));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a program that cannot be started is named") {
  const auto child = backend::managed_process::start("/nowhere/server", {});
  REQUIRE_FALSE(child);
  CHECK(child.error().code == errc::backend_fault);
  CHECK(child.error().message == "cannot start /nowhere/server: No such file or directory");
}

TEST_CASE("programs are found as a shell finds them") {
  CHECK(backend::find_program("sh").value_or("").ends_with("/sh"));
  CHECK(backend::find_program("/bin/sh").value_or("") == "/bin/sh");
  CHECK(backend::find_program("no-such-program-here").error().message ==
        "cannot find no-such-program-here on PATH");
  CHECK(backend::find_program("no-such-program-here").error().code == errc::not_found);
  CHECK(backend::find_program("/nowhere/x").error().message == "there is no program /nowhere/x");
  CHECK(backend::find_program("/etc/passwd").error().message == "/etc/passwd cannot be executed");
  CHECK_FALSE(backend::find_program(""));
}

TEST_CASE("a free port is free, one that is listened on is in use") {
  const auto port = backend::free_port();
  REQUIRE(port);
  CHECK_FALSE(backend::port_in_use(*port));
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(*port);
  REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(listener, 1) == 0);
  CHECK(backend::port_in_use(*port));
  ::close(listener);
}

TEST_CASE("the last lines of a log are short") {
  CHECK(backend::last_lines("a\nb\n\nc\n", 2) == "b | c");
  CHECK(backend::last_lines("only", 3) == "only");
  CHECK(backend::last_lines("", 3).empty());
  CHECK(backend::last_lines(std::string(1000, 'x'), 3).size() == 400);
}
