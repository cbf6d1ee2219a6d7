// What a run's options keep for the store.
#include <doctest/doctest.h>

#include <string_view>

#include <evalcore/base/json.hpp>

#include "../../capi/run_options.hpp"

namespace {

evc_str str(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

TEST_CASE("an option that is set twice is kept once, as it was set last") {
  evc_run_options* options = evc_run_options_new();
  evc_pool_options* pool = evc_pool_options_new();
  REQUIRE(evc_run_options_set_out(options, str("first")) == EVC_OK);
  REQUIRE(evc_run_options_set_limit(options, 3) == EVC_OK);
  REQUIRE(evc_run_options_set_pool(options, pool) == EVC_OK);
  REQUIRE(evc_run_options_set_out(options, str("second")) == EVC_OK);
  REQUIRE(evc_run_options_set_limit(options, 4) == EVC_OK);
  REQUIRE(evc_run_options_set_limit(options, 0) == EVC_E_INVALID_ARGUMENT);
  REQUIRE(evc_pool_options_set_concurrency(pool, 5) == EVC_OK);
  REQUIRE(evc_run_options_set_pool(options, pool) == EVC_OK);
  CHECK(evalcore::json::to_text(options->given) == R"({"out":"second","limit":4,"concurrency":5})");
  evc_pool_options_free(pool);
  evc_run_options_free(options);
}
