#include <evalcore/backend/backend.hpp>

namespace evalcore::backend {
namespace {

error cannot(const info& who, const char* what) {
  return fail(errc::unsupported, stage::start, "the backend " + who.selector + " cannot " + what);
}

}  // namespace

void backend::tokenize(const chat::request& /*request*/,
                       std::function<void(result<std::vector<token>>)> done) {
  done(cannot(about(), "tokenize"));
}

void backend::share_prefix(std::uint32_t /*from*/, std::vector<std::uint32_t> /*to*/,
                           std::function<void(result<void>)> done) {
  done(cannot(about(), "share a prefix between slots"));
}

void backend::check_tools(const std::vector<chat::tool>& /*tools*/, std::function<void(result<bool>)> done) {
  done(cannot(about(), "tell whether tools reach the model"));
}

}  // namespace evalcore::backend
