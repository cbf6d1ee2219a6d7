#include "net/reply_parser.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include <evalcore/base/ascii.hpp>

namespace evalcore::net {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

constexpr int most_informational = 8;
/// Beast takes any three digits.
constexpr int least_status = 100;
constexpr std::string_view opening = "HTTP/1.";
constexpr std::size_t most_extension_bytes = 4096;
/// Beast asserts that five bytes are there when it comes back to a last chunk. The shortest rest of a
/// chunked body ("0", two line ends) has five, so waiting for them never waits for ever.
constexpr std::size_t least_chunk_bytes = 5;

/// One message. Beast checks the framing; this adds the limits that Beast lacks: it bounds single header
/// lines, not their sum or number, and neither trailers nor chunk extensions.
class message final : public http::basic_parser<false> {
 public:
  message(const http_limits& bounds, reply_events& to) : bounds_(bounds), to_(to) {
    constexpr std::size_t usual_headers = 12;
    head_.headers.reserve(usual_headers);
    eager(true);
    body_limit(bounds.body_bytes);
    header_limit(static_cast<std::uint32_t>(
        std::min<std::uint64_t>(bounds.header_bytes, std::numeric_limits<std::uint32_t>::max())));
  }

  [[nodiscard]] bool refused_for_encoding() const { return in_body_ && encoded_ && head_.status < 300; }
  [[nodiscard]] bool informational() const { return head_.status / 100 == 1; }
  [[nodiscard]] const http_head& head() const { return head_; }
  [[nodiscard]] std::uint64_t header_bytes() const { return header_bytes_; }
  [[nodiscard]] bool at_chunk_header() const { return in_body_ && chunked() && chunk_left_ == 0; }

 private:
  using text = boost::beast::string_view;

  void on_request_impl(http::verb, text, text, int, error_code&) override {}
  void on_response_impl(int code, text reason, int, error_code& failure) override {
    head_.status = code;
    count_header(reason.size(), failure);
    if (code < least_status) failure = http::error::bad_status;
  }
  void on_field_impl(http::field field, text name, text value, error_code& failure) override {
    count_header(name.size() + value.size(), failure);
    if (++header_count_ > bounds_.header_count) failure = http::error::header_limit;
    // Another coding would reach the caller undecoded.
    if (field == http::field::transfer_encoding && !ascii::equal_without_case(value, "chunked")) {
      failure = http::error::bad_transfer_encoding;
    }
    if (field == http::field::content_encoding && !value.empty() &&
        !ascii::equal_without_case(value, "identity")) {
      encoded_ = true;
    }
    if (!failure && !in_body_) head_.headers.emplace_back(std::string(name), std::string(value));
  }
  void on_header_impl(error_code& failure) override {
    in_body_ = true;
    if (informational()) return;
    // A refusal is told by its status, whatever its words; anything else would be lost in the bytes.
    if (encoded_ && head_.status < 300) {
      failure = http::error::bad_value;
      return;
    }
    to_.on_head(head_);
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(text body, error_code&) override {
    if (!body.empty() && !encoded_) to_.on_body(body);
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t size, text extensions, error_code& failure) override {
    chunk_left_ = size;
    if (extensions.size() > most_extension_bytes) failure = http::error::bad_chunk_extension;
  }
  std::size_t on_chunk_body_impl(std::uint64_t, text body, error_code& failure) override {
    chunk_left_ -= body.size();
    return on_body_impl(body, failure);
  }
  void on_finish_impl(error_code&) override {}

  void count_header(std::size_t bytes, error_code& failure) {
    header_bytes_ += bytes + 4;  // ": " and the line's end.
    if (header_bytes_ > bounds_.header_bytes) failure = http::error::header_limit;
  }

  const http_limits& bounds_;
  reply_events& to_;
  http_head head_;
  std::uint64_t header_bytes_ = 0;
  std::uint64_t header_count_ = 0;
  std::uint64_t chunk_left_ = 0;
  bool in_body_ = false;
  bool encoded_ = false;
};

}  // namespace

struct reply_parser::impl {
  impl(const http_limits& limits, reply_events& events) : bounds(limits), to(events) {
    current.emplace(bounds, to);
  }

