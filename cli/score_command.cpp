#include <cstdio>
#include <string>
#include <utility>

#include <evalcore/base/files.hpp>
#include <evalcore/run/score_replies.hpp>

#include "commands.hpp"
#include "exit_status.hpp"
#include "outputs.hpp"
#include "printable.hpp"

namespace evalcore::cli {

result<int> score_command(const score_arguments& arguments) {
  auto suite = run::suite::open(arguments.suite, arguments.answers);
  if (!suite) return std::move(suite).error();
  std::string verdicts;
  run::score_options how{.scorer = arguments.scorer, .limit = arguments.limit};
  if (!arguments.verdicts.empty()) {
    how.scored = [&](const run::item& one, const score::verdict& verdict) {
      verdicts += run::to_json(one, verdict) + '\n';
    };
  }
  const auto done = run::score_replies(*suite, arguments.replies, how);
  if (!done) return done.error();
  if (!arguments.verdicts.empty()) {
    if (auto written = write_file_atomically(arguments.verdicts, verdicts); !written)
      return std::move(written).error();
  }
  const auto& told = done->what;
  const auto number = [](std::uint64_t count) { return static_cast<unsigned long long>(count); };
  if (arguments.json) {
    std::fputs(run::to_json(told).c_str(), stdout);
  } else {
    std::printf("%s: %llu items, %llu with a reply, %llu unscored\n", printable(told.task).c_str(),
                number(told.items), number(told.answered), number(told.unscored));
    print_scores(told);
  }
  if (done->unknown > 0) {
    std::fprintf(stderr, "evalcore: %llu replies belong to no item of the suite\n", number(done->unknown));
  }
  if (told.not_run == 0) return exit_status::done;
  std::fprintf(stderr, "evalcore: %llu items have no reply in %s and count as missing\n",
               number(told.not_run), printable(arguments.replies).c_str());
  return exit_status::items_errored;
}

}  // namespace evalcore::cli
