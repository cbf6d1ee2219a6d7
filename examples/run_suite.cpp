// A suite, run from C++ as `evalcore run` does it.
//
//   run_suite SUITE.jsonl SCRIPT.jsonl OUT
//
// leaves run.db, rows.jsonl and summary.json in the folder OUT and prints the score. Killed and run again it
// goes on where it was; run again after its end it asks nothing. The answers come from a script; a model in
// this process takes backend::open_embedded, a server backend::connect_openai_url, and the rest stays.
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include <evalcore/backend/scripted.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/run/prepare.hpp>
#include <evalcore/run/run_files.hpp>
#include <evalcore/run/runner.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/run/summary.hpp>

using namespace evalcore;

namespace {

/// What can go wrong in use comes back as an error, never as an exception.
result<run::summary> run_suite(const std::string& path, const std::string& script, const std::string& out) {
  // Every line, scorer and target is checked before anything is sent.
  auto suite = run::suite::open(path);
  if (!suite) return std::move(suite).error();
  if (auto checked = run::check_items(*suite, suite->size()); !checked) return checked.error();

  // The store is looked at before the backend is started, which may take minutes, and made after that.
  auto files = run::run_files::look(run::outputs::in(out), "");
  if (!files) return std::move(files).error();
  net::loop loop;  // The one I/O thread. It must outlive the backend.
  auto backend = backend::open_scripted(loop, script);
  if (!backend) return std::move(backend).error();
  if (auto made = files->make(); !made) return made.error();

  run::run_options how;
  how.pool.max_in_flight = 4;
  how.request.defaults.temperature = 0;  // For items that do not say.
  how.labels.model_name = how.labels.model_path = (*backend)->about().model;
  const run::observer watch{
      .note = [](const std::string& sentence) { std::fprintf(stderr, "%s\n", sentence.c_str()); },
      .progressed = [](const run::progress&) {}};
  auto ran = run::run_suite(*suite, loop, {backend->get()}, files->own(), how, watch, {});
  if (!ran) return ran;
  if (auto written = run::write_outputs(*ran, how.labels, files->paths()); !written) return written.error();
  return ran;
}

/// A figure that is not there is unknown, and not 0.
std::string shown(std::optional<double> figure) {
  if (!figure) return "unknown";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", *figure);
  return text;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: run_suite SUITE.jsonl SCRIPT.jsonl OUT\n");
    return 2;
  }
  const auto ran = run_suite(arguments[1], arguments[2], arguments[3]);
  if (!ran) {
    std::fprintf(stderr, "run_suite: %s\n", ran.error().message.c_str());
    return 1;
  }
  // An item whose request failed is no answer: it is counted, and the score has bounds for what it might be.
  std::printf("%llu items: %llu sent, %llu reused, %llu errors\n",
              static_cast<unsigned long long>(ran->items), static_cast<unsigned long long>(ran->sent),
              static_cast<unsigned long long>(ran->reused), static_cast<unsigned long long>(ran->errors));
  std::printf("score %s, at most %s\n", shown(ran->score()).c_str(), shown(ran->score_upper_bound()).c_str());
  return ran->errors == 0 ? 0 : 1;
}
