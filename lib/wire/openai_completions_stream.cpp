#include <algorithm>

#include <evalcore/wire/openai_chat.hpp>
#include <evalcore/wire/openai_completions.hpp>
#include <evalcore/wire/sse.hpp>

#include "wire/event_feed.hpp"
#include "wire/openai_completions_parts.hpp"
#include "wire/openai_parts.hpp"

namespace evalcore::wire {
namespace {

error bad(const char* what) { return fail(errc::bad_reply, stage::decode, what); }

}  // namespace

struct openai_completion_stream::state {
  state(const dialect& which, std::size_t prompts) : ways(&which), answered(prompts) {
    reply.completions.resize(prompts);
  }

  const dialect* ways;
  sse_parser events;
  completion_reader reader;
  chat::completion_reply reply;
  std::vector<bool> answered;
  std::optional<error> failure;
  bool done = false;  ///< [DONE] was there.

  [[nodiscard]] result<void> event(const sse_event& one, progress& made);
  [[nodiscard]] result<void> choice(const element& from, progress& made);
  [[nodiscard]] bool proved_end() const;
};

bool openai_completion_stream::state::proved_end() const {
  if (done && ways->done_proves_end) return true;
  return std::ranges::none_of(reply.completions,
                              [](const chat::completion& one) { return one.finish_raw.empty(); });
}

result<void> openai_completion_stream::state::event(const sse_event& one, progress& made) {
  if (done) return {};
  if (one.data.starts_with("[DONE]")) {
    done = true;
    return {};
  }
  const auto root = reader.read(one.data);
  if (one.type == "error") {
    return root ? error_of(std::nullopt, *root) : classify_openai_error(200, one.data, *ways);
  }
  if (!root) return bad("an event of the stream is not JSON");
  if (auto inside = error_inside(*root)) return *std::move(inside);
  const std::string_view model = text_member(*root, "model").value_or("");
  // A chunk of that name keeps the connection alive and says nothing.
  if (model == "keepalive") return {};
  if (!model.empty()) reply.model = model;
  if (answered.size() == 1 || !ways->usage_of_one) read_usage(*root, reply.usage);
  const auto choices = member(*root, "choices");
  simdjson::dom::array list;
  if (!choices || choices->get_array().get(list) != simdjson::SUCCESS) return {};
  for (const element from : list) {
    if (auto taken = choice(from, made); !taken) return taken;
  }
  return {};
}

result<void> openai_completion_stream::state::choice(const element& from, progress& made) {
  const auto index = count_member(from, "index").value_or(0);
  if (index >= answered.size()) return bad("the stream has a completion that no prompt asked for");
  answered[index] = true;
  auto& into = reply.completions[index];
  const std::size_t before = into.text.size();
  const auto brought = read_completion(from, into);
  if (!brought) return brought.error();
  if (*brought) made.content = true;
  if (index == 0) made.text += std::string_view(into.text).substr(before);
  return {};
}

openai_completion_stream::openai_completion_stream(const dialect& ways, std::size_t prompts)
    : state_(std::make_unique<state>(ways, prompts)) {}
openai_completion_stream::~openai_completion_stream() = default;
openai_completion_stream::openai_completion_stream(openai_completion_stream&&) noexcept = default;
openai_completion_stream& openai_completion_stream::operator=(openai_completion_stream&&) noexcept = default;

result<openai_completion_stream::progress> openai_completion_stream::feed(std::string_view piece) {
  return feed_events(*state_, piece);
}

std::uint64_t openai_completion_stream::comments() const noexcept { return state_->events.comments(); }

result<chat::completion_reply> openai_completion_stream::take() {
  state& now = *state_;
  finish_events(now);
  if (now.failure) return *now.failure;
  if (!now.proved_end()) {
    return fail(errc::truncated, stage::body,
                "the stream ended without a finish reason: the connection was cut or the server died");
  }
  if (auto complete = check_complete(now.answered); !complete) return std::move(complete).error();
  now.reply.damage = now.reader.damage();
  return std::move(now.reply);
}

}  // namespace evalcore::wire
