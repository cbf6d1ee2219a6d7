#include "loopback/hostile_answers.hpp"

#include <zlib.h>

#include <stdexcept>
#include <string_view>
#include <utility>

namespace evalcore::test {
namespace {

std::string with_length(const std::string& head, const std::string& body) {
  return "HTTP/1.1 " + head + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string json(const std::string& body) {
  return with_length("200 OK\r\nContent-Type: application/json", body);
}

/// A reply that would be a good one but for what takes the place of its usage or its text.
std::string chat(const std::string& text, const std::string& usage) {
  return R"({"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":)"
         R"({"role":"assistant","content":")" +
         text + R"("},"finish_reason":"stop"}],"usage":)" + usage + "}";
}

const std::string good_usage = R"({"prompt_tokens":1,"completion_tokens":1,"total_tokens":2})";
const std::string json_head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
const std::string stream_head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
const std::string delta =
    R"(data: {"id":"c","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]})"
    "\n\n";

/// What gzip makes of `bytes`; of a run of one letter about a thousandth.
std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16;
  if (deflateInit2(&stream, 9, Z_DEFLATED, gzip_window, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib");
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  std::string in = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int state = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (state != Z_STREAM_END) throw std::runtime_error("zlib");
  return out;
}

/// 100 MiB in about 100 KiB, by way of 1 MiB at a time: members of one gzip file may follow each other.
std::string gzip_bomb() {
  const std::string member = gzipped(std::string(1U << 20U, 'x'));
  std::string out;
  for (int i = 0; i < 100; ++i) out += member;
  return out;
}

std::string encoded(const std::string& coding, const std::string& body) {
  return with_length("200 OK\r\nContent-Type: application/json\r\nContent-Encoding: " + coding, body);
}

std::string many_headers(int count) {
  std::string out = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < count; ++i) out += "X-" + std::to_string(i) + ": y\r\n";
  return out + "Content-Length: 0\r\n\r\n";
}

std::string nested(char open, char close) { return std::string(200'000, open) + std::string(200'000, close); }

void add_floods(std::vector<hostile_answer>& to) {
  const std::string block(64 * 1024, 'x');
  to.push_back({"a megabyte of headers",
                false,
                {send("HTTP/1.1 200 OK\r\nX-Long: " + std::string(1U << 20U, 'x') + "\r\n\r\n")}});
  to.push_back({"5001 headers", false, {send(many_headers(5001))}});
  to.push_back({"endless headers", false, {send("HTTP/1.1 200 OK\r\n"), endless("X-Flood: y\r\n")}});
  to.push_back({"endless body", false, {send(json_head + "\r\n"), endless(block)}});
  to.push_back(
      {"endless chunks",
       false,
       {send(json_head + "Transfer-Encoding: chunked\r\n\r\n"), endless("10000\r\n" + block + "\r\n")}});
  to.push_back({"endless error page",
                false,
                {send("HTTP/1.1 500 Oops\r\n\r\n"), endless(block)},
                errc::backend_fault});
  to.push_back({"endless line of an event", true, {send(stream_head + "data: "), endless(block)}});
  to.push_back({"endless lines of an event", true, {send(stream_head), endless("data: " + block + "\n")}});
  to.push_back({"endless comments", true, {send(stream_head), endless(":" + block + "\n")}});
}

void add_encodings(std::vector<hostile_answer>& to) {
  const std::string bomb = gzip_bomb();
  to.push_back({"gzip bomb", false, {send(encoded("gzip", bomb))}});
  to.push_back({"gzip bomb in a bomb", false, {send(encoded("gzip, gzip", gzipped(bomb)))}});
  to.push_back({"gzip bomb as an error page",
                false,
                {send(with_length("503 Busy\r\nContent-Encoding: gzip", bomb))},
                errc::overloaded});
  to.push_back({"deflate", false, {send(encoded("deflate", "x\x9c"))}});
}

