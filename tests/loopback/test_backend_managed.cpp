#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <evalcore/backend/managed_server.hpp>
#include <evalcore/backend/process.hpp>
#include <evalcore/base/json.hpp>

#include "unit/backend_probe.hpp"
#include "unit/temporary_folder.hpp"

// The programs here are one stand-in under the names of the real ones: it writes down how it was started.

using namespace evalcore;
using namespace std::chrono_literals;

extern char** environ;

namespace {

namespace fs = std::filesystem;
using words = std::vector<std::string>;

/// A variable of the environment, as it was before when the object is gone.
class variable {
 public:
  variable(const char* called, const std::string& value) : name_(called) {
    if (const char* held = std::getenv(called)) before_ = held;
    ::setenv(called, value.c_str(), 1);
  }
  ~variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

json::value read_json(const std::string& path) {
  auto read = json::parse(test::read_bytes(path));
  REQUIRE_MESSAGE(read, path);
  return *std::move(read);
}

words files_under(const std::string& folder) {
  words found;
  for (const auto& one : fs::recursive_directory_iterator(folder)) found.push_back(one.path().string());
  return found;
}

/// A machine on which only the stand-in is installed, under the names given, and a user's home.
struct machine {
  explicit machine(const words& programs)
      : path("PATH", (fs::create_directories(folder / "bin"), folder / "bin") + ":/usr/bin:/bin"),
        home("HOME", (fs::create_directories(folder / "home/.omlx"), folder / "home")),
        record("EVALCORE_STAND_IN", folder.path()) {
    folder.write("home/.omlx/settings.json", "the user's own");
    folder.write("models/tiny/config.json", "{}");
    for (const auto& name : programs) {
      fs::create_symlink(EVALCORE_SOURCE_DIR "/tests/loopback/stand_in.py", folder / ("bin/" + name));
    }
  }

  backend::managed_options options(const char* dialect) const {
    backend::managed_options how;
    how.ways = wire::find_dialect(dialect);
    how.model = folder / "models/tiny";
    how.port = backend::free_port().value_or(0);
    how.ready_deadline = 20s;
    return how;
  }

  /// What the program was started with, its own path included.
  words arguments() const {
    words out;
    const auto started = read_json(folder / "started.json");
    for (const auto& one : *started.find("arguments")->if_array()) out.push_back(*one.if_string());
    return out;
  }
  std::string program(const std::string& name) const { return folder / ("bin/" + name); }
  pid_t grandchild() const {
    return static_cast<pid_t>(*read_json(folder / "started.json").find("child")->if_int());
  }

