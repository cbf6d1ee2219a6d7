#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <evalcore/backend/process.hpp>

namespace evalcore::backend {
namespace {

constexpr std::size_t tail_bytes = 400;

bool is_program(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

/// Binds 127.0.0.1:port for a moment; the port it got, or nothing when it is taken.
std::optional<std::uint16_t> try_bind(std::uint16_t port) {
  const int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (number < 0) return std::nullopt;
  // A connection that lingers after its server ended does not make a port taken; a listener does.
  const int yes = 1;
  ::setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound = ::bind(number, generic, size) == 0 && ::getsockname(number, generic, &size) == 0;
  ::close(number);
  if (!bound) return std::nullopt;
  return ntohs(address.sin_port);
}

}  // namespace

std::string last_lines(std::string_view log, std::size_t lines) {
  std::vector<std::string_view> tail;
  while (!log.empty() && tail.size() < lines) {
    const auto cut = log.rfind('\n');
    const auto line = cut == std::string_view::npos ? log : log.substr(cut + 1);
    log = cut == std::string_view::npos ? std::string_view() : log.substr(0, cut);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) tail.push_back(line);
  }
  std::string out;
  for (auto line = tail.rbegin(); line != tail.rend(); ++line) {
    if (!out.empty()) out += " | ";
    out += *line;
  }
  return out.size() <= tail_bytes ? out : out.substr(out.size() - tail_bytes);
}

result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    std::error_code ignored;
    if (!std::filesystem::exists(name, ignored)) {
      return fail(errc::not_found, stage::start, "there is no program " + name);
    }
    if (!is_program(name)) return fail(errc::invalid_argument, stage::start, name + " cannot be executed");
    return name;
  }
  const char* list = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  std::string_view rest = list == nullptr ? "" : list;
  while (!name.empty() && !rest.empty()) {
    const auto folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    const auto candidate = std::filesystem::path(folder.empty() ? "." : folder) / name;
    if (is_program(candidate)) return candidate.string();
  }
  return fail(errc::not_found, stage::start, "cannot find " + name + " on PATH");
}

result<std::uint16_t> free_port() {
  if (const auto port = try_bind(0)) return *port;
  return fail(errc::transport, stage::start, "there is no free port at 127.0.0.1");
}

bool port_in_use(std::uint16_t port) { return !try_bind(port).has_value(); }

}  // namespace evalcore::backend
