#include <doctest/doctest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "backend/access.hpp"
#include "backend/endpoint.hpp"
#include "unit/temporary_folder.hpp"

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

using placement = backend::credentials::placement;

/// A variable of the environment that is gone with the object.
class variable {
 public:
  variable(const char* called, const char* value) : name(called) { ::setenv(called, value, 1); }
  ~variable() { ::unsetenv(name); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
  const char* name;
};

/// The head that a request gets from these credentials.
net::http_head signed_by(const backend::access& opened, std::string target = "/v1/models") {
  net::http_request request;
  request.target = std::move(target);
  request.headers = {{"Accept", "application/json"}};
  opened.sign(request);
  net::http_head sent;
  sent.headers = std::move(request.headers);
  sent.headers.emplace_back(":target", request.target);
  return sent;
}

std::shared_ptr<const backend::access> open(const backend::credentials& from,
                                            placement usual = placement::bearer) {
  auto made = backend::access::open(from, usual);
  REQUIRE_MESSAGE(made, (made ? std::string() : made.error().message));
  return *std::move(made);
}

error refused(const backend::credentials& from) {
  auto made = backend::access::open(from, placement::bearer);
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("SENTINEL") == std::string::npos);
  CHECK(made.error().backend_words.find("SENTINEL") == std::string::npos);
  return made.error();
}

backend::credentials from_file(const std::string& path) {
  backend::credentials from;
  from.key_file = path;
  return from;
}

backend::credentials from_command(const std::string& command) {
  backend::credentials from;
  from.key_command = command;
  return from;
}

std::string program(const test::temporary_folder& folder, const std::string& name, const std::string& lines) {
  auto path = folder.write(name, "#!/bin/sh\n" + lines);
  ::chmod(path.c_str(), 0700);
  return path;
}

}  // namespace

TEST_CASE("a key is trimmed, and one that would break the header is refused unseen") {
  const variable good("EVALCORE_TEST_KEY", " sk-abc\r\n");
  CHECK(backend::read_api_key(good.name).value_or("") == "sk-abc");
  const variable bad("EVALCORE_TEST_BAD_KEY", "sk-SENTINEL\r\nX-Evil: 1");
  backend::credentials from;
  from.key_env = bad.name;
  const auto why = refused(from);
  CHECK(why.code == errc::invalid_argument);
  CHECK(why.message.find(bad.name) != std::string::npos);
  CHECK(backend::read_api_key("EVALCORE_TEST_NO_KEY").error().message ==
        "the environment variable EVALCORE_TEST_NO_KEY is to hold the API key but is not set");
}

TEST_CASE("without a key there is no header for one, and an empty key is refused by its source") {
  const auto bare = signed_by(*open({}));
  CHECK(bare.headers.size() == 2);  // Accept, and what the helper adds.
  const variable empty("EVALCORE_TEST_KEY", " \r\n");
  backend::credentials from;
  from.key_env = empty.name;
  CHECK(refused(from).message ==
        "the environment variable EVALCORE_TEST_KEY is to hold the API key but is not set");
}

TEST_CASE("a key travels as a bearer token or as x-api-key, as the API has it or as it is told") {
  const variable key("EVALCORE_TEST_KEY", "sk-abc");
  backend::credentials from;
  from.key_env = key.name;
  CHECK(signed_by(*open(from)).header("authorization") == "Bearer sk-abc");
  const auto anthropic = signed_by(*open(from, placement::x_api_key));
  CHECK(anthropic.header("x-api-key") == "sk-abc");
  CHECK(anthropic.header("authorization").empty());
  from.where = placement::bearer;
  CHECK(signed_by(*open(from, placement::x_api_key)).header("authorization") == "Bearer sk-abc");
  from.key_env.clear();
  CHECK(signed_by(*open(from)).header("authorization").empty());
}

