// bench_hostile: asks a chat server that answers in hostile ways, one process for each answer, and measures
// what it costs the client. Prints a table on standard error and the figures as JSON on standard output.
//
// cases         answers tried
// worst_rss_mb  growth of the client's peak resident memory, in 10^6 bytes
// worst_s       processor seconds of the client, user and system
// untyped       answers that ended neither in an error of the closed list nor in a reply that says what was
//               wrong with its bytes
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/processor_time.hpp>

#include "loopback/chat_client.hpp"
#include "loopback/hostile_answers.hpp"
#include "own_memory.hpp"

using namespace evalcore;

namespace {

struct cost {
  double rss_mb = 0;
  double cpu_s = 0;
};

struct ending {
  std::int32_t code = 0;  ///< Of the error; 0: a reply.
  bool flagged = false;   ///< The reply says what was wrong.
  cost taken;
};

template <class T>
bool pass(int pipe_end, const T& value) {
  return ::write(pipe_end, &value, sizeof(value)) == sizeof(value);
}

template <class T>
bool receive(int pipe_end, T& value) {
  return ::read(pipe_end, &value, sizeof(value)) == sizeof(value);
}

/// In a process of its own, until it is killed.
[[noreturn]] void serve(const test::hostile_answer& answer, int port_to) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const test::fault_server server({{test::send(test::models_answer())}, answer.acts});
  pass(port_to, server.port());
  for (;;) ::pause();
}

/// In a process of its own, so that each answer meets the same client.
[[noreturn]] void ask(const test::hostile_answer& answer, std::uint16_t port, int ending_to) {
  ending seen;
  {
    test::chat_client client("http://127.0.0.1:" + std::to_string(port), answer.streamed);
    const double rss_before = bench::memory_mb("VmHWM:");
    const double cpu_before = processor_seconds();
    const auto outcome = client.ask();
    seen.taken = {bench::memory_mb("VmHWM:") - rss_before, processor_seconds() - cpu_before};
    if (outcome) {
      seen.flagged = outcome->damage != chat::json_damage{};
    } else {
      seen.code = static_cast<std::int32_t>(outcome.error().code);
    }
  }
  std::_Exit(pass(ending_to, seen) ? 0 : 1);
}

template <class Work>
pid_t in_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) work();
  return child;
}

bool measure(const test::hostile_answer& answer, ending& seen) {
  int ports[2];
  int endings[2];
  if (::pipe2(ports, O_CLOEXEC) != 0 || ::pipe2(endings, O_CLOEXEC) != 0) return false;
  const pid_t server = in_child([&] { serve(answer, ports[1]); });
  std::uint16_t port = 0;
  const bool up = receive(ports[0], port);
  const pid_t client = in_child([&] { ask(answer, port, endings[1]); });
  ::close(endings[1]);
  const bool told = up && receive(endings[0], seen);
  ::waitpid(client, nullptr, 0);
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
  for (const int end : {ports[0], ports[1], endings[0]}) ::close(end);
  return told;
}

}  // namespace

int main() {
  const auto answers = test::hostile_answers();
  cost worst;
  std::int64_t untyped = 0;
  std::fprintf(stderr, "%-36s %-18s %8s %7s\n", "answer", "ends in", "RSS MB", "CPU s");
  for (const auto& answer : answers) {
    ending seen;
    if (!measure(answer, seen)) {
      std::fprintf(stderr, "%s: the client did not come back\n", answer.name.c_str());
      return 1;
    }
    const auto code = static_cast<errc>(seen.code);
    const bool typed = seen.code == 0 ? seen.flagged : code != errc::internal;
    untyped += typed ? 0 : 1;
    worst.rss_mb = std::max(worst.rss_mb, seen.taken.rss_mb);
    worst.cpu_s = std::max(worst.cpu_s, seen.taken.cpu_s);
    const std::string_view word = seen.code != 0 ? name(code) : seen.flagged ? "a flagged reply" : "a reply";
    std::fprintf(stderr, "%-36s %-18s %8.1f %7.3f\n", answer.name.c_str(), std::string(word).c_str(),
                 seen.taken.rss_mb, seen.taken.cpu_s);
  }
  json::writer out;
  out.begin_object();
  out.key("cases").number(static_cast<std::int64_t>(answers.size()));
  out.key("worst_rss_mb").number(worst.rss_mb);
  out.key("worst_s").number(worst.cpu_s);
  out.key("untyped").number(untyped);
  out.end_object();
  std::printf("%s\n", out.text().c_str());
  return 0;
}
