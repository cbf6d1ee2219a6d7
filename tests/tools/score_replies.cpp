// Scores replies that are given as JSON lines on stdin, one verdict a line on stdout, so that another
// implementation can be asked the same questions.
//   in:  {"id", "category", "functions": [{"name", "description", "parameters"}], "target": [...],
//         "text": "…" or "calls": [{"name", "arguments": "{…}"}]}
//   out: {"id", "scored", "value", "extracted", "reason", "check"} ("check": the item's own fault, or "")
// The scorer is the first argument, bfcl by default.

#include <cstdio>
#include <iostream>
#include <string>

#include <evalcore/base/json.hpp>
#include <evalcore/score/scorer.hpp>

#include "item_to_score.hpp"

using namespace evalcore;

int main(int argc, char** argv) {
  const auto scorer = score::find_scorer(argc > 1 ? argv[1] : "bfcl");
  if (!scorer) {
    std::fprintf(stderr, "score_replies: %s\n", scorer.error().message.c_str());
    return 2;
  }
  std::string line;
  for (long number = 1; std::getline(std::cin, line); ++number) {
    const auto item = test::item_to_score::read(line);
    if (!item) {
      std::fprintf(stderr, "score_replies: line %ld is not an item with a target\n", number);
      return 2;
    }
    const auto checked = (*scorer)->check(item->task());
    const auto verdict = (*scorer)->score(item->task(), item->answer);
    json::writer out;
    out.begin_object().key("id").string(item->text("id"));
    out.key("scored").boolean(verdict.scored).key("value").number(verdict.value);
    out.key("extracted").string(verdict.extracted).key("reason").string(verdict.reason);
    out.key("check").string(checked ? std::string() : checked.error().message).end_object();
    std::puts(out.text().c_str());
  }
  return 0;
}
