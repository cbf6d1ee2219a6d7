#include "run/bfcl_file.hpp"

#include <filesystem>
#include <string_view>
#include <utility>

#include "run/suite_chat.hpp"
#include "run/suite_line.hpp"
#include "run/suite_members.hpp"
#include "run/suite_params.hpp"

namespace evalcore::run {
namespace {

/// "live_multiple" from "live_multiple_1-0-1": what stands before the last "_".
std::string category_of_id(const std::string& id) {
  const auto cut = id.rfind('_');
  return cut == std::string::npos ? std::string() : id.substr(0, cut);
}

}  // namespace

std::optional<std::string> bfcl_category(const std::string& path) {
  constexpr std::string_view prefix = "BFCL_v4_";
  std::string name = std::filesystem::path(path).filename();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (!name.starts_with(prefix) || !name.ends_with(".json")) return std::nullopt;
  return name.substr(prefix.size(), name.size() - prefix.size() - std::string_view(".json").size());
}

bool is_bfcl_line(const json::value& line) {
  return line.find("question") != nullptr && line.find("function") != nullptr;
}

std::string bfcl_answers_path(const std::string& questions, const std::string& given) {
  const std::filesystem::path from(questions);
  if (given.empty()) return from.parent_path() / "possible_answer" / from.filename();
  std::error_code ignored;
  if (std::filesystem::is_directory(given, ignored)) return std::filesystem::path(given) / from.filename();
  return given;
}

bool bfcl_has_answers(const std::string& category) { return !category.ends_with("relevance"); }

result<item> bfcl_item(const json::value& line, const std::string& category) {
  item out;
  auto id = read_id(line);
  if (!id) return std::move(id).error();
  out.id = *std::move(id);
  out.category = category.empty() ? category_of_id(out.id) : category;
  out.scorer = "bfcl";

  const auto* question = line.find("question");
  const auto* turns = question != nullptr ? question->if_array() : nullptr;
  if (turns == nullptr || turns->empty()) return bad_line("lacks \"question\", a list of turns");
  if (turns->size() > 1) {
    return bad_line("\"question\" has " + std::to_string(turns->size()) +
                    " turns; multi-turn categories are not supported yet");
  }
  auto messages = read_messages(turns->front(), "question[0]");
  if (!messages) return std::move(messages).error();
  out.request.messages = *std::move(messages);

  const auto* function = line.find("function");
  if (function == nullptr) {
    return bad_line("lacks \"function\"; categories that bring their own tools are not supported yet");
  }
  auto tools = read_tools(*function, "function");
  if (!tools) return std::move(tools).error();
  out.request.tools = *std::move(tools);

  if (const auto* params = line.find("params"); params != nullptr) {
    if (auto read = read_params(*params, out.request); !read) return std::move(read).error();
  }
  if (!out.request.params.temperature) out.request.params.temperature = 0;
  return out;
}

result<json::value> bfcl_target(const json::value& line) {
  const auto* truth = line.find("ground_truth");
  if (truth == nullptr || truth->if_array() == nullptr)
    return bad_line("lacks \"ground_truth\", a list of calls");
  return *truth;
}

}  // namespace evalcore::run
