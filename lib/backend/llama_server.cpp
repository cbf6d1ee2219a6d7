#include <evalcore/backend/llama_server.hpp>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>
#include <utility>

#include <evalcore/base/hash.hpp>
#include <evalcore/wire/dialect.hpp>

#include "backend/http_chat.hpp"
#include "backend/managed_chat.hpp"
#include "backend/server_facts.hpp"

namespace evalcore::backend {
namespace {

using std::chrono::milliseconds;

constexpr const char* name = "llama-server";
constexpr auto poll_every = milliseconds(50);
constexpr auto loading_grace = milliseconds(100);
constexpr std::array own_flags = {"--model", "-m",         "--host", "--port",    "--parallel",      "-np",
                                  "-c",      "--ctx-size", "-t",     "--threads", "--slot-save-path"};

error interrupted() {
  return fail(errc::cancelled, stage::start, "interrupted while llama-server was starting");
}

result<void> check_options(const llama_server_options& how) {
  const auto wrong = [](std::string what) {
    return fail(errc::invalid_argument, stage::config, std::move(what));
  };
  if (how.slots == 0) return wrong("llama-server needs at least one slot");
  if (how.context_per_slot == 0) return wrong("llama-server needs a context of at least one token a slot");
  if (how.threads == 0) return wrong("llama-server needs at least one thread");
  for (const auto& argument : how.extra_args) {
    const auto flag = argument.substr(0, argument.find('='));
    if (std::ranges::find(own_flags, flag) != own_flags.end()) {
      return wrong(flag + " cannot be passed to llama-server: evalcore sets it itself");
    }
  }
  return {};
}

result<std::string> find_server(const std::string& program) {
  auto found = find_program(program);
  if (found) return found;
  auto why = found.error();
  why.message += "; install llama.cpp or name the program with --server-program PATH";
  return why;
}

result<std::uint16_t> choose_port(std::uint16_t asked) {
  if (asked == 0) return free_port();
  if (!port_in_use(asked)) return asked;
  return fail(errc::busy, stage::start,
              "port " + std::to_string(asked) + " is in use; name another one, or none to get a free one");
}

std::vector<std::string> arguments_of(const llama_server_options& how, std::uint16_t port,
                                      const std::string& folder) {
  std::vector<std::string> out = {
      "--model",    how.model,
      "--host",     "127.0.0.1",
      "--port",     std::to_string(port),
      "--parallel", std::to_string(how.slots),
      "--ctx-size", std::to_string(how.slots * how.context_per_slot),
      "--threads",  std::to_string(how.threads),
  };
  // The server appends file names to the path as it stands.
  if (!folder.empty()) out.insert(out.end(), {"--slot-save-path", folder + "/"});
  out.insert(out.end(), how.extra_args.begin(), how.extra_args.end());
  return out;
}

/// The model file's hash, computed beside the loading of the model; given up when `stop` or the object's end
/// comes first.
class file_hash {
 public:
  file_hash(std::string path, const std::stop_token& stop)
      : path_(std::move(path)),
        worker_([this](const std::stop_token& enough) { run(enough); }),
        forward_(stop, give_up{this}) {}

  result<std::string> wait() {
    worker_.join();
    return std::move(hex_);
  }

 private:
  struct give_up {
    file_hash* whose;
    void operator()() const { whose->worker_.request_stop(); }
  };

  void run(const std::stop_token& enough) {
    std::ifstream file(path_, std::ios::binary);
    std::string piece(std::size_t{1} << 20U, '\0');
    sha256 sum;
    while (file && !enough.stop_requested()) {
      file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
      sum.raw(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount())));
    }
    if (enough.stop_requested()) return;
    if (!file.eof()) {
      hex_ = fail(errc::storage, stage::start, "cannot read the model file " + path_);
      return;
    }
    hex_ = sum.hex();
  }

  std::string path_;
  result<std::string> hex_ = interrupted();
  std::jthread worker_;
  std::stop_callback<give_up> forward_;
};

/// True when `stop` came first.
bool sleep_for(milliseconds span, const std::stop_token& stop) {
  std::mutex unused;
  std::unique_lock lock(unused);
  std::condition_variable_any never;
  never.wait_for(lock, stop, span, [] { return false; });
  return stop.stop_requested();
}

