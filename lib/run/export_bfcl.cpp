#include <algorithm>
#include <array>
#include <string_view>

#include <evalcore/base/json.hpp>
#include <evalcore/chat/think_text.hpp>

#include "run/export_formats.hpp"

namespace evalcore::run {
namespace {

constexpr auto categories = std::to_array<std::string_view>(
    {"simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple",
     "irrelevance", "live_simple", "live_multiple", "live_parallel", "live_parallel_multiple",
     "live_irrelevance", "live_relevance"});

}  // namespace

result<std::string> bfcl_result_file(const std::string& model, const item& one) {
  if (std::ranges::find(categories, one.category) == categories.end()) {
    return fail(
        errc::invalid_argument, stage::config,
        "item " + one.id + " is of " +
            (one.category.empty() ? "no category" : "the category " + one.category) +
            ", and BFCL has no such one with one turn; its result files are for runs of its own suites");
  }
  std::string folder = model;
  std::ranges::replace(folder, '/', '_');
  return "result/" + folder + (one.category.starts_with("live_") ? "/live/" : "/non_live/") + "BFCL_v4_" +
         one.category + "_result.json";
}

std::string bfcl_result(const exported_item& one) {
  const auto& reply = *one.reply;
  json::writer out;
  out.begin_object().key("id").string(one.one.id).key("result");
  std::string reasoning = reply.reasoning;
  if (reply.calls.empty()) {
    // Reasoning stands apart there, too, and no handler looks for calls in it.
    auto split = chat::split_think_text(reply.text);
    out.string(split.text);
    if (reasoning.empty()) reasoning = std::move(split.reasoning);
  } else {
    out.begin_array();
    for (const auto& call : reply.calls) {
      // The arguments are JSON text, which BFCL reads; of an empty one it could not.
      const auto& arguments = call.arguments;
      out.begin_object().key(call.name).string(arguments.empty() ? "{}" : arguments).end_object();
    }
    out.end_array();
  }
  // No `latency`: where a single item has one, BFCL's statistics of it fail.
  if (reply.usage.prompt_tokens) out.key("input_token_count").number(*reply.usage.prompt_tokens);
  if (reply.usage.completion_tokens) out.key("output_token_count").number(*reply.usage.completion_tokens);
  if (!reasoning.empty()) out.key("reasoning_content").string(reasoning);
  return out.end_object().take() + "\n";
}

}  // namespace evalcore::run
