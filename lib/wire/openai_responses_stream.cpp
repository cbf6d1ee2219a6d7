#include <array>

#include <evalcore/wire/openai_chat.hpp>
#include <evalcore/wire/openai_responses.hpp>
#include <evalcore/wire/sse.hpp>

#include "wire/event_feed.hpp"
#include "wire/openai_parts.hpp"
#include "wire/openai_responses_parts.hpp"

namespace evalcore::wire {
namespace {

error bad(const char* what) { return fail(errc::bad_reply, stage::decode, what); }

constexpr std::string_view prefix = "response.";
/// The states that an event of the same name announces.
constexpr std::array<std::string_view, 4> final_states{"completed", "incomplete", "failed", "cancelled"};

std::optional<std::string_view> final_state(std::string_view type) {
  if (!type.starts_with(prefix)) return std::nullopt;
  type.remove_prefix(prefix.size());
  for (const auto state : final_states) {
    if (state == type) return state;
  }
  return std::nullopt;
}

}  // namespace

struct openai_response_stream::state {
  explicit state(const dialect& which) : ways(&which) {}

  const dialect* ways;
  sse_parser events;
  json_reader reader;
  output_assembler output;
  std::optional<chat::reply> reply;  ///< Once the event of the end was there.
  std::optional<error> failure;

  [[nodiscard]] result<void> event(const sse_event& one, progress& made);
  [[nodiscard]] result<void> end(std::string_view announced, const element& root);
};

result<void> openai_response_stream::state::event(const sse_event& one, progress& made) {
  // The chat API's end, which some servers add.
  if (reply || one.data.starts_with("[DONE]")) return {};
  const auto root = reader.read(one.data);
  if (one.type == "error") {
    return root ? error_of(std::nullopt, *root) : classify_openai_error(200, one.data, *ways);
  }
  if (!root) return bad("an event of the stream is not JSON");
  if (auto inside = error_inside(*root)) return *std::move(inside);
  const std::string_view type = text_member(*root, "type").value_or(one.type);
  if (type == "error") return error_of(std::nullopt, *root);
  if (const auto announced = final_state(type)) return end(*announced, *root);
  if (type == "response.output_item.added" || type == "response.output_item.done") {
    return output.add_item(type, *root, made);
  }
  if (type == "response.content_part.added") return output.add_part(*root);
  return output.add_text(type, *root, made);
}

result<void> openai_response_stream::state::end(std::string_view announced, const element& root) {
  const auto response = member(root, "response");
  if (!response) return bad("the event of the stream's end holds no response");
  // A response that failed did so whatever else it says.
  const bool failed = announced == "failed" || announced == "cancelled";
  auto said = failed ? announced : text_member(*response, "status").value_or(announced);
  // Nor does it make an answer whole that the event says is not.
  if (announced == "incomplete" && said == "completed") said = announced;
  auto whole = read_response(*response, said, output.take(), *ways);
  if (!whole) return std::move(whole).error();
  reply = *std::move(whole);
  return {};
}

openai_response_stream::openai_response_stream(const dialect& ways) : state_(std::make_unique<state>(ways)) {}
openai_response_stream::~openai_response_stream() = default;
openai_response_stream::openai_response_stream(openai_response_stream&&) noexcept = default;
openai_response_stream& openai_response_stream::operator=(openai_response_stream&&) noexcept = default;

result<openai_response_stream::progress> openai_response_stream::feed(std::string_view piece) {
  return feed_events(*state_, piece);
}

std::uint64_t openai_response_stream::comments() const noexcept { return state_->events.comments(); }

result<chat::reply> openai_response_stream::take() {
  state& now = *state_;
  finish_events(now);
  if (now.failure) return *now.failure;
  if (!now.reply) {
    return fail(errc::truncated, stage::body,
                "the stream ended without response.completed: the connection was cut or the server died");
  }
  now.reply->damage = now.reader.damage();
  return *std::move(now.reply);
}

}  // namespace evalcore::wire
