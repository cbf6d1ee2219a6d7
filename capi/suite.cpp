#include "suite.hpp"

#include "guard.hpp"
#include "inputs.hpp"

namespace capi = evalcore::capi;
using evalcore::result;

evc_status evc_suite_open(evc_str path, evc_str answers, evc_suite** out, evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    const auto file = capi::read_text(path, "the path of the suite");
    if (!file) return file.error();
    const auto beside = capi::read_text(answers, "the path of the answers");
    if (!beside) return beside.error();
    auto opened = evalcore::run::suite::open(*file, *beside);
    if (!opened) return std::move(opened).error();
    *out = new evc_suite(*std::move(opened));
    return {};
  });
}

evc_status evc_suite_open_text(evc_str name, evc_str lines, evc_suite** out, evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    const auto called = capi::read_text(name, "the name of the suite");
    if (!called) return called.error();
    if (called->empty()) return capi::misuse("a suite in memory needs a name");
    auto items = capi::read_text(lines, "the suite");
    if (!items) return std::move(items).error();
    auto opened = evalcore::run::suite::from_text(*called, *std::move(items));
    if (!opened) return std::move(opened).error();
    *out = new evc_suite(*std::move(opened));
    return {};
  });
}

uint64_t evc_suite_size(const evc_suite* suite) EVC_NOEXCEPT {
  return capi::look_at(suite, std::uint64_t{0}, [](auto& s) { return std::uint64_t{s.shared->size()}; });
}
evc_str evc_suite_task(const evc_suite* suite) EVC_NOEXCEPT {
  return capi::look_at(suite, evc_str{}, [](auto& s) { return capi::view(s.shared->task()); });
}
evc_str evc_suite_hash(const evc_suite* suite) EVC_NOEXCEPT {
  return capi::look_at(suite, evc_str{}, [](auto& s) { return capi::view(s.shared->hash()); });
}
void evc_suite_free(evc_suite* suite) EVC_NOEXCEPT { capi::free_handle(suite); }