void add_texts(std::vector<hostile_answer>& to) {
  const auto reply = [&](std::string name, const std::string& body) {
    to.push_back({std::move(name), false, {send(json(body))}});
  };
  const auto stream = [&](std::string name, const std::string& event) {
    to.push_back({std::move(name), true, {send(stream_head + delta + "data: " + event + "\n\n"), close()}});
  };
  reply("200,000 arrays", nested('[', ']'));
  reply("200,000 arrays within a reply", chat("hi", nested('[', ']')));
  stream("200,000 arrays in an event", nested('[', ']'));
  reply("not a number", chat("hi", R"({"prompt_tokens":NaN})"));
  stream("not a number in an event", R"({"choices":[],"usage":{"prompt_tokens":NaN}})");
  reply("1e400", chat("hi", R"({"prompt_tokens":1e400})"));
  reply("bytes that are not UTF-8 around a text", chat("hi", good_usage) + "\xFF");
  const auto flagged = [&](std::string name, const std::string& body) {
    to.push_back({std::move(name), false, {send(json(body))}, std::nullopt});
  };
  flagged("bytes that are not UTF-8", chat("h\xFFi", good_usage));
  to.push_back(
      {"bytes that are not UTF-8 in an event",
       true,
       {send(stream_head +
             "data: {\"choices\":[{\"delta\":{\"content\":\"\xC0\"},\"finish_reason\":\"stop\"}]}\n\n"),
        close()},
       std::nullopt});
  flagged("a key twice", R"({"choices":[],)" + chat("hi", good_usage).substr(1));
  flagged("the text twice", chat(R"(hi","content":"ho)", good_usage));
  flagged("a key twice far inside", chat("hi", R"({"prompt_tokens":1,"x":[[{"y":1,"y":2}]]})"));
  flagged("half a surrogate pair", chat(R"(\ud800)", good_usage));
  reply("half a reply", chat("hi", good_usage).substr(0, 60));
  reply("empty", "");
  reply("an HTML page", "<!DOCTYPE html><html><body>Welcome to the hotel's network</body></html>");
  to.push_back(
      {"an HTML page as such",
       false,
       {send(with_length("200 OK\r\nContent-Type: text/html", "<html><body>Sign in</body></html>"))}});
  to.push_back({"an HTML page for a stream",
                true,
                {send(with_length("200 OK\r\nContent-Type: text/html", "<html><body>Sign in</body></html>"))},
                errc::bad_reply});
  to.push_back({"empty stream", true, {send(stream_head), close()}, errc::truncated});
  to.push_back({"a stream without its end", true, {send(stream_head + delta), close()}, errc::truncated});
}

void add_framing(std::vector<hostile_answer>& to) {
  const std::string good = chat("hi", good_usage);
  const auto framed = [&](const std::string& head) { return json_head + head + "\r\n\r\n"; };
  to.push_back({"shorter than its length",
                false,
                {send(framed("Content-Length: 100000") + good), close()},
                errc::truncated});
  to.push_back({"two lengths", false, {send(framed("Content-Length: 1\r\nContent-Length: 2") + good)}});
  to.push_back({"length and chunks",
                false,
                {send(framed("Content-Length: 5\r\nTransfer-Encoding: chunked") + "0\r\n\r\n")}});
  to.push_back(
      {"a chunk of negative size", false, {send(framed("Transfer-Encoding: chunked") + "-1\r\n\r\n")}});
  to.push_back({"a chunk beyond 64 bits",
                false,
                {send(framed("Transfer-Encoding: chunked") + "fffffffffffffffff\r\n")}});
  to.push_back({"reset after the headers",
                false,
                {send(framed("Content-Length: 100")), pause(std::chrono::milliseconds(30)), reset()},
                errc::transport});
  to.push_back({"a redirect to another origin",
                false,
                {send(with_length("307 Temporary Redirect\r\nLocation: http://127.0.0.2:1/collect", ""))},
                errc::invalid_request});
}

}  // namespace

std::vector<hostile_answer> hostile_answers() {
  std::vector<hostile_answer> all;
  add_floods(all);
  add_encodings(all);
  add_texts(all);
  add_framing(all);
  return all;
}

std::string models_answer() { return json(R"({"object":"list","data":[{"id":"m","object":"model"}]})"); }

}  // namespace evalcore::test
