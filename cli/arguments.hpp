#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <evalcore/backend/credentials.hpp>
#include <evalcore/backend/http_backend.hpp>
#include <evalcore/engine/llama.hpp>
#include <evalcore/net/tls_options.hpp>
#include <evalcore/pool/options.hpp>
#include <evalcore/run/export.hpp>
#include <evalcore/run/prepare.hpp>
#include <evalcore/run/shard.hpp>
#include <evalcore/wire/anthropic_messages.hpp>

#include "comparison_arguments.hpp"

namespace evalcore::cli {

/// Which backend, and how to reach or start it.
struct backend_arguments {
  std::string selector;                ///< Empty: none was named.
  std::vector<std::string> base_urls;  ///< Of servers of the same model.
  std::string dialect;                 ///< Empty: the selector's own.
  backend::credentials opens;
  net::tls_options tls;
  std::optional<backend::openai_api> api;  ///< Absent: none was named.
  wire::anthropic_version version = wire::anthropic_version::v2023_06_01;
  std::string model;
  std::string program;  ///< Empty: the usual one.
  std::uint16_t port = 0;
  std::optional<std::uint32_t> slots;  ///< Absent: none were named.
  /// embedded: without named slots as many as fit in memory, up to this; absent: the usual number.
  std::optional<std::uint32_t> slots_to_fit;
  std::uint64_t context_per_slot = 4096;
  std::uint32_t threads = 1;
  bool share_prefix = true;
  std::vector<std::string> server_arguments;
  engine::evaluation evaluation = engine::evaluation::parity;
  double cache_memory_max_gb = 0;  ///< 0: none was named.
  bool keeps_prefixes = true;      ///< embedded: slots that fit leave memory for kept prefixes.
  std::string script;
  bool stream = true;
  std::chrono::seconds ready_timeout{120};
  double connect_timeout_s = 5;
  double first_byte_timeout_s = 600;
  double idle_timeout_s = 120;
  double attempt_timeout_s = 900;
};

/// What `run` and `plan` share.
struct suite_arguments {
  std::string suite;
  std::string answers;
  std::optional<std::size_t> limit;
  pool::options pool;
  bool concurrency_named = false;
  bool suite_order = false;
  run::request_options request;
  std::string price;  ///< A price file; empty: costs are not counted.
  bool json = false;
  bool quiet = false;
};

struct run_arguments {
  suite_arguments suite;
  backend_arguments backend;
  std::string out;  ///< Empty: out/<task>.
  std::string store;
  std::optional<std::string> cache;  ///< Another store besides the run's own; empty: that alone.
  bool cache_sampled = false;
  std::string task;
  std::string model_name;
  std::optional<std::int64_t> model_step;
  bool baseline = false;
  std::optional<run::shard> part;
  std::optional<double> max_cost_usd;
  std::string scorer;                      ///< In the place of the items' own; empty: those.
  std::optional<std::size_t> noise_floor;  ///< Items to ask twice.
  bool probe = false;                      ///< Ask the backend what it can do first.
  std::string as_given;  ///< The command line as JSON, for the store; without the values of secrets.
};

struct merge_arguments {
  std::string out;
  std::vector<std::string> files;  ///< Run files, or folders with one.
  std::string suite;               ///< Empty: where the runs found it.
  std::string answers;
  bool json = false;
  std::string as_given;  ///< As that of run_arguments.
};

struct score_arguments {
  std::string suite;
  std::string answers;
  std::string replies;   ///< A file of replies.
  std::string scorer;    ///< In the place of the items' own; empty: those.
  std::string verdicts;  ///< A file for them; empty: none.
  std::optional<std::size_t> limit;
  bool json = false;
};

struct plan_arguments {
  suite_arguments suite;
  backend_arguments backend;
  std::optional<std::uint64_t> expected_output;  ///< Tokens of an answer.
};

struct export_arguments {
  run::export_options what;  ///< Stores as they are named: run files, or folders with one.
  run::export_format format = run::export_format::rows;
  std::string out;  ///< A file or a folder; empty: standard output.
};

struct show_arguments {
  std::string run;  ///< A run file, or a folder with one.
  std::string id;   ///< Of an item.
  std::string suite;
  std::string answers;
  backend_arguments backend;  ///< None named: the one that the run was made with.
  bool curl = false;
  bool resend = false;
  bool json = false;
  bool quiet = false;
};

struct probe_arguments {
  backend_arguments backend;
  std::chrono::milliseconds each = std::chrono::seconds(60);
  bool json = false;
  bool quiet = false;
};

struct backends_arguments {
  bool json = false;
};

/// Parsing ended the program: help, version or a usage error, already printed.
struct parsed_exit {
  int code = 0;
};

using command =
    std::variant<run_arguments, plan_arguments, score_arguments, merge_arguments, compare_arguments,
                 gate_arguments, export_arguments, report_arguments, show_arguments, power_arguments,
                 probe_arguments, backends_arguments, parsed_exit>;

/// Writes over what is secret in `argv`, because every user of the machine can read a process's arguments.
[[nodiscard]] command parse_arguments(int argc, char** argv);

}  // namespace evalcore::cli
