#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "net/request_text.hpp"

using namespace evalcore;

namespace {

net::http_request request() {
  net::http_request out;
  out.target = "/v1/x";
  out.headers = {{"Authorization", "Bearer hunter2"}};
  out.body = "{}";
  return out;
}

std::string origin(const std::string& text) { return net::headers_of(*net::parse_url(text)); }

}  // namespace

TEST_CASE("the request's bytes") {
  // RFC 9112, section 3, and RFC 9110, section 7.2: a Host without the scheme's own port.
  CHECK(*net::request_text(origin("https://api.example.com"), request()) ==
        "POST /v1/x HTTP/1.1\r\nHost: api.example.com\r\nAccept-Encoding: identity\r\nAuthorization: Bearer "
        "hunter2\r\n"
        "Content-Length: 2\r\nConnection: keep-alive\r\n\r\n{}");
  auto get = request();
  get.method = "GET";
  get.body.clear();
  get.headers.clear();
  CHECK(
      *net::request_text(origin("http://[::1]:81"), get) ==
      "GET /v1/x HTTP/1.1\r\nHost: [::1]:81\r\nAccept-Encoding: identity\r\nConnection: keep-alive\r\n\r\n");
  auto empty = get;
  empty.method = "POST";
  CHECK(*net::request_text(origin("http://[::1]"), empty) ==
        "POST /v1/x HTTP/1.1\r\nHost: [::1]\r\nAccept-Encoding: identity\r\nContent-Length: 0\r\nConnection: "
        "keep-alive\r\n\r\n");
}

TEST_CASE("nothing in a request can break its framing") {
  struct row {
    std::string target;
    std::pair<std::string, std::string> header;
  };
  const std::vector<row> rows{
      {"v1", {"A", "b"}},
      {"", {"A", "b"}},
      {"/a b", {"A", "b"}},
      {"/a\r\nX: y", {"A", "b"}},
      {"/v1", {"", "b"}},
      {"/v1", {"A b", "c"}},
      {"/v1", {"A:", "c"}},
      {"/v1", {"A\r\nB", "c"}},
      {"/v1", {"A", "hunter2\r\nB: c"}},
      {"/v1", {"A", "hunter2\n"}},
      {"/v1", {"A", std::string("hunter2\0", 8)}},
      {"/v1", {"Content-length", "7"}},
      {"/v1", {"transfer-encoding", "chunked"}},
      {"/v1", {"HOST", "other"}},
      {"/v1", {"Connection", "close"}},
  };
  for (const auto& bad : rows) {
    auto one = request();
    one.target = bad.target;
    one.headers.push_back(bad.header);
    const auto got = net::request_text(origin("http://h"), one);
    CAPTURE(bad.target);
    CAPTURE(bad.header.first);
    REQUIRE_FALSE(got);
    CHECK(got.error().code == errc::invalid_argument);
    CHECK(got.error().message.find("hunter2") == std::string::npos);
  }
}

TEST_CASE("methods whose answers are framed otherwise are refused") {
  for (const char* method : {"HEAD", "CONNECT", "post", "GET /x HTTP/1.1\r\nA:"}) {
    auto one = request();
    one.method = method;
    CHECK(net::request_text(origin("http://h"), one).error().code == errc::unsupported);
  }
}