  test::temporary_folder folder;
  variable path;
  variable home;
  variable record;
};

std::unique_ptr<backend::backend> start_server(net::loop& loop, const backend::managed_options& how) {
  auto made = backend::start_managed_server(loop, how);
  REQUIRE_MESSAGE(made, (made ? std::string() : made.error().message));
  return *std::move(made);
}

/// The request's body as the stand-in was sent it.
json::value last_body(const machine& on) {
  std::ifstream log(on.folder / "requests.jsonl");
  std::string line;
  std::string last;
  while (std::getline(log, line)) last = line;
  auto read = json::parse(last);
  REQUIRE(read);
  return *read->find("body");
}

}  // namespace

TEST_CASE("posttrainllm is started as its own harness starts it") {
  const machine on({"posttrainllm", "posttrainllm-cli"});
  net::loop loop;
  auto how = on.options("posttrainllm");
  how.extra_args = {"--lora", "adapter.safetensors"};
  const auto server = start_server(loop, how);
  CHECK(on.arguments() == words{on.program("posttrainllm"), "serve", how.model, "--host", "127.0.0.1",
                                "--port", std::to_string(how.port), "--max-context", "4096", "--lora",
                                "adapter.safetensors"});
  CHECK(server->about().selector == "posttrainllm");
  CHECK(server->about().model == "tiny");
  CHECK(server->about().slots == 1U);
  CHECK(server->about().context_per_slot == 4096U);
  const auto reply = test::start(loop, *server, test::user_says("hi")).sink->wait();
  REQUIRE(reply);
  CHECK(reply->text == "Hello!");
  CHECK(*last_body(on).find("model")->if_string() == "posttrainllm");
  CHECK(server->about().sent_model == "posttrainllm");
  // It is known to drop them, so that it is not asked.
  const auto tools = test::ask<bool>(loop, [&](auto done) {
    server->check_tools({{.name = "get_weather", .description = "", .parameters = "{}"}}, std::move(done));
  });
  CHECK(tools.value_or(true) == false);
  CHECK(last_body(on).find("tools") == nullptr);
}

TEST_CASE("posttrainllm is found under its other name too") {
  const machine on({"posttrainllm-cli"});
  net::loop loop;
  const auto server = start_server(loop, on.options("posttrainllm"));
  CHECK(on.arguments().front() == on.program("posttrainllm-cli"));
}

TEST_CASE("any status below 500 means that posttrainllm is ready") {
  const machine on({"posttrainllm"});
  on.folder.write("answers.json", R"({"/v1/models":[[503,"{}"],[503,"{}"],[404,"not found"]]})");
  net::loop loop;
  const auto server = start_server(loop, on.options("posttrainllm"));
  const auto asked = test::read_bytes(on.folder / "requests.jsonl");
  CHECK(std::count(asked.begin(), asked.end(), '\n') == 3);
}

TEST_CASE("oMLX saves its settings in a private folder that is gone with it, not at the user's") {
  const machine on({"omlx"});
  const auto before = files_under(on.folder / "home");
  net::loop loop;
  auto how = on.options("omlx");
  how.extra_args = {"--paged-ssd-cache-dir", "/ssd"};
  auto server = start_server(loop, how);
  const auto line = on.arguments();
  REQUIRE(line.size() > 3);
  const auto folder = line[3];
  CHECK(line == words{on.program("omlx"), "serve", "--base-path", folder, "--model-dir", on.folder / "models",
                      "--host", "127.0.0.1", "--port", std::to_string(how.port), "--paged-ssd-cache-dir",
                      "/ssd"});
  CHECK(*read_json(on.folder / "started.json").find("folder_mode")->if_string() == "0o700");
  CHECK(fs::exists(folder + "/settings.json"));
  REQUIRE(test::start(loop, *server, test::user_says("hi")).sink->wait());
  CHECK(*last_body(on).find("model")->if_string() == "tiny");
  CHECK(server->about().sent_model == "tiny");
  server.reset();
  CHECK_FALSE(fs::exists(folder));
  CHECK(files_under(on.folder / "home") == before);
  CHECK(test::read_bytes(on.folder / "home/.omlx/settings.json") == "the user's own");
}

TEST_CASE("mlx_lm's server gets a bound on its prompt cache and only ever its own model's name") {
  const machine on({"mlx_lm.server"});
  net::loop loop;
  auto how = on.options("mlx-server");
  const auto server = start_server(loop, how);
  // 4 GiB.
  CHECK(on.arguments() == words{on.program("mlx_lm.server"), "--model", how.model, "--host", "127.0.0.1",
                                "--port", std::to_string(how.port), "--prompt-cache-bytes", "4294967296"});
  REQUIRE(test::start(loop, *server, test::user_says("hi")).sink->wait());
  CHECK(*last_body(on).find("model")->if_string() == "default_model");
  CHECK(server->about().model == "tiny");
  CHECK(server->about().sent_model == "default_model");
  CHECK(server->about().address == "http://127.0.0.1:" + std::to_string(how.port));
}

TEST_CASE("the user's own bound on mlx_lm's prompt cache takes the place of evalcore's") {
  const machine on({"mlx_lm.server"});
  net::loop loop;
  auto how = on.options("mlx-server");
  how.model = "mlx-community/tiny";  // A name at the hub, handed on as it is.
  how.extra_args = {"--prompt-cache-bytes=8G"};
  const auto server = start_server(loop, how);
  CHECK(on.arguments() == words{on.program("mlx_lm.server"), "--model", "mlx-community/tiny", "--host",
                                "127.0.0.1", "--port", std::to_string(how.port), "--prompt-cache-bytes=8G"});
  CHECK(server->about().model == "mlx-community/tiny");
  CHECK_FALSE(server->about().identity.contains("model_file"));
}

TEST_CASE("llama.cpp's server is told slots, the context of all of them and where to save them") {
  const machine on({"llama-server"});
  net::loop loop;
  auto how = on.options("llama-server");
  how.model = EVALCORE_TEST_DATA "/models/canned/canned-q8_0.gguf";
  how.slots = 3;
  how.context_per_slot = 1000;
  how.threads = 2;
  const auto server = start_server(loop, how);
  const auto line = on.arguments();
  CHECK(line == words{on.program("llama-server"), "--model", how.model, "--host", "127.0.0.1", "--port",
                      std::to_string(how.port), "--parallel", "3", "--ctx-size", "3000", "--threads", "2",
                      "--slot-save-path", line.back()});
  CHECK(line.back().ends_with("/"));
}

TEST_CASE("a server inherits the environment unchanged, and its own children end with it") {
  const machine on({"posttrainllm"});
  net::loop loop;
  std::map<std::string, std::string> ours;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string text = *one;
    ours[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  auto server = start_server(loop, on.options("posttrainllm"));
  std::map<std::string, std::string> theirs;
  const auto started = read_json(on.folder / "started.json");
  for (const auto& [name, value] : *started.find("environment")->if_object()) {
    // Python's interpreter sets this one itself where the locale is C.
    if (name != "LC_CTYPE") theirs[name] = *value.if_string();
  }
  ours.erase("LC_CTYPE");
  CHECK(theirs == ours);
  const auto child = on.grandchild();
  CHECK(::kill(child, 0) == 0);
  server.reset();
  // Reaped by init a moment after it was killed.
  for (int looks = 0; looks < 500 && ::kill(child, 0) == 0; ++looks) {
    const auto state = test::read_bytes("/proc/" + std::to_string(child) + "/stat");
    if (state.find(") Z ") != std::string::npos) break;
    ::usleep(10'000);
  }
  const auto state = test::read_bytes("/proc/" + std::to_string(child) + "/stat");
  CHECK((state.empty() || state.find(") Z ") != std::string::npos));
}

TEST_CASE("models are looked for before a program is started") {
  const machine on({"omlx", "posttrainllm", "mlx_lm.server"});
  net::loop loop;
  for (const char* dialect : {"omlx", "posttrainllm", "mlx-server"}) {
    auto how = on.options(dialect);
    how.model = "./nowhere";
    const auto made = backend::start_managed_server(loop, how);
    REQUIRE_FALSE(made);
    CHECK(made.error().code == errc::not_found);
    CHECK(made.error().message.find("./nowhere") != std::string::npos);
    CHECK(made.error().message.find("--model") != std::string::npos);
  }
  CHECK_FALSE(fs::exists(on.folder / "started.json"));
}

TEST_CASE("what evalcore sets itself cannot be passed on, cut short or not") {
  const machine on({});
  net::loop loop;
  const std::map<std::string, words> own = {
      {"posttrainllm", {"--host", "--port", "--port=1", "--max-context", "--max-con"}},
      {"omlx", {"--base-path", "--base", "--model-dir", "--host=0.0.0.0", "--port"}},
      {"mlx-server", {"--model", "--mod", "--host", "--por"}},
      {"llama-server",
       {"-m", "-np", "-c", "-t", "--model", "--parallel", "--ctx-size", "--threads", "--slot-save-path",
        "--port"}}};
  for (const auto& [dialect, flags] : own) {
    for (const auto& flag : flags) {
      auto how = on.options(dialect.c_str());
      how.extra_args = {flag};
      const auto made = backend::start_managed_server(loop, how);
      REQUIRE_FALSE(made);
      CHECK(made.error().code == errc::invalid_argument);
      CHECK(made.error().message ==
            flag.substr(0, flag.find('=')) + " cannot be passed to " + dialect + ": evalcore sets it itself");
    }
  }
}

TEST_CASE("a missing program is named with what to install") {
  const machine on({});
  net::loop loop;
  const std::map<std::string, std::string> mends = {
      {"posttrainllm", "cannot find posttrainllm on PATH; install PostTrainLLM or "},
      {"omlx", "cannot find omlx on PATH; install oMLX or "},
      {"mlx-server", "cannot find mlx_lm.server on PATH; install mlx-lm (pip install mlx-lm) or "}};
  for (const auto& [dialect, mend] : mends) {
    const auto made = backend::start_managed_server(loop, on.options(dialect.c_str()));
    REQUIRE_FALSE(made);
    CHECK(made.error().code == errc::not_found);
    CHECK(made.error().message == mend + "name the program with --server-program PATH");
  }
}

TEST_CASE("a server that dies later is blamed for what fails by it") {
  const machine on({"omlx"});
  net::loop loop;
  auto how = on.options("omlx");
  const auto server = start_server(loop, how);
  // The stand-in leads its group; the group's number stands in the child's record.
  const auto leader = ::getpgid(on.grandchild());
  ::kill(leader, SIGSTOP);  // So that the request is under way for sure.
  const auto one = test::start(loop, *server, test::user_says("hi"));
  ::kill(leader, SIGKILL);
  const auto outcome = one.sink->wait();
  REQUIRE_FALSE(outcome);
  // Whether the request went out before the death was seen is the system's choice.
  const std::string death = "omlx died (signal 9); last lines: the stand-in listens";
  const auto& why = outcome.error();
  CHECK(why.code == (why.server_died ? errc::backend_fault : errc::overloaded));
  CHECK(why.message == (why.server_died ? death : death + "; it is being started again"));
}

TEST_CASE("a model's folder is known by the bytes in it") {
  const machine on({"posttrainllm"});
  net::loop loop;
  const auto hash = [&] {
    return start_server(loop, on.options("posttrainllm"))->about().identity.at("model_file");
  };
  const auto first = hash();
  CHECK(first.size() == 64);
  CHECK(hash() == first);
  on.folder.write("models/tiny/config.json", "[]");
  CHECK(hash() != first);
}