result<void> wait_until_ready(server_link& link, const managed_process& child,
                              const llama_server_options& how, const std::stop_token& stop) {
  const auto last_moment = std::chrono::steady_clock::now() + how.ready_deadline;
  for (;;) {
    auto request = link.at().get(wire::find_dialect(name)->ready_path);
    request.deadlines.first_byte = request.deadlines.attempt = std::chrono::seconds(2);
    const auto answer = link.fetch_and_wait(std::move(request), stop);
    // First the child: what answers may be a stranger on the same port.
    if (const auto how_it_ended = child.exited()) return death_of(name, *how_it_ended, child);
    if (answer && answer->head.status == 200) return {};
    if (!answer && answer.error().code == errc::cancelled) return interrupted();
    if (std::chrono::steady_clock::now() >= last_moment) {
      const auto tail = last_lines(child.log(), 3);
      return fail(errc::timeout, stage::start,
                  "llama-server was not ready within " + std::to_string(how.ready_deadline.count()) + " s" +
                      (tail.empty() ? "" : "; last lines: " + tail));
    }
    if (sleep_for(poll_every, stop)) return interrupted();
  }
}

result<info> wait_and_describe(server_link& link, const managed_process& child,
                               const llama_server_options& how, const std::stop_token& stop) {
  file_hash hash(how.model, stop);
  if (auto ready = wait_until_ready(link, child, how, stop); !ready) return ready.error();
  auto request = link.at().get("/props");
  const auto props = link.fetch_and_wait(std::move(request), stop);
  if (!props) return props.error();
  info about;
  about.selector = name;
  about.dialect = name;
  // The file's name: where it lies says nothing about what it answers.
  about.model = std::filesystem::path(how.model).filename().string();
  about.slots = how.slots;
  about.context_per_slot = how.context_per_slot;
  about.identity = {{"selector", about.selector}, {"dialect", about.dialect}, {"model", about.model}};
  if (props->head.status == 200) {
    if (auto read = read_props(props->body, about); !read) return read.error();
  }
  auto sum = hash.wait();
  if (!sum) return sum.error();
  about.identity["model_file"] = *std::move(sum);
  return about;
}

/// The server says of a file that is no model only that it failed to load.
result<void> check_model(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return fail(errc::not_found, stage::start,
                "there is no model file " + path + "; name a GGUF file with --model");
  }
  constexpr std::string_view magic = "GGUF";
  std::array<char, magic.size()> begins{};
  std::ifstream(path, std::ios::binary).read(begins.data(), begins.size());
  if (std::string_view(begins.data(), begins.size()) == magic) return {};
  return fail(errc::invalid_argument, stage::start,
              path + " is not a GGUF model (it does not begin with \"GGUF\"); name one with --model");
}

}  // namespace

result<std::unique_ptr<backend>> start_llama_server(net::loop& owner, const llama_server_options& how,
                                                    std::stop_token stop) {
  if (auto sane = check_options(how); !sane) return sane.error();
  const auto program = find_server(how.program);
  if (!program) return program.error();
  if (auto model = check_model(how.model); !model) return model.error();
  const auto port = choose_port(how.port);
  if (!port) return port.error();
  private_folder folder;
  if (how.share_prefix) {
    auto made = private_folder::make();
    if (!made) return made.error();
    folder = *std::move(made);
  }
  auto at = read_endpoint("http://127.0.0.1:" + std::to_string(*port));
  if (!at) return at.error();

  auto started = managed_process::start(*program, arguments_of(how, *port, folder.path()));
  if (!started) return started.error();
  const std::shared_ptr<managed_process> child = *std::move(started);
  auto link = std::make_unique<server_link>(owner, *std::move(at));
  auto about = wait_and_describe(*link, *child, how, stop);
  if (!about) {
    child->stop(loading_grace);  // It has nothing to lose, and somebody waits.
    return about.error();
  }

  http_chat_options ways;
  ways.ways = wire::find_dialect(name);
  ways.deadlines = how.deadlines;
  ways.share_prefix = how.share_prefix ? ability::yes : ability::no;
  auto server = std::make_unique<http_chat>(std::move(link), ways, *std::move(about));
  return std::unique_ptr<backend>(
      std::make_unique<managed_chat>(owner, name, child, std::move(folder), std::move(server)));
}

}  // namespace evalcore::backend