TEST_CASE("a key's file is read only if nobody else can read it") {
  const test::temporary_folder folder;
  const auto path = folder.write("key", "  sk-SENTINEL\r\n");
  for (const mode_t open_to_others : {0640U, 0604U, 0660U, 0644U}) {
    ::chmod(path.c_str(), open_to_others);
    const auto why = refused(from_file(path));
    CHECK(why.code == errc::invalid_argument);
    CHECK(why.message == "others can read the API key's file " + path + "; run `chmod 600` on it");
  }
  ::chmod(path.c_str(), 0600);
  CHECK(signed_by(*open(from_file(path))).header("authorization") == "Bearer sk-SENTINEL");
  const auto cut = folder.write("cut", "sk-SENTINEL\r\nX-Evil: 1\n");
  ::chmod(cut.c_str(), 0600);
  CHECK(refused(from_file(cut)).code == errc::invalid_argument);
  const auto empty = folder.write("empty", "\n");
  ::chmod(empty.c_str(), 0600);
  CHECK(refused(from_file(empty)).message == "the API key's file " + empty + " is empty");
  CHECK(refused(from_file(folder / "none")).code == errc::not_found);
  CHECK(refused(from_file(folder.path())).code == errc::invalid_argument);
}

TEST_CASE("a command is run without a shell and what it prints on standard output is the key") {
  const test::temporary_folder folder;
  const auto print = program(folder, "print", "echo a warning >&2; echo \" $1-$2-$# \"\n");
  // A shell would take the blanks together and run the second command.
  const auto opened = open(from_command(print + "  sk-SENTINEL   ;echo"));
  CHECK(signed_by(*opened).header("authorization") == "Bearer sk-SENTINEL-;echo-2");
  CHECK(opened->key_source() == "the API key of --api-key-command");
}

TEST_CASE("a command that fails says so and shows nothing of what it printed") {
  const test::temporary_folder folder;
  const auto failing = program(folder, "failing", "echo SENTINEL; echo SENTINEL >&2; exit 3\n");
  const auto why = refused(from_command(failing));
  CHECK(why.code == errc::auth);
  CHECK(why.message == "no API key from --api-key-command: " + failing + " failed (exit code 3)");
  const auto two_lines = program(folder, "lines", "echo SENTINEL; echo SENTINEL\n");
  CHECK(refused(from_command(two_lines)).code == errc::invalid_argument);
  CHECK(refused(from_command("no-such-program-at-all")).code == errc::not_found);
}

TEST_CASE("a key's command runs again after its lifetime, not before, and keeps the old key when it fails") {
  const test::temporary_folder folder;
  // The first run prints key 1, the second fails, the third prints key 3, and so on.
  const auto counting = program(folder, "counting",
                                "cd " + folder.path() +
                                    "; echo x >> runs; n=$(wc -l < runs)\n"
                                    "[ \"$n\" -eq 2 ] && exit 1\necho \"key-$n\"\n");
  auto from = from_command(counting);
  from.key_lifetime = 50ms;
  {
    const auto opened = open(from);
    CHECK(signed_by(*opened).header("authorization") == "Bearer key-1");
    const auto give_up = std::chrono::steady_clock::now() + 30s;
    std::string seen = "Bearer key-1";
    while (seen == "Bearer key-1" && std::chrono::steady_clock::now() < give_up) {
      seen = signed_by(*opened).header("authorization");
      std::this_thread::sleep_for(1ms);
    }
    CHECK(seen == "Bearer key-3");
    // A server may name a key that was in use when the request went out.
    CHECK(opened->without_secrets(fail(errc::auth, stage::body, "no: key-1")).message == "no: [hidden]");
  }
  from.key_lifetime = 1h;
  const auto runs = test::read_bytes(folder / "runs").size();
  CHECK(signed_by(*open(from)).header("authorization").starts_with("Bearer key-"));
  CHECK(test::read_bytes(folder / "runs").size() == runs + 2);
}

TEST_CASE("a command that hangs can be interrupted") {
  const test::temporary_folder folder;
  const auto hanging = program(folder, "hanging", "sleep 1000\n");
  std::stop_source stop;
  std::jthread interrupt([&] {
    std::this_thread::sleep_for(100ms);
    stop.request_stop();
  });
  const auto before = std::chrono::steady_clock::now();
  const auto made = backend::access::open(from_command(hanging), placement::bearer, stop.get_token());
  CHECK(made.error().code == errc::cancelled);
  CHECK(std::chrono::steady_clock::now() - before < 5s);
}

