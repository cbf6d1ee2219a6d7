// bench_client: keeps requests in flight at the mock, through evalcore or through what it is compared with.
//
//   bench_client PORT            for each line of standard input, one JSON object:
//     CLIENT PATH N SECONDS      requests, wall_s, cpu_s; CLIENT: evalcore, beast, epoll, libcurl, …
//     streams PATH N SECONDS     of N streams, once: held, paced, cpu_share
//     ttft PATH N SECONDS CORE   error_ms: of the first tokens' time; on CORE this program computes, -1:
//     nowhere
//   bench_client --body          the body that all send
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>

#include <evalcore/base/json.hpp>

#include "client/load.hpp"

namespace {

using client = std::function<figures(const load&)>;

const std::map<std::string, client> clients{{"evalcore", with_evalcore},
                                            {"beast", with_beast},
                                            {"epoll", with_epoll},
                                            {"libcurl", with_libcurl},
                                            {"libcurl_simdjson", with_libcurl_simdjson}};

std::string done(const std::string& line, std::uint16_t port) {
  std::istringstream words(line);
  std::string who;
  load what;
  what.port = port;
  if (!(words >> who >> what.path >> what.in_flight >> what.seconds)) give_up("cannot read: " + line);
  evalcore::json::writer out;
  out.begin_object();
  if (who == "ttft") {
    int core = -1;
    words >> core;
    out.key("error_ms").number(first_token_error_ms(what, core));
  } else if (who == "streams") {
    const auto seen = hold_streams(what);
    out.key("held").number(seen.held).key("paced").number(seen.paced);
    out.key("cpu_share").number(seen.cpu_share);
  } else {
    const auto found = clients.find(who);
    if (found == clients.end()) give_up("unknown client: " + who);
    const figures seen = found->second(what);
    out.key("requests").number(seen.requests).key("wall_s").number(seen.wall_s);
    out.key("cpu_s").number(seen.cpu_s);
  }
  out.end_object();
  return out.take();
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) give_up("want PORT, or --body");
  if (std::strcmp(words[1], "--body") == 0) {
    std::printf("%s\n", body_text().c_str());
    return 0;
  }
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const auto port = static_cast<std::uint16_t>(std::atoi(words[1]));
  for (std::string line; std::getline(std::cin, line);) {
    std::printf("%s\n", done(line, port).c_str());
    std::fflush(stdout);
  }
  return 0;
}
