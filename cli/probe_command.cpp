#include <algorithm>
#include <cstdio>
#include <string>

#include <evalcore/backend/probe.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/net/loop.hpp>

#include "commands.hpp"
#include "exit_status.hpp"
#include "open_backend.hpp"
#include "printable.hpp"
#include "progress_line.hpp"

namespace evalcore::cli {
namespace {

void print_table(const backend::probe_report& of) {
  const auto& about = of.about;
  std::printf("%s", printable(about.selector).c_str());
  if (!about.dialect.empty()) std::printf(", dialect %s", about.dialect.c_str());
  std::printf(", model %s", printable(about.model).c_str());
  if (about.slots) std::printf(", %u at a time", *about.slots);
  if (about.context_per_slot) {
    std::printf(", context %llu tokens", static_cast<unsigned long long>(*about.context_per_slot));
  }
  std::printf("\n");
  std::size_t width = 0;
  for (const auto& one : of.findings) width = std::max(width, one.name.size());
  for (const auto& one : of.findings) {
    std::printf("%-*s  %-7s  %s\n", static_cast<int>(width), one.name.c_str(),
                std::string(name(one.answer)).c_str(), printable(one.evidence).c_str());
  }
  if (!of.looks_like.empty()) {
    std::printf("the server looks like %s, whose ways are known: use --dialect %s\n", of.looks_like.c_str(),
                of.looks_like.c_str());
  }
}

}  // namespace

result<int> probe_command(const probe_arguments& arguments, const std::stop_token& stop) {
  if (arguments.backend.selector.empty() && arguments.backend.base_urls.empty()) {
    return fail(
        errc::invalid_argument, stage::config,
        "name a URL or a backend: " + selector_names() + " (`evalcore backends` says what each needs)");
  }
  net::loop loop;
  auto reach = arguments.backend;
  // Whoever bounds each request bounds those that reach the server, too.
  const double bound_s = std::chrono::duration<double>(arguments.each).count();
  for (auto* seconds : {&reach.connect_timeout_s, &reach.first_byte_timeout_s, &reach.attempt_timeout_s}) {
    *seconds = *seconds > 0 ? std::min(*seconds, bound_s) : bound_s;
  }
  // Whoever probes wants to know how the server is now.
  auto backend = open_backend(loop, reach, {}, stop);
  if (!backend) return std::move(backend).error();
  backend::probe_options how;
  how.each = arguments.each;
  progress_line shown(arguments.quiet);
  if (!arguments.quiet) how.note = [&](const std::string& text) { shown.note(text); };
  auto report = backend::probe(loop, **backend, how, stop);
  backend->reset();
  if (!report) return std::move(report).error();
  shown.clear();
  if (arguments.json) {
    std::printf("%s\n", json::to_text(to_json(*report)).c_str());
  } else {
    print_table(*report);
  }
  if (report->alive) return exit_status::done;
  std::fprintf(stderr, "evalcore: %s gives no answers; `chat` says why\n",
               printable(report->about.selector).c_str());
  return exit_status::backend_unavailable;
}

}  // namespace evalcore::cli
