#include <evalcore/wire/sse.hpp>

#include <algorithm>
#include <optional>

namespace evalcore::wire {
namespace {

/// Gives the ends of a piece's lines one after the other.
class line_ends {
 public:
  explicit line_ends(std::string_view piece) : piece_(piece) {}

  /// Of the line that begins at `from`; the size of the piece if it does not end there.
  std::size_t after(std::size_t from) {
    // Looked for once, however many carriage returns come before it.
    if (!feed_ || *feed_ < from) feed_ = std::min(piece_.find('\n', from), piece_.size());
    return std::min(piece_.substr(0, *feed_).find('\r', from), *feed_);
  }

 private:
  std::string_view piece_;
  std::optional<std::size_t> feed_;  ///< The next line feed, or the piece's size.
};

}  // namespace

result<void> sse_parser::feed(std::string_view piece, const handler& deliver) {
  if (piece.empty()) return {};
  std::size_t at = after_cr_ && piece.front() == '\n' ? 1 : 0;
  after_cr_ = false;
  line_ends ends(piece);
  while (at < piece.size()) {
    const std::size_t end = ends.after(at);
    const std::string_view part = piece.substr(at, end - at);
    if (pending_.size() + part.size() > line_limit_) {
      return fail(errc::bad_reply, stage::decode, "a line of the event stream exceeds the limit");
    }
    if (end == piece.size()) {
      pending_.append(part);
      return {};
    }
    at = end + 1;
    if (piece[end] == '\r') {
      after_cr_ = at == piece.size();
      if (piece.substr(at).starts_with('\n')) ++at;
    }
    if (pending_.empty()) {
      line(part, deliver);
    } else {
      pending_.append(part);
      line(pending_.view(), deliver);
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
    line(pending_.view(), deliver);
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
