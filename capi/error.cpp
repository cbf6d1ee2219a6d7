#include "error.hpp"

#include <array>
#include <new>

namespace evalcore::capi {
namespace {

constexpr std::array codes{
    errc::invalid_argument, errc::unsupported,      errc::not_found,  errc::busy,
    errc::closed,           errc::storage,          errc::bad_suite,  errc::no_memory,
    errc::internal,         errc::rate_limited,     errc::overloaded, errc::transport,
    errc::timeout,          errc::truncated,        errc::bad_reply,  errc::backend_fault,
    errc::invalid_request,  errc::context_overflow, errc::auth,       errc::quota,
    errc::refused_content,  errc::cancelled,
};

static_assert(status_of(errc::invalid_argument) == EVC_E_INVALID_ARGUMENT);
static_assert(status_of(errc::unsupported) == EVC_E_UNSUPPORTED);
static_assert(status_of(errc::not_found) == EVC_E_NOT_FOUND);
static_assert(status_of(errc::busy) == EVC_E_BUSY);
static_assert(status_of(errc::closed) == EVC_E_CLOSED);
static_assert(status_of(errc::storage) == EVC_E_STORAGE);
static_assert(status_of(errc::bad_suite) == EVC_E_BAD_SUITE);
static_assert(status_of(errc::no_memory) == EVC_E_NO_MEMORY);
static_assert(status_of(errc::internal) == EVC_E_INTERNAL);
static_assert(status_of(errc::rate_limited) == EVC_E_RATE_LIMITED);
static_assert(status_of(errc::overloaded) == EVC_E_OVERLOADED);
static_assert(status_of(errc::transport) == EVC_E_TRANSPORT);
static_assert(status_of(errc::timeout) == EVC_E_TIMEOUT);
static_assert(status_of(errc::truncated) == EVC_E_TRUNCATED);
static_assert(status_of(errc::bad_reply) == EVC_E_BAD_REPLY);
static_assert(status_of(errc::backend_fault) == EVC_E_BACKEND_FAULT);
static_assert(status_of(errc::invalid_request) == EVC_E_INVALID_REQUEST);
static_assert(status_of(errc::context_overflow) == EVC_E_CONTEXT_OVERFLOW);
static_assert(status_of(errc::auth) == EVC_E_AUTH);
static_assert(status_of(errc::quota) == EVC_E_QUOTA);
static_assert(status_of(errc::refused_content) == EVC_E_REFUSED_CONTENT);
static_assert(status_of(errc::cancelled) == EVC_E_CANCELLED);

}  // namespace

errc code_of(evc_status status) noexcept {
  for (const errc code : codes) {
    if (status_of(code) == status) return code;
  }
  return errc::backend_fault;
}

evc_status give(const error& what, evc_error** out) noexcept {
  if (out != nullptr) {
    *out = nullptr;
    try {
      *out = new evc_error(what);
    } catch (const std::bad_alloc&) {
      return EVC_E_NO_MEMORY;
    }
  }
  return status_of(what.code);
}

}  // namespace evalcore::capi

namespace capi = evalcore::capi;

const char* evc_status_name(evc_status status) EVC_NOEXCEPT {
  if (status == EVC_OK) return "ok";
  for (const evalcore::errc code : capi::codes) {
    if (capi::status_of(code) == status) return evalcore::name(code).data();  // A literal, and so terminated.
  }
  return "unknown";
}

evc_status evc_error_status(const evc_error* error) EVC_NOEXCEPT {
  return capi::look_at(error, evc_status{EVC_OK}, [](auto& e) { return capi::status_of(e.what.code); });
}

evc_str evc_error_message(const evc_error* error) EVC_NOEXCEPT {
  return capi::look_at(error, evc_str{}, [](auto& e) { return capi::view(e.what.message); });
}

evc_str evc_error_detail(const evc_error* error) EVC_NOEXCEPT {
  return capi::look_at(error, evc_str{}, [](auto& e) { return capi::view(e.what.detail); });
}

evc_str evc_error_stage(const evc_error* error) EVC_NOEXCEPT {
  return capi::look_at(error, evc_str{}, [](auto& e) {
    return e.what.at == evalcore::stage::none ? evc_str{} : capi::view(evalcore::name(e.what.at));
  });
}

evc_str evc_error_backend_words(const evc_error* error) EVC_NOEXCEPT {
  return capi::look_at(error, evc_str{}, [](auto& e) { return capi::view(e.what.backend_words); });
}

int32_t evc_error_is_retryable(const evc_error* error) EVC_NOEXCEPT {
  return capi::look_at(error, std::int32_t{0}, [](auto& e) {
    return e.what.should_retry.value_or(evalcore::retryable(e.what.code)) ? 1 : 0;
  });
}

int32_t evc_error_http_status(const evc_error* error) EVC_NOEXCEPT {
  return capi::look_at(error, std::int32_t{0}, [](auto& e) { return e.what.http_status.value_or(0); });
}

void evc_error_free(evc_error* error) EVC_NOEXCEPT {
  if (capi::is_live(error) && !error->borrowed) delete error;
}
