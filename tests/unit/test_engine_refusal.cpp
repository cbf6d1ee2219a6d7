#include <doctest/doctest.h>

#include <evalcore/engine/refusal.hpp>

using evalcore::errc;
using namespace evalcore::engine;

TEST_CASE("each refusal has the status and the word that its clients know") {
  CHECK(http_status(refusal::queue_full) == 503);
  CHECK(http_status(refusal::queue_timeout) == 504);
  CHECK(http_status(refusal::cancelled) == 409);
  CHECK(http_status(refusal::invalid_controls) == 400);
  CHECK(http_status(refusal::stream_backpressure) == 429);
  CHECK(http_status(refusal::backend_error) == 500);
  CHECK(name(refusal::owner_busy) == "owner_busy");
  CHECK(name(refusal::backend_error) == "backend_error");
}

TEST_CASE("only a failed engine says something about the engine") {
  CHECK(!request_local(refusal::backend_error));
  CHECK(request_local(refusal::stream_backpressure));
}

TEST_CASE("a refusal keeps its word beside the error's code") {
  const auto full = refused(refusal::queue_full, "the waiting queue is full");
  CHECK(full.code == errc::overloaded);
  CHECK(full.detail == "queue_full");
  CHECK(full.http_status == 503);
  CHECK(full.should_retry == true);
  CHECK(refused(refusal::invalid_controls, "").should_retry == false);
}
