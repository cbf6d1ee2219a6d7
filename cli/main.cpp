#include <cstdio>
#include <exception>
#include <variant>

#include "arguments.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "interrupt.hpp"

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
          [&](const cli::backends_arguments& arguments) { return cli::backends_command(arguments); },
          [](const cli::parsed_exit& over) { return result<int>(over.code); },
      },
      chosen);
  if (status) return *status;
  std::fprintf(stderr, "evalcore: %s\n", status.error().message.c_str());
  return cli::exit_status_of(status.error());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "evalcore: internal error: %s\n", failure.what());
  } catch (...) {
    std::fprintf(stderr, "evalcore: internal error\n");
  }
  return 70;  // EX_SOFTWARE: a bug in evalcore, apart from every documented status.
}
