#include <doctest/doctest.h>

#include <string>

#include <evalcore/engine/llama.hpp>

using namespace evalcore;
using namespace evalcore::engine;

TEST_CASE("a build without llama.cpp says so, and how to mend it") {
  auto opened = open_llama({.model_path = EVALCORE_TEST_DATA "/models/canned/canned-q8_0.gguf"});
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == errc::unsupported);
  CHECK(opened.error().message.find("scripts/bootstrap library") != std::string::npos);
}
