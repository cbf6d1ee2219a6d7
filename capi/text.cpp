#include "text.hpp"

#include "error.hpp"

namespace capi = evalcore::capi;

evc_str evc_text_view(const evc_text* text) EVC_NOEXCEPT {
  return capi::look_at(text, evc_str{}, [](const evc_text& t) { return capi::view(t.what); });
}
void evc_text_free(evc_text* text) EVC_NOEXCEPT { capi::free_handle(text); }
