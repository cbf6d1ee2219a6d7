// bench_wire: what it costs to decode a chat answer, in processor time. Prints figures as JSON.
//
//   bench_wire STREAM REPLY   files with the bodies of a streamed and of a whole answer
//     ns_per_stream           of the stream: event framing, JSON, the assembled reply
//     ns_per_reply            of the whole answer
//     stream, reply           the texts that were read, for who compares them
//   bench_wire --lines
//     line_1mib_ns_per_byte   of a stream with one long event, through HTTP framing too, with the limits of
//     line_64mib_ns_per_byte  a line and of a body raised to 128 MiB
//
// Bytes arrive in pieces of 16 KiB, as from a socket.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <evalcore/base/json.hpp>
#include <evalcore/wire/openai_chat.hpp>

#include "net/reply_parser.hpp"

using namespace evalcore;

namespace {

constexpr std::size_t piece_bytes = std::size_t{16} * 1024;
constexpr std::uint64_t raised_limit = 128ULL * 1024 * 1024;
constexpr double long_enough_ns = 50e6;
constexpr int rounds = 5;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "bench_wire: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T good(result<T> outcome) {
  if (!outcome) give_up(outcome.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(outcome);
}

double processor_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// The time of one call, from as many as make it measurable.
template <class Work>
double cost_ns(Work work) {
  for (int times = 1;; times *= 2) {
    const double began = processor_ns();
    for (int i = 0; i < times; ++i) work();
    const double spent = processor_ns() - began;
    if (spent >= long_enough_ns) return spent / times;
  }
}

std::string file(const char* path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) give_up(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class Take>
void in_pieces(std::string_view bytes, Take take) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), piece_bytes))) {
    take(bytes.substr(0, piece_bytes));
  }
}

const wire::dialect& ways() { return *wire::find_dialect("generic"); }

chat::reply read_stream(std::string_view bytes) {
  wire::openai_chat_stream decoder(ways());
  in_pieces(bytes, [&](std::string_view piece) { good(decoder.feed(piece)); });
  return good(decoder.take());
}

/// Hands the body of an HTTP answer on to the decoder of its stream.
class streamed_body final : public net::reply_events {
 public:
  void on_head(const net::http_head& /*head*/) override {}
  void on_body(std::string_view piece) override { good(decoder_.feed(piece)); }
  chat::reply take() { return good(decoder_.take()); }

 private:
  wire::openai_chat_stream decoder_{ways(), raised_limit};
};

/// The least of a few rounds: what disturbs a measurement only adds to it.
double line_ns_per_byte(std::size_t text_bytes) {
  const std::string event = R"(data: {"choices":[{"delta":{"content":")" + std::string(text_bytes, 'x') +
                            R"("},"finish_reason":"stop"}]})"
                            "\n\n";
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: " +
                             std::to_string(event.size()) + "\r\n\r\n" + event;
  net::http_limits bounds;
  bounds.body_bytes = raised_limit;
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < rounds; ++round) {
    least = std::min(least, cost_ns([&] {
                       streamed_body body;
                       net::reply_parser parser(bounds, body);
                       in_pieces(answer, [&](std::string_view piece) { good(parser.feed(piece)); });
                       if (body.take().text.size() != text_bytes) give_up("a part of the line is lost");
                     }));
  }
  return least / static_cast<double>(event.size());
}

void measure_lines(json::writer& out) {
  constexpr std::size_t mib = std::size_t{1024} * 1024;
  out.key("line_1mib_ns_per_byte").number(line_ns_per_byte(mib));
  out.key("line_64mib_ns_per_byte").number(line_ns_per_byte(64 * mib));
}

void measure_answers(const char* stream_file, const char* reply_file, json::writer& out) {
  const std::string stream = file(stream_file);
  const std::string reply = file(reply_file);
  out.key("ns_per_stream").number(cost_ns([&] { read_stream(stream); }));
  out.key("ns_per_reply").number(cost_ns([&] { good(wire::decode_openai_chat(reply, ways())); }));
  out.key("stream").string(read_stream(stream).text);
  out.key("reply").string(good(wire::decode_openai_chat(reply, ways())).text);
}

}  // namespace

int main(int count, char** words) {
  json::writer out;
  out.begin_object();
  if (count == 3) {
    measure_answers(words[1], words[2], out);
  } else if (count == 2 && std::string_view(words[1]) == "--lines") {
    measure_lines(out);
  } else {
    give_up("want STREAM REPLY, or --lines");
  }
  out.end_object();
  std::printf("%s\n", out.text().c_str());
  return 0;
}
