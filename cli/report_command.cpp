#include <cstdio>
#include <filesystem>

#include <evalcore/run/report.hpp>

#include "commands.hpp"
#include "exit_status.hpp"
#include "printable.hpp"
#include "run_store.hpp"

namespace evalcore::cli {

result<int> report_command(const report_arguments& arguments) {
  run::report_options how;
  for (const auto& named : arguments.runs) how.stores.push_back(store_in(named));
  how.suite = arguments.suite;
  how.answers = arguments.answers;
  how.path = arguments.out;
  if (how.path.empty()) {
    how.path = (std::filesystem::path(how.stores.front()).parent_path() / "report.html").string();
  }
  const auto written = run::write_report(how);
  if (!written) return written.error();
  std::printf("report: %s, %llu items, %.1f MB\n", printable(how.path).c_str(),
              static_cast<unsigned long long>(written->items), static_cast<double>(written->bytes) / 1e6);
  if (written->without_text > 0) {
    std::printf("the page is full: the last %llu items stand there without prompt and replies\n",
                static_cast<unsigned long long>(written->without_text));
  }
  return exit_status::done;
}

}  // namespace evalcore::cli
