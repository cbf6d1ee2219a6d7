#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/backend/http_backend.hpp>
#include <evalcore/pool/pool.hpp>

#include "faults/answers.hpp"

namespace evalcore::faults {

struct attempt {
  pool::item_id id = 0;
  duration began{};  ///< Since the run began.
  duration took{};
  std::optional<error> why;  ///< Absent: it was answered.
};

struct ending {
  result<chat::reply> outcome;
  duration took{};  ///< Since the item's first attempt.
};

/// What the host saw.
struct record {
  std::vector<attempt> attempts;  ///< In the order in which they ended.
  std::map<pool::item_id, ending> ends;
  bool drained = false;
  duration deadline{};  ///< Of each item.
  std::uint64_t sent = 0;
  std::uint64_t ejections = 0;
  duration machine_late{};  ///< How late a thread that only slept woke meanwhile, at worst.
};

/// How a run asks; the figures are the product's defaults, made a tenth or less.
struct setup {
  setup();

  std::string url;
  form how;
  std::uint64_t items = 1;
  pool::options pool;
  net::deadlines deadlines;
  net::tls_options tls;
};

/// Of what is to end within a tenth of its deadline: long enough that a busy machine keeps to it.
inline constexpr std::chrono::milliseconds exact_deadline{1400};

/// A host program: a backend that has met its server, and a pool that asks it. Blocks; call from one thread.
class client {
 public:
  explicit client(setup how);
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  /// Why the server could not be met; run() must not be called then.
  [[nodiscard]] std::optional<error> refused() const;
  /// Asks for all items, numbered from 0; the prompt of item k is "item k.".
  [[nodiscard]] record run();

 private:
  setup how_;
  net::loop loop_;
  result<std::unique_ptr<backend::backend>> backend_;
};

}  // namespace evalcore::faults
