#include <evalcore/wire/sse.hpp>

#include <algorithm>

namespace evalcore::wire {

result<void> sse_parser::feed(std::string_view piece, const handler& deliver) {
  while (!piece.empty()) {
    if (after_cr_) {
      after_cr_ = false;
      if (piece.front() == '\n') {
        piece.remove_prefix(1);
        continue;
      }
    }
    const auto end = std::ranges::find_if(piece, [](char c) { return c == '\n' || c == '\r'; });
    const auto length = static_cast<std::size_t>(end - piece.begin());
    const std::string_view part = piece.substr(0, length);
    if (pending_.size() + length > line_limit_) {
      return fail(errc::bad_reply, stage::decode, "a line of the event stream exceeds the limit");
    }
    if (end == piece.end()) {
      pending_ += part;
      return {};
    }
    after_cr_ = *end == '\r';
    piece.remove_prefix(length + 1);
    if (pending_.empty()) {
      line(part, deliver);
    } else {
      pending_ += part;
      line(pending_, deliver);
      pending_.clear();
    }
    if (data_.size() > line_limit_) {
      return fail(errc::bad_reply, stage::decode, "an event of the stream exceeds the limit");
    }
  }
  return {};
}

bool sse_parser::finish(const handler& deliver) {
  if (!pending_.empty()) {
    line(pending_, deliver);
    pending_.clear();
  }
  const bool begun = has_data_;
  dispatch(deliver);
  return begun;
}

void sse_parser::line(std::string_view text, const handler& deliver) {
  if (at_start_) {
    at_start_ = false;
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  }
  if (text.empty()) {
    dispatch(deliver);
    return;
  }
  const std::size_t colon = text.find(':');
  if (colon == 0) {
    ++comments_;
    return;
  }
  const std::string_view field = text.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  const bool is_error = field == "error";
  if (field == "data" || is_error) {
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  }
  if (is_error) {
    type_ = field;
  } else if (field == "event") {
    type_ = value;
  }
}

void sse_parser::dispatch(const handler& deliver) {
  if (has_data_) deliver(sse_event{type_, data_});
  type_.clear();
  data_.clear();
  has_data_ = false;
}

}  // namespace evalcore::wire
