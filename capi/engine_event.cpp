#include "engine_event.hpp"

#include <utility>

#include <evalcore/base/json.hpp>
#include <evalcore/chat/reply.hpp>

namespace evalcore::capi {
namespace {

json::value number(std::uint64_t count) { return static_cast<std::int64_t>(count); }

event_ptr event_of_kind(std::int32_t kind) {
  auto made = std::make_unique<evc_engine_event>();
  made->kind = kind;
  return made;
}

json::value logprobs_of(const engine::piece& one) {
  json::array top;
  for (const auto& other : one.top) {
    top.push_back(json::object{{"token", std::int64_t{other.id}}, {"logprob", double{other.logprob}}});
  }
  return json::object{{"logprob", double{*one.logprob}}, {"top", std::move(top)}};
}

json::value json_of(const engine::answer& whole, const std::string& note) {
  json::object usage{
      {"input_tokens", number(whole.prompt_tokens)},
      {"output_tokens", number(whole.generation_tokens)},
      {"total_tokens", number(std::uint64_t{whole.prompt_tokens} + whole.generation_tokens)},
      {"cached_input_tokens", number(whole.cached_tokens)},
  };
  json::object told{{"finish_reason", chat::name(whole.finish)}, {"usage", std::move(usage)}};
  for (auto& member : metadata(whole)) told.push_back(std::move(member));
  if (!note.empty()) told.emplace_back("note", note);
  if (!whole.scores.empty()) {
    json::array scores;
    for (const auto& one : whole.scores) {
      scores.push_back(json::object{{"sum_logprob", one.sum_logprob}, {"is_greedy", one.is_greedy}});
    }
    told.emplace_back("scores", std::move(scores));
  }
  return told;
}

}  // namespace

event_ptr event_of(const engine::phase_event& progress) {
  auto made = event_of_kind(EVC_ENGINE_EVENT_PROGRESS);
  made->json = json::to_text(to_json(progress));
  return made;
}

event_ptr event_of(engine::piece&& one) {
  auto made = event_of_kind(EVC_ENGINE_EVENT_TOKEN);
  made->token = one.id;
  if (one.logprob) made->json = json::to_text(logprobs_of(one));
  made->text = std::move(one.text);
  return made;
}

event_ptr event_of(result<engine::answer>&& end, const std::string& note) {
  auto made = event_of_kind(EVC_ENGINE_EVENT_END);
  if (end) {
    made->json = json::to_text(json_of(*end, note));
    made->text = std::move(end->tail);
  } else {
    made->failure = borrowed_error(std::move(end).error());
  }
  return made;
}

}  // namespace evalcore::capi

namespace capi = evalcore::capi;

int32_t evc_engine_event_kind(const evc_engine_event* event) EVC_NOEXCEPT {
  return capi::look_at(event, std::int32_t{0}, [](auto& e) { return e.kind; });
}
uint64_t evc_engine_event_ticket(const evc_engine_event* event) EVC_NOEXCEPT {
  return capi::look_at(event, std::uint64_t{0}, [](auto& e) { return e.ticket; });
}
uint64_t evc_engine_event_tag(const evc_engine_event* event) EVC_NOEXCEPT {
  return capi::look_at(event, std::uint64_t{0}, [](auto& e) { return e.tag; });
}
int32_t evc_engine_event_token(const evc_engine_event* event) EVC_NOEXCEPT {
  return capi::look_at(event, std::int32_t{0}, [](auto& e) { return e.token; });
}
evc_str evc_engine_event_text(const evc_engine_event* event) EVC_NOEXCEPT {
  return capi::look_at(event, evc_str{}, [](auto& e) { return capi::view(e.text); });
}
evc_str evc_engine_event_json(const evc_engine_event* event) EVC_NOEXCEPT {
  return capi::look_at(event, evc_str{}, [](auto& e) { return capi::view(e.json); });
}
const evc_error* evc_engine_event_error(const evc_engine_event* event) EVC_NOEXCEPT {
  return capi::look_at(event, static_cast<const evc_error*>(nullptr),
                       [](auto& e) { return e.failure.get(); });
}
void evc_engine_event_free(evc_engine_event* event) EVC_NOEXCEPT { capi::free_handle(event); }
