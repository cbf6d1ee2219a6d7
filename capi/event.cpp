#include "event.hpp"

namespace evalcore::capi {

pool_event failed_event(std::int32_t kind, const error& why) {
  auto made = std::make_unique<evc_event>(kind);
  made->failure = borrowed_error(why);
  return made;
}

}  // namespace evalcore::capi

namespace capi = evalcore::capi;

int32_t evc_event_kind(const evc_event* event) EVC_NOEXCEPT {
  return capi::look_at(event, std::int32_t{0}, [](auto& e) { return e.kind; });
}
uint64_t evc_event_ticket(const evc_event* event) EVC_NOEXCEPT {
  return capi::look_at(event, std::uint64_t{0}, [](auto& e) { return e.ticket; });
}
uint64_t evc_event_tag(const evc_event* event) EVC_NOEXCEPT {
  return capi::look_at(event, std::uint64_t{0}, [](auto& e) { return e.tag; });
}
evc_str evc_event_text(const evc_event* event) EVC_NOEXCEPT {
  return capi::look_at(event, evc_str{}, [](auto& e) { return capi::view(e.text); });
}
evc_str evc_event_json(const evc_event* event) EVC_NOEXCEPT {
  return capi::look_at(event, evc_str{}, [](auto& e) { return capi::view(e.json); });
}
const evc_reply* evc_event_reply(const evc_event* event) EVC_NOEXCEPT {
  return capi::look_at(event, static_cast<const evc_reply*>(nullptr), [](auto& e) { return e.reply.get(); });
}
const evc_error* evc_event_error(const evc_event* event) EVC_NOEXCEPT {
  return capi::look_at(event, static_cast<const evc_error*>(nullptr),
                       [](auto& e) { return e.failure.get(); });
}
void evc_event_free(evc_event* event) EVC_NOEXCEPT { capi::free_handle(event); }
