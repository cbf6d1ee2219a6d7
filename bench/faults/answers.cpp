#include "faults/answers.hpp"

#include <array>

namespace evalcore::faults {
namespace {

/// The characters of a text, so that a stream brings each in a delta of its own.
std::vector<std::string> pieces(std::string_view text) {
  std::vector<std::string> all;
  for (const char byte : text) {
    const bool continues = (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
    const bool escaped = !all.empty() && all.back().starts_with('\\');
    if (all.empty() || !(continues || escaped)) all.emplace_back();
    all.back() += byte;
  }
  return all;
}

std::vector<sse_event> chat_events(std::string_view text, std::string_view more) {
  const auto chunk = [](const std::string& delta, const std::string& finish) {
    return R"({"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":)" +
           delta + R"(,"finish_reason":)" + finish + "}]}";
  };
  std::vector<sse_event> all;
  all.push_back({"", chunk(R"({"role":"assistant","content":""})", "null")});
  for (const auto& piece : pieces(text))
    all.push_back({"", chunk(R"({"content":")" + piece + "\"}", "null")});
  all.push_back({"", chunk("{}", R"("stop")")});
  all.push_back({"", R"({"id":"c","object":"chat.completion.chunk","model":"m","choices":[],"usage":)"
                     R"({"prompt_tokens":3,"completion_tokens":5,"total_tokens":8)" +
                         std::string(more) + "}}"});
  all.push_back({"", "[DONE]"});
  return all;
}

std::vector<sse_event> message_events(std::string_view text, std::string_view more) {
  std::vector<sse_event> all;
  const auto add = [&](const std::string& type, const std::string& rest) {
    all.push_back({type, R"({"type":")" + type + "\"" + rest + "}"});
  };
  add("message_start",
      R"(,"message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],)"
      R"("stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}})");
  add("content_block_start", R"(,"index":0,"content_block":{"type":"text","text":""})");
  for (const auto& piece : pieces(text)) {
    add("content_block_delta", R"(,"index":0,"delta":{"type":"text_delta","text":")" + piece + "\"}");
  }
  add("content_block_stop", R"(,"index":0)");
  add("message_delta",
      R"(,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5)" +
          std::string(more) + "}");
  add("message_stop", "");
  return all;
}

std::string object(const form& how, std::string_view text, std::string_view more) {
  if (how.messages) {
    return R"({"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":")" +
           std::string(text) +
           R"("}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":5)" +
           std::string(more) + "}}";
  }
  return R"({"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":)"
         R"({"role":"assistant","content":")" +
         std::string(text) +
         R"("},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8)" +
         std::string(more) + "}}";
}

/// Ends of a line; two of them end an event.
std::string_view line_end(framing as) {
  return as == framing::crlf ? "\r\n" : as == framing::cr ? "\r" : "\n";
}

}  // namespace

std::vector<sse_event> events(const form& how, std::string_view text, std::string_view more) {
  return how.messages ? message_events(text, more) : chat_events(text, more);
}

std::string written(const std::vector<sse_event>& all, framing as) {
  const std::string end(line_end(as));
  std::string out = as == framing::byte_order_mark ? "\xEF\xBB\xBF" : "";
  for (const auto& one : all) {
    if (as == framing::commented) out += ": a comment" + end + "retry: 3000" + end + "id: 7" + end;
    if (!one.name.empty()) out += "event: " + one.name + end;
    std::string data = one.data;
    // Between two members of an object a line feed says nothing.
    const auto comma = data.find(',');
    if (as == framing::many_lines && comma != std::string::npos) data.insert(comma + 1, end + "data: ");
    out += "data: " + data + end + end;
  }
  if (as == framing::no_last_blank) out.resize(out.size() - end.size());
  return out;
}

std::string body(const form& how, std::string_view text, std::string_view more) {
  return how.streamed ? written(events(how, text, more)) : object(how, text, more);
}

std::string cut_body(const form& how) {
  const std::string all = body(how);
  const auto finish = all.find(how.messages ? R"("stop_reason":"end_turn")" : R"("finish_reason":"stop")");
  constexpr std::size_t step = 37;  // Odd, so that the runs cut at different places.
  return all.substr(0, 1 + how.number * step % (finish - 1));
}

std::string head(const form& how) {
  return std::string("HTTP/1.1 200 OK\r\nContent-Type: ") +
         (how.streamed ? "text/event-stream" : "application/json") + "\r\n";
}

std::string whole(const form& how, const std::string& content) {
  return head(how) + "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content;
}

std::string refusal(int status, const std::string& headers, const std::string& content) {
  return "HTTP/1.1 " + std::to_string(status) + " No\r\nContent-Type: application/json\r\n" + headers +
         "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content;
}

std::string error_object(std::string_view type, std::string_view message) {
  return R"({"type":"error","error":{"type":")" + std::string(type) + R"(","code":")" + std::string(type) +
         R"(","message":")" + std::string(message) + "\"}}";
}

test::script good(const form& how) { return {test::send(whole(how, body(how)))}; }

test::script models(const form& how) {
  const std::string list = R"({"object":"list","data":[{"id":"m","object":"model"}]})";
  const bool ends = how.number / 4 % 2 == 1;
  test::script acts{test::send(std::string("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n") +
                               (ends ? "Connection: close\r\n" : "") +
                               "Content-Length: " + std::to_string(list.size()) + "\r\n\r\n" + list)};
  if (ends) acts.push_back(test::close());
  return acts;
}

}  // namespace evalcore::faults
