#include <evalcore/base/errc.hpp>

namespace evalcore {

std::string_view name(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument:
      return "invalid_argument";
    case errc::unsupported:
      return "unsupported";
    case errc::not_found:
      return "not_found";
    case errc::busy:
      return "busy";
    case errc::closed:
      return "closed";
    case errc::storage:
      return "storage";
    case errc::bad_suite:
      return "bad_suite";
    case errc::no_memory:
      return "no_memory";
    case errc::internal:
      return "internal";
    case errc::rate_limited:
      return "rate_limited";
    case errc::overloaded:
      return "overloaded";
    case errc::transport:
      return "transport";
    case errc::timeout:
      return "timeout";
    case errc::truncated:
      return "truncated";
    case errc::bad_reply:
      return "bad_reply";
    case errc::backend_fault:
      return "backend_fault";
    case errc::invalid_request:
      return "invalid_request";
    case errc::context_overflow:
      return "context_overflow";
    case errc::auth:
      return "auth";
    case errc::quota:
      return "quota";
    case errc::refused_content:
      return "refused_content";
    case errc::cancelled:
      return "cancelled";
  }
  return "unknown";
}

std::string_view name(stage at) noexcept {
  switch (at) {
    case stage::none:
      return "none";
    case stage::config:
      return "config";
    case stage::suite:
      return "suite";
    case stage::start:
      return "start";
    case stage::connect:
      return "connect";
    case stage::send:
      return "send";
    case stage::first_byte:
      return "first_byte";
    case stage::body:
      return "body";
    case stage::decode:
      return "decode";
    case stage::store:
      return "store";
    case stage::score:
      return "score";
  }
  return "unknown";
}

}  // namespace evalcore
