#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loopback/fault_server.hpp"

namespace evalcore::faults {

/// How one run asks: which API, streamed or not, and a number that varies where and how the fault strikes.
struct form {
  bool messages = false;  ///< Anthropic's API; else OpenAI's chat completions.
  bool streamed = false;
  std::size_t number = 0;
};

/// The text of a good answer, with characters of one to four bytes.
inline constexpr std::string_view good_text = "H\u00e9llo \u20ac \U0001F600!";

struct sse_event {
  std::string name;  ///< Empty: it has none.
  std::string data;
};

/// How a stream is written down. A reader gets the same events from each.
enum class framing : std::uint8_t { plain, crlf, cr, byte_order_mark, many_lines, commented, no_last_blank };
inline constexpr std::size_t framings = 7;

/// The events of an answer whose text, as it stands within a JSON string, is `text`, and whose usage has
/// `more` as further members (beginning with a comma).
[[nodiscard]] std::vector<sse_event> events(const form& how, std::string_view text = good_text,
                                            std::string_view more = "");
[[nodiscard]] std::string written(const std::vector<sse_event>& all, framing as = framing::plain);
/// The same answer as the form wants it: one JSON object or a stream.
[[nodiscard]] std::string body(const form& how, std::string_view text = good_text,
                               std::string_view more = "");
/// The beginning of a good body: some text, and no end.
[[nodiscard]] std::string cut_body(const form& how);

/// `HTTP/1.1 200 OK` with the content type of the form, without the empty line.
[[nodiscard]] std::string head(const form& how);
/// An answer with its length.
[[nodiscard]] std::string whole(const form& how, const std::string& content);
[[nodiscard]] std::string refusal(int status, const std::string& headers, const std::string& content);
/// An error object that both APIs understand.
[[nodiscard]] std::string error_object(std::string_view type, std::string_view message);

[[nodiscard]] test::script good(const form& how);
/// The list of models, which a backend asks for when it connects; every other run ends the connection after
/// it, so that the next request needs a new one.
[[nodiscard]] test::script models(const form& how);

}  // namespace evalcore::faults
