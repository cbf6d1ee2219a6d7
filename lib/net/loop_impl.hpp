#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <thread>
#include <unordered_map>

#include <evalcore/net/loop.hpp>

#include "net/plain_reads.hpp"

namespace evalcore::net {

struct loop::impl {
  /// The default concurrency hint: with 1, and with those that leave locks out, Asio lets a post from the
  /// loop itself pass one made later by another thread.
  boost::asio::io_context context;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
  std::unique_ptr<plain_reads> plain = make_plain_reads(context);
  std::unordered_map<timer_id, std::unique_ptr<boost::asio::steady_timer>> timers;
  timer_id next_timer = 1;
  std::thread thread;
};

}  // namespace evalcore::net
