#include <evalcore/backend/managed_server.hpp>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <utility>

#include <evalcore/backend/process.hpp>

#include "backend/http_chat.hpp"
#include "backend/managed_chat.hpp"
#include "backend/model_files.hpp"
#include "backend/server_facts.hpp"
#include "backend/start_line.hpp"

namespace evalcore::backend {
namespace {

using std::chrono::milliseconds;

constexpr auto poll_every = milliseconds(50);
constexpr auto loading_grace = milliseconds(100);

std::string name_of(const managed_options& how) { return std::string(how.ways->name); }

error interrupted(const managed_options& how) {
  return fail(errc::cancelled, stage::start, "interrupted while " + name_of(how) + " was starting");
}

result<std::string> find_server(const managed_options& how) {
  const auto& start = how.ways->start;
  auto found = find_program(how.program.empty() ? std::string(start.program) : how.program);
  if (found) return found;
  if (how.program.empty() && !start.other_program.empty()) {
    if (auto other = find_program(std::string(start.other_program))) return other;
  }
  auto why = found.error();
  why.message += "; " + std::string(start.install) + " or name the program with --server-program PATH";
  return why;
}

result<std::uint16_t> choose_port(std::uint16_t asked) {
  if (asked == 0) return free_port();
  if (!port_in_use(asked)) return asked;
  return fail(errc::busy, stage::start,
              "port " + std::to_string(asked) + " is in use; name another one, or none to get a free one");
}

result<private_folder> make_folder(const managed_options& how) {
  const auto& start = how.ways->start;
  if (uses(start, "{folder}") || (uses(start, "{slot_folder}") && how.share_prefix)) {
    return private_folder::make();
  }
  return private_folder();
}

/// True when `stop` came first.
bool sleep_for(milliseconds span, const std::stop_token& stop) {
  std::mutex unused;
  std::unique_lock lock(unused);
  std::condition_variable_any never;
  never.wait_for(lock, stop, span, [] { return false; });
  return stop.stop_requested();
}

result<void> wait_until_ready(server_link& link, const managed_process& child, const managed_options& how,
                              const std::stop_token& stop) {
  const auto last_moment = std::chrono::steady_clock::now() + how.ready_deadline;
  for (;;) {
    auto request = link.at().get(how.ways->ready.path);
    request.deadlines.first_byte = request.deadlines.attempt = std::chrono::seconds(2);
    const auto answer = link.fetch_and_wait(std::move(request), stop);
    // First the child: what answers may be a stranger on the same port.
    if (const auto how_it_ended = child.exited()) return death_of(name_of(how), *how_it_ended, child);
    if (answer && wire::says_ready(*how.ways, answer->head.status, answer->body)) return {};
    if (!answer && answer.error().code == errc::cancelled) return interrupted(how);
    if (std::chrono::steady_clock::now() >= last_moment) {
      const auto tail = last_lines(child.log(), 3);
      return fail(errc::timeout, stage::start,
                  name_of(how) + " was not ready within " + std::to_string(how.ready_deadline.count()) +
                      " s" + (tail.empty() ? "" : "; last lines: " + tail));
    }
    if (sleep_for(poll_every, stop)) return interrupted(how);
  }
}

/// The last part of a path, for where a model lies says nothing about what it answers; a name as it is.
std::string model_name(const std::string& model) {
  std::error_code ignored;
  if (!std::filesystem::exists(model, ignored)) return model;
  auto path = std::filesystem::absolute(model).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

info describe(const managed_options& how) {
  const auto& start = how.ways->start;
  info about;
  about.selector = how.ways->name;
  about.dialect = how.ways->name;
  about.model = model_name(how.model);
  about.sent_model = start.sent_model.empty() ? about.model : std::string(start.sent_model);
  if (uses(start, "{slots}")) about.slots = how.slots;
  if (start.one_at_a_time) about.slots = 1;
  if (uses(start, "{context}") || uses(start, "{total_context}")) {
    about.context_per_slot = how.context_per_slot;
  }
  about.identity = {{"selector", about.selector}, {"dialect", about.dialect}, {"model", about.model}};
  return about;
}

result<info> wait_and_describe(server_link& link, const managed_process& child, const managed_options& how,
                               const std::stop_token& stop) {
  model_hash hash(how.model, stop);
  if (auto ready = wait_until_ready(link, child, how, stop); !ready) return ready.error();
  auto about = describe(how);
  about.address = link.at().name();
  if (how.ways->reports_slots) {
    const auto props = link.fetch_and_wait(link.at().get("/props"), stop);
    if (!props) return props.error();
    if (props->head.status == 200) {
      if (auto read = read_props(props->body, about); !read) return read.error();
    }
  }
  auto sum = hash.wait();
  if (!sum) return sum.error();
  if (!sum->empty()) about.identity["model_file"] = *std::move(sum);
  return about;
}

result<std::shared_ptr<managed_process>> start_again(net::loop& owner, const managed_options& how,
                                                     const std::string& program,
                                                     const std::vector<std::string>& arguments,
                                                     const endpoint& at, const std::stop_token& stop) {
  auto started = managed_process::start(program, arguments);
  if (!started) return started.error();
  std::shared_ptr<managed_process> child = *std::move(started);
  server_link link(owner, at);
  if (auto ready = wait_until_ready(link, *child, how, stop); !ready) {
    child->stop(loading_grace);
    return ready.error();
  }
  return child;
}

}  // namespace

result<std::unique_ptr<backend>> start_managed_server(net::loop& owner, const managed_options& how,
                                                      std::stop_token stop) {
  if (how.ways == nullptr || how.ways->start.program.empty()) {
    return fail(errc::invalid_argument, stage::config, "evalcore does not know how to start this server");
  }
  if (auto sane = check_start(how); !sane) return sane.error();
  const auto program = find_server(how);
  if (!program) return program.error();
  if (auto model = check_model(how.ways->start.model, how.model); !model) return model.error();
  const auto port = choose_port(how.port);
  if (!port) return port.error();
  auto folder = make_folder(how);
  if (!folder) return folder.error();
  auto at = read_endpoint("http://127.0.0.1:" + std::to_string(*port));
  if (!at) return at.error();

  const auto arguments = start_arguments(how, *port, folder->path());
  auto started = managed_process::start(*program, arguments);
  if (!started) return started.error();
  const std::shared_ptr<managed_process> child = *std::move(started);
  const revive_function revive = [&owner, how, program = *program, arguments,
                                  at = *at](const std::stop_token& enough) {
    return start_again(owner, how, program, arguments, at, enough);
  };
  auto link = std::make_unique<server_link>(owner, *std::move(at));
  auto about = wait_and_describe(*link, *child, how, stop);
  if (!about) {
    child->stop(loading_grace);  // It has nothing to lose, and somebody waits.
    return about.error();
  }

  http_chat_options ways;
  ways.ways = how.ways;
  ways.deadlines = how.deadlines;
  ways.share_prefix = how.share_prefix ? ability::yes : ability::no;
  auto server = std::make_unique<http_chat>(std::move(link), ways, *std::move(about));
  return std::unique_ptr<backend>(std::make_unique<managed_chat>(owner, name_of(how), child, revive,
                                                                 *std::move(folder), std::move(server)));
}

}  // namespace evalcore::backend
