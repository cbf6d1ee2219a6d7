// fetch [--ca-file FILE] [--server-name NAME] [--insecure] [--connect-ms N] [--times N] [--post BYTES] URL
//
// Gets the URL with the library's HTTP client, or posts so many bytes to it, one request after the other, and
// prints a line of JSON for each: {"code", "stage", "status", "bytes", "message"}; code is "ok" for a whole
// answer, whatever its status, and bytes is how long its body is.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <evalcore/base/json.hpp>
#include <evalcore/net/http_client.hpp>

using namespace evalcore;

namespace {

class last_word final : public net::http_sink {
 public:
  void on_head(const net::http_head& head) override { status_ = head.status; }
  void on_body(std::string_view piece, instant) override { bytes_ += piece.size(); }
  void on_end(result<void> outcome) override { line_.set_value(describe(outcome)); }

  std::string wait() { return line_.get_future().get(); }

 private:
  [[nodiscard]] std::string describe(const result<void>& outcome) const {
    json::writer line;
    line.begin_object();
    line.key("code").string(outcome ? "ok" : name(outcome.error().code));
    line.key("stage").string(outcome ? "" : name(outcome.error().at));
    line.key("status").number(std::int64_t{status_});
    line.key("bytes").number(std::uint64_t{bytes_});
    line.key("message").string(outcome ? "" : outcome.error().message);
    line.end_object();
    return line.take();
  }

  int status_ = 0;
  std::size_t bytes_ = 0;
  std::promise<std::string> line_;
};

struct arguments {
  net::tls_options tls;
  net::deadlines deadlines;
  int times = 1;
  std::size_t post = 0;
  std::string url;
};

arguments read(int count, char** words) {
  arguments asked;
  for (int at = 1; at < count; ++at) {
    const std::string_view word = words[at];
    const auto value = [&]() -> const char* { return at + 1 < count ? words[++at] : ""; };
    if (word == "--ca-file") {
      asked.tls.ca_file = value();
    } else if (word == "--server-name") {
      asked.tls.server_name = value();
    } else if (word == "--insecure") {
      asked.tls.verify = false;
    } else if (word == "--connect-ms") {
      asked.deadlines.connect = std::chrono::milliseconds(std::atoi(value()));
    } else if (word == "--times") {
      asked.times = std::atoi(value());
    } else if (word == "--post") {
      asked.post = std::strtoul(value(), nullptr, 10);
    } else {
      asked.url = word;
    }
  }
  return asked;
}

}  // namespace

int main(int count, char** words) {
  const arguments asked = read(count, words);
  auto origin = net::parse_url(asked.url);
  if (!origin) {
    std::fprintf(stderr, "fetch: %s\n", origin.error().message.c_str());
    return 2;
  }
  net::http_request request;
  request.method = asked.post == 0 ? "GET" : "POST";
  request.body.assign(asked.post, 'x');
  request.target = origin->path.empty() ? "/" : origin->path;
  request.deadlines = asked.deadlines;

  net::loop loop;
  std::unique_ptr<net::http_client> client;
  loop.run_and_wait(
      [&] { client = std::make_unique<net::http_client>(loop, *origin, net::http_limits{}, asked.tls); });
  for (int turn = 0; turn < asked.times; ++turn) {
    const auto sink = std::make_shared<last_word>();
    loop.run_and_wait([&] { client->start(request, sink); });
    std::printf("%s\n", sink->wait().c_str());
  }
  loop.run_and_wait([&] { client.reset(); });
  return 0;
}
