#include <cstdio>
#include <exception>
#include <new>
#include <system_error>
#include <variant>

#include "arguments.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "interrupt.hpp"
#include "printable.hpp"

namespace {

template <class... Handlers>
struct overloaded : Handlers... {
  using Handlers::operator()...;
};

int run(int argc, char** argv) {
  using namespace evalcore;
  const auto chosen = cli::parse_arguments(argc, argv);
  if (const auto* over = std::get_if<cli::parsed_exit>(&chosen)) return over->code;

  const cli::interrupt interrupted;
  const auto status = std::visit(
      overloaded{
          [&](const cli::run_arguments& arguments) {
            return cli::run_command(arguments, interrupted.token());
          },
          [&](const cli::plan_arguments& arguments) {
            return cli::plan_command(arguments, interrupted.token());
          },
          [&](const cli::score_arguments& arguments) { return cli::score_command(arguments); },
          [&](const cli::merge_arguments& arguments) { return cli::merge_command(arguments); },
          [&](const cli::compare_arguments& arguments) { return cli::compare_command(arguments); },
          [&](const cli::report_arguments& arguments) { return cli::report_command(arguments); },
          [&](const cli::gate_arguments& arguments) {
            return cli::gate_command(arguments, interrupted.token());
          },
          [&](const cli::export_arguments& arguments) { return cli::export_command(arguments); },
          [&](const cli::show_arguments& arguments) {
            return cli::show_command(arguments, interrupted.token());
          },
          [&](const cli::power_arguments& arguments) { return cli::power_command(arguments); },
          [&](const cli::probe_arguments& arguments) {
            return cli::probe_command(arguments, interrupted.token());
          },
          [&](const cli::backends_arguments& arguments) { return cli::backends_command(arguments); },
          [](const cli::parsed_exit& over) { return result<int>(over.code); },
      },
      chosen);
  if (!status) {
    std::fprintf(stderr, "evalcore: %s\n", cli::printable(status.error().message).c_str());
    return cli::exit_status_of(status.error());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "evalcore: cannot write to standard output; what is in files is complete\n");
    return cli::exit_status::usage;
  }
  return *status;
}

}  // namespace

int main(int argc, char** argv) {
  using evalcore::cli::exit_status::system_refused;
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "evalcore: out of memory; what was committed to the store is kept\n");
    return system_refused;
  } catch (const std::system_error& failure) {
    std::fprintf(stderr, "evalcore: the system refuses another thread or file (%s)\n",
                 failure.code().message().c_str());
    return system_refused;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "evalcore: internal error: %s\n", failure.what());
  } catch (...) {
    std::fprintf(stderr, "evalcore: internal error\n");
  }
  return 70;  // EX_SOFTWARE: a bug in evalcore, apart from every documented status.
}
