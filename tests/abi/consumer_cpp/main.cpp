#include <cstdio>

#include <evalcore/base/json.hpp>
#include <evalcore/base/version.hpp>

int main() {
  std::puts(EVALCORE_VERSION);
  const auto value = evalcore::json::parse(R"({"b": 1, "a": 2.0})");
  return value && evalcore::json::to_text(*value) == R"({"b":1,"a":2.0})" ? 0 : 1;
}
