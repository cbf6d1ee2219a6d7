#include "backend/chat_codec.hpp"

#include "backend/cannot_choose.hpp"
#include "backend/plain_completion.hpp"

namespace evalcore::backend {
namespace {

result<chat::reply> as_reply(result<chat::reply> whole) { return whole; }
result<chat::reply> as_reply(result<chat::completion_reply> whole) {
  if (!whole) return std::move(whole).error();
  return reply_of(*std::move(whole));
}

}  // namespace

result<wire::stream_progress> chat_events::feed(std::string_view piece) {
  return std::visit([&](auto& stream) { return stream.feed(piece); }, stream_);
}

result<chat::reply> chat_events::take() {
  return std::visit([](auto& stream) { return as_reply(stream.take()); }, stream_);
}

const char* chat_codec::path() const noexcept {
  if (messages_) return "/v1/messages";
  if (api_ == openai_api::completions) return "/v1/completions";
  return api_ == openai_api::chat ? "/v1/chat/completions" : "/v1/responses";
}

result<wire::encoded> chat_codec::encode(const chat::request& request, bool stream) const {
  if (!request.choices.empty()) return cannot_score_choices();
  if (messages_) return wire::encode_anthropic_messages(request, *ways_, *messages_, stream);
  if (api_ == openai_api::completions) {
    const auto asked = completion_of(request);
    if (!asked) return asked.error();
    return wire::encode_openai_completion(*asked, *ways_, stream);
  }
  return api_ == openai_api::chat ? wire::encode_openai_chat(request, *ways_, stream)
                                  : wire::encode_openai_responses(request, *ways_, stream);
}

std::string_view chat_codec::begun(const chat::request& request) const noexcept {
  if (!ways_->whole_repeats_begun || request.messages.empty()) return {};
  const auto& last = request.messages.back();
  return last.who == chat::role::assistant ? std::string_view(last.text) : std::string_view();
}

result<chat::reply> chat_codec::decode(std::string_view body, std::string_view begun) const {
  if (!messages_ && api_ == openai_api::completions) {
    return as_reply(wire::decode_openai_completion(body, *ways_));
  }
  auto reply = messages_                  ? wire::decode_anthropic_message(body, *ways_)
               : api_ == openai_api::chat ? wire::decode_openai_chat(body, *ways_)
                                          : wire::decode_openai_response(body, *ways_);
  if (reply && reply->text.starts_with(begun)) reply->text.erase(0, begun.size());
  return reply;
}

error chat_codec::classify(int status, std::string_view body) const {
  return messages_ ? wire::classify_anthropic_error(status, body, *ways_)
                   : wire::classify_openai_error(status, body, *ways_);
}

chat_events chat_codec::events() const {
  if (messages_) return chat_events(wire::anthropic_messages_stream(*ways_));
  if (api_ == openai_api::completions) return chat_events(wire::openai_completion_stream(*ways_));
  return api_ == openai_api::chat ? chat_events(wire::openai_chat_stream(*ways_))
                                  : chat_events(wire::openai_response_stream(*ways_));
}

}  // namespace evalcore::backend
