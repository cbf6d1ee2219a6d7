#pragma once

#include <optional>
#include <string>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/run/suite.hpp>

namespace evalcore::run {

/// "live_multiple" for …/BFCL_v4_live_multiple.json, gzipped or not; nothing for other names.
[[nodiscard]] std::optional<std::string> bfcl_category(const std::string& path);

/// Whether a line is of this kind, whatever the file is called.
[[nodiscard]] bool is_bfcl_line(const json::value& line);

/// Where the answers of this file are looked for: `given` itself, the file of the same name in it when it is
/// a folder, or in `possible_answer/` beside the questions when it is empty.
[[nodiscard]] std::string bfcl_answers_path(const std::string& questions, const std::string& given);

/// The relevance categories ask whether a call is made at all, and come without answers.
[[nodiscard]] bool bfcl_has_answers(const std::string& category);

/// One question, its target still to come; `category` is the file's, or empty: then the id tells it.
/// Errors as in suite_members.hpp.
[[nodiscard]] result<item> bfcl_item(const json::value& line, const std::string& category);

/// The answer's `ground_truth`. Errors as in suite_members.hpp.
[[nodiscard]] result<json::value> bfcl_target(const json::value& line);

}  // namespace evalcore::run