  http_limits bounds;
  reply_events& to;
  std::optional<message> current;
  std::string carry;  ///< What the last piece left over: part of a line.
  int informational = 0;
  bool any_byte = false;
  bool surplus = false;

  [[nodiscard]] error refuse(const error_code& why) const {
    const stage at = current->is_header_done() ? stage::body : stage::first_byte;
    if (why == http::error::header_limit) {
      return fail(errc::bad_reply, at,
                  "the answer's headers exceed " + std::to_string(bounds.header_bytes) + " bytes or " +
                      std::to_string(bounds.header_count) + " lines");
    }
    if (why == http::error::body_limit) {
      return fail(errc::bad_reply, at,
                  "the answer's body exceeds " + std::to_string(bounds.body_bytes) + " bytes");
    }
    if (current->refused_for_encoding()) {
      return fail(errc::bad_reply, at,
                  "the answer is compressed, though it was asked for as it is; switch compression off in the "
                  "server or in the proxy before it");
    }
    return fail(errc::bad_reply, at, "the answer is not valid HTTP/1.1: " + why.message());
  }

  /// Whether more of `rest` can be read now.
  [[nodiscard]] bool readable(std::string_view rest) const {
    return rest.size() >= (current->at_chunk_header() ? least_chunk_bytes : 1);
  }

  result<void> parse(std::string_view& rest) {
    // Told at the first wrong byte: a server that speaks something else (TLS, say) sends few and waits.
    const bool before_status = current->head().status == 0;
    if (before_status && rest.substr(0, opening.size()) != opening.substr(0, rest.size())) {
      return refuse(http::error::bad_version);
    }
    while (!current->is_done() && readable(rest)) {
      error_code why;
      rest.remove_prefix(current->put(boost::asio::const_buffer(rest.data(), rest.size()), why));
      const bool more = why == http::error::need_more;
      if (why && !more) return refuse(why);
      if (current->is_done() && current->informational()) {
        if (current->head().status == 101 || ++informational > most_informational) {
          return fail(errc::bad_reply, stage::first_byte, "the server sent informational answers (1xx) only");
        }
        current.emplace(bounds, to);
        continue;
      }
      if (more) break;
    }
    // What is left over is part of one line; an endless one would grow without bound.
    if (!current->is_done() && current->header_bytes() + rest.size() > bounds.header_bytes) {
      return refuse(http::error::header_limit);
    }
    return {};
  }
};

reply_parser::reply_parser(const http_limits& bounds, reply_events& to)
    : impl_(std::make_unique<impl>(bounds, to)) {}
reply_parser::~reply_parser() = default;

result<void> reply_parser::feed(std::string_view bytes) {
  impl_->any_byte = impl_->any_byte || !bytes.empty();
  std::string joined;
  if (!impl_->carry.empty()) {
    joined = std::move(impl_->carry);
    joined += bytes;
    bytes = joined;
  }
  auto outcome = impl_->parse(bytes);
  if (impl_->current->is_done()) {
    impl_->surplus = impl_->surplus || !bytes.empty();
  } else {
    impl_->carry = bytes;
  }
  return outcome;
}

result<void> reply_parser::finish() {
  if (!impl_->any_byte) {
    return fail(errc::transport, stage::first_byte, "the server closed the connection without an answer");
  }
  if (!impl_->current->is_done() && impl_->current->got_some()) {
    error_code why;
    impl_->current->put_eof(why);
  }
  if (impl_->current->is_done()) return {};
  return fail(errc::truncated, impl_->current->is_header_done() ? stage::body : stage::first_byte,
              "the server closed the connection in the middle of its answer");
}

bool reply_parser::done() const noexcept { return impl_->current->is_done(); }

bool reply_parser::reusable() const noexcept {
  return done() && !impl_->surplus && impl_->current->keep_alive();
}

const http_head& reply_parser::head() const noexcept { return impl_->current->head(); }

}  // namespace evalcore::net
