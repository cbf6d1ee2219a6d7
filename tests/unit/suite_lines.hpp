#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include <evalcore/run/suite.hpp>

#include "unit/temporary_folder.hpp"

inline evalcore::run::item item_of(const std::string& line) {
  const evalcore::test::temporary_folder folder;
  const auto suite = evalcore::run::suite::open(folder.write("suite.jsonl", line + "\n"));
  REQUIRE_MESSAGE(suite, (suite ? "" : suite.error().message));
  auto one = suite->get(0);
  REQUIRE(one);
  return *std::move(one);
}

/// What is wrong with a line, without the path in front.
inline std::string complaint(const std::string& line) {
  const evalcore::test::temporary_folder folder;
  const auto path =
      folder.write("suite.jsonl", "{\"id\":\"ok\",\"prompt\":\"?\",\"target\":1}\n" + line + "\n");
  const auto suite = evalcore::run::suite::open(path);
  if (suite) return "accepted";
  CHECK(suite.error().code == evalcore::errc::bad_suite);
  const std::string where = path + ":2: ";
  CHECK(suite.error().message.starts_with(where));
  return suite.error().message.substr(where.size());
}
