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

namespace {

using namespace evalcore;

std::string text_of(const json::value& item, std::string_view key) {
  const auto* member = item.find(key);
  const auto* text = member == nullptr ? nullptr : member->if_string();
  return text == nullptr ? std::string() : *text;
}

std::vector<chat::tool> tools_of(const json::value& item) {
  std::vector<chat::tool> tools;
  const auto* functions = item.find("functions");
  if (functions == nullptr || functions->if_array() == nullptr) return tools;
  for (const auto& one : *functions->if_array()) {
    const auto* parameters = one.find("parameters");
    tools.push_back({text_of(one, "name"), text_of(one, "description"),
                     parameters == nullptr ? std::string("{}") : json::to_text(*parameters)});
  }
  return tools;
}

chat::reply reply_of(const json::value& item) {
  chat::reply answer;
  answer.text = text_of(item, "text");
  const auto* calls = item.find("calls");
  if (calls == nullptr || calls->if_array() == nullptr) return answer;
  for (const auto& one : *calls->if_array()) {
    answer.calls.push_back({"", text_of(one, "name"), text_of(one, "arguments")});
  }
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  const auto scorer = score::find_scorer(argc > 1 ? argv[1] : "bfcl");
  if (!scorer) {
    std::fprintf(stderr, "score_replies: %s\n", scorer.error().message.c_str());
    return 2;
  }
  std::string line;
  for (long number = 1; std::getline(std::cin, line); ++number) {
    const auto item = json::parse(line);
    if (!item || item->find("target") == nullptr) {
      std::fprintf(stderr, "score_replies: line %ld is not an item with a target\n", number);
      return 2;
    }
    const auto tools = tools_of(*item);
    const std::string category = text_of(*item, "category");
    const score::task task{item->find("target"), &tools, category};
    const auto checked = (*scorer)->check(task);
    const auto verdict = (*scorer)->score(task, reply_of(*item));
    json::writer out;
    out.begin_object().key("id").string(text_of(*item, "id"));
    out.key("scored").boolean(verdict.scored).key("value").number(verdict.value);
    out.key("extracted").string(verdict.extracted).key("reason").string(verdict.reason);
    out.key("check").string(checked ? std::string() : checked.error().message).end_object();
    std::puts(out.text().c_str());
  }
  return 0;
}
