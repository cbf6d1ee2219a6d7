// The floor: Boost.Beast and simdjson with nothing around them. No pool, no deadline, no retry.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <simdjson.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "load.hpp"

namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using error_code = boost::system::error_code;

class connection {
 public:
  connection(boost::asio::io_context& context, const load& what, simdjson::dom::parser& reader, meter& count)
      : socket_(context), reader_(reader), count_(count) {
    error_code why;
    socket_.connect({boost::asio::ip::address_v4::loopback(), what.port}, why);
    if (why) give_up("cannot connect: " + why.message());
    socket_.set_option(tcp::no_delay(true), why);
    request_.method(http::verb::post);
    request_.target(what.path + "/v1/chat/completions");
    request_.version(11);
    request_.set(http::field::host, "127.0.0.1:" + std::to_string(what.port));
    request_.set(http::field::accept_encoding, "identity");
    request_.set(http::field::accept, "application/json");
    request_.set(http::field::content_type, "application/json");
    request_.set(http::field::connection, "keep-alive");
    request_.body() = body_text();
    request_.prepare_payload();
  }

  void ask() {
    http::async_write(socket_, request_, [this](const error_code& why, std::size_t) {
      if (why) give_up("cannot write: " + why.message());
      reply_ = {};
      http::async_read(socket_, buffer_, reply_, [this](const error_code& broken, std::size_t) {
        if (broken) give_up("cannot read: " + broken.message());
        read();
        if (count_.answered()) ask();
      });
    });
  }

 private:
  void read() {
    simdjson::dom::element root;
    std::string_view text;
    std::string_view finish;
    if (reply_.result_int() != 200 || reader_.parse(reply_.body()).get(root) != simdjson::SUCCESS ||
        root.at_pointer("/choices/0/message/content").get(text) != simdjson::SUCCESS ||
        root.at_pointer("/choices/0/finish_reason").get(finish) != simdjson::SUCCESS || text.empty()) {
      give_up("an answer without text");
    }
  }

  tcp::socket socket_;
  simdjson::dom::parser& reader_;
  meter& count_;
  http::request<http::string_body> request_;
  http::response<http::string_body> reply_;
  boost::beast::flat_buffer buffer_;
};

}  // namespace

figures with_beast(const load& what) {
  boost::asio::io_context context(1);
  simdjson::dom::parser reader;
  meter count(what);
  std::vector<std::unique_ptr<connection>> connections;
  for (unsigned i = 0; i < what.in_flight; ++i) {
    connections.push_back(std::make_unique<connection>(context, what, reader, count));
  }
  for (const auto& one : connections) one->ask();
  context.run();
  return count.seen();
}