TEST_CASE("a command that closes its output and stays is ended and counts as failed") {
  const test::temporary_folder folder;
  const auto staying = program(folder, "staying", "echo SENTINEL; exec >/dev/null; exec sleep 1000\n");
  const auto before = std::chrono::steady_clock::now();
  CHECK(refused(from_command(staying)).message ==
        "no API key from --api-key-command: " + staying + " failed (signal 9)");
  CHECK(std::chrono::steady_clock::now() - before < 20s);
}

TEST_CASE("two sources of a key are one too many") {
  backend::credentials from;
  from.key_env = "A";
  from.key_file = "B";
  CHECK(refused(from).code == errc::invalid_argument);
}

TEST_CASE("headers take the place of evalcore's own, and the query is added to each target") {
  const variable token("EVALCORE_TEST_TOKEN", "t 1&2\n");
  backend::credentials from;
  from.headers = {{"accept", "text/plain"}, {"X-Org", "env:EVALCORE_TEST_TOKEN"}};
  from.query = {{"api-version", "2026-10-21"}, {"sig", "env:EVALCORE_TEST_TOKEN"}};
  const auto opened = open(from);
  const auto sent = signed_by(*opened);
  CHECK(sent.header("accept") == "text/plain");
  CHECK(sent.header("x-org") == "t 1&2");
  CHECK(sent.header(":target") == "/v1/models?api-version=2026-10-21&sig=t%201%262");
  CHECK(signed_by(*opened, "/slots/0?action=save").header(":target") ==
        "/slots/0?action=save&api-version=2026-10-21&sig=t%201%262");
}

TEST_CASE("a header that cannot be sent is refused without its value") {
  const auto with = [](const char* name, const char* value) {
    backend::credentials from;
    from.headers = {{name, value}};
    return from;
  };
  for (const char* name : {"Host", "content-length", "Connection", "Transfer-Encoding", "a b", "", "x:"}) {
    CHECK_MESSAGE(refused(with(name, "SENTINEL")).code == errc::invalid_argument, name);
  }
  CHECK(refused(with("X-Key", "SENTINEL\r\nX-Evil: 1")).code == errc::invalid_argument);
  CHECK(refused(with("X-Key", "env:EVALCORE_TEST_NOT_SET")).message ==
        "the environment variable of the header X-Key is not set");
}

TEST_CASE("every value is taken out of what a server says, the longer one first") {
  const variable key("EVALCORE_TEST_KEY", "sk-abc");
  backend::credentials from;
  from.key_env = key.name;
  from.headers = {{"X-Key", "sk-abc-and-more"}, {"X-Flag", "1"}};
  from.query = {{"sig", "a/b+c"}};
  auto failure = fail(errc::auth, stage::body, "1: sk-abc");
  failure.backend_words = "sk-abc-and-more, sk-abc, a%2Fb%2Bc, a/b+c";
  const auto clean = open(from)->without_secrets(failure);
  CHECK(clean.message == "1: [hidden]");
  CHECK(clean.backend_words == "[hidden], [hidden], [hidden], [hidden]");
}

TEST_CASE(
    "a token is hidden without the scheme or the name that it travels with, and as JSON and URLs escape it") {
  backend::credentials from;
  from.headers = {{"Authorization", "Bearer sk-LIVE/secret+0123456789"},
                  {"Cookie", "session=abcdefgh12; a=1"}};
  auto failure = fail(errc::auth, stage::body, "bad key sk-LIVE/secret+0123456789 in abcdefgh12");
  failure.backend_words = R"(sk-LIVE\/secret+0123456789 sk-LIVE%2Fsecret%2B0123456789)";
  const auto clean = open(from)->without_secrets(failure);
  CHECK(clean.message == "bad key [hidden] in [hidden]");
  CHECK(clean.backend_words == "[hidden] [hidden]");
}
