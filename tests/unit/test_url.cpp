#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <evalcore/net/url.hpp>

using namespace evalcore;

TEST_CASE("a URL is cut into what a client needs") {
  struct row {
    std::string text;
    bool tls;
    std::string host;
    std::uint16_t port;
    std::string path;
    std::string query;
    std::string origin;
  };
  // The parts are those of Python 3.11's urllib.parse.urlsplit (hostname, port, path, query); ports that
  // are not given are those of RFC 9110, section 4.2.
  const std::vector<row> rows{
      {"http://127.0.0.1:8080", false, "127.0.0.1", 8080, "", "", "http://127.0.0.1:8080"},
      {"http://localhost", false, "localhost", 80, "", "", "http://localhost:80"},
      {"HTTPS://API.Example.COM/v1/", true, "api.example.com", 443, "/v1", "", "https://api.example.com:443"},
      {"https://h:1/a//b?x=1&y=/z/", true, "h", 1, "/a//b", "x=1&y=/z/", "https://h:1"},
      {"http://[::1]:65535/v1", false, "::1", 65535, "/v1", "", "http://[::1]:65535"},
      {"http://[FE80::A]", false, "fe80::a", 80, "", "", "http://[fe80::a]:80"},
      {"http://my_host-1.local:80///", false, "my_host-1.local", 80, "", "", "http://my_host-1.local:80"},
      {"http://h?q", false, "h", 80, "", "q", "http://h:80"},
  };
  for (const auto& expected : rows) {
    CAPTURE(expected.text);
    const auto got = net::parse_url(expected.text);
    REQUIRE(got);
    CHECK(got->tls == expected.tls);
    CHECK(got->host == expected.host);
    CHECK(got->port == expected.port);
    CHECK(got->path == expected.path);
    CHECK(got->query == expected.query);
    CHECK(got->origin() == expected.origin);
  }
}

TEST_CASE("what is not the URL of a server is refused") {
  for (const char* bad : {"",
                          "localhost:8080",
                          "ftp://h/",
                          "file:///etc/passwd",
                          "http:/h",
                          "http://",
                          "http:///v1",
                          "http://:80",
                          "http://h:",
                          "http://h:0",
                          "http://h:65536",
                          "http://h:-1",
                          "http://h:+1",
                          "http://h:8o",
                          "http://h:80:80",
                          "http://h/#top",
                          "http://h /",
                          "http://h\\@g/",
                          "http://h/a b",
                          "http://h/\n",
                          "http://h\r\nX: y/",
                          "http://[::1",
                          "http://[::1]8080",
                          "http://[]/",
                          "http://[1.2.3.4]/",
                          "http://[fe80::1%eth0]/",
                          "http://h%41/",
                          "http://b\xC3\xBC.example/",
                          "http://::1/",
                          "http://h,g/"}) {
    CAPTURE(bad);
    const auto got = net::parse_url(bad);
    REQUIRE_FALSE(got);
    CHECK(got.error().code == errc::invalid_argument);
  }
}

TEST_CASE("a refused URL is not repeated, since it may hold a secret") {
  for (const char* bad : {"http://user:hunter2@h/", "http://hunter2@h:99999", "hunter2", "http://h/#hunter2",
                          "http://h:hunter2/", "http://hunter2%/"}) {
    const auto got = net::parse_url(bad);
    REQUIRE_FALSE(got);
    CHECK(got.error().message.find("hunter2") == std::string::npos);
  }
}
