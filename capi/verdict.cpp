#include "verdict.hpp"

#include <string>
#include <utility>

#include <evalcore/base/json.hpp>

#include "inputs.hpp"

namespace evalcore::capi {

result<score::verdict> read_verdict(evc_str given) {
  const auto text = read_text(given, "the score");
  if (!text) return text.error();
  const auto root = json::parse(*text, json::repeated_keys::refused);
  const auto* members = root ? root->if_object() : nullptr;
  if (members == nullptr) return misuse(R"(a score is a JSON object such as {"value": 0.5})");
  score::verdict read;
  for (const auto& [name, held] : *members) {
    double storage = 0;
    if (const auto* number = held.as_double(storage); name == "value" && number != nullptr) {
      read.scored = true;
      read.value = *number;
    } else if (const auto* words = held.if_string(); words != nullptr && name == "extracted") {
      read.extracted = *words;
    } else if (words != nullptr && name == "reason") {
      read.reason = *words;
    } else {
      return misuse("a score has `value`, a number, maybe `extracted` and `reason`, texts, and nothing else");
    }
  }
  if (!read.scored) return misuse("a score lacks `value`, a number from 0 to 1");
  return read;
}

}  // namespace evalcore::capi
