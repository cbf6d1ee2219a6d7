#include "backend/server_facts.hpp"

#include <optional>

#include <evalcore/base/hash.hpp>
#include <evalcore/base/json.hpp>

namespace evalcore::backend {
namespace {

std::optional<std::uint64_t> positive(const json::value* value) {
  const auto* number = value == nullptr ? nullptr : value->if_int();
  if (number == nullptr || *number <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

const std::string* text_of(const json::value* value) {
  return value == nullptr ? nullptr : value->if_string();
}

}  // namespace

result<std::vector<listed_model>> read_model_list(std::string_view body) {
  const auto answer = json::parse(body);
  const auto* data = answer ? answer->find("data") : nullptr;
  if (data == nullptr || data->if_array() == nullptr) {
    return fail(errc::bad_reply, stage::start, "the answer to GET /v1/models is no list of models");
  }
  std::vector<listed_model> models;
  for (const auto& one : *data->if_array()) {
    const auto* id = text_of(one.find("id"));
    if (id == nullptr) continue;
    auto context = positive(one.find("max_model_len"));
    if (!context) context = positive(one.find("context_length"));
    const auto* owner = text_of(one.find("owned_by"));
    models.push_back({*id, context, owner == nullptr ? std::string() : *owner});
  }
  return models;
}

result<void> read_props(std::string_view body, info& into) {
  const auto answer = json::parse(body);
  if (!answer || answer->if_object() == nullptr) {
    return fail(errc::bad_reply, stage::start, "the answer to GET /props is no JSON object");
  }
  if (const auto slots = positive(answer->find("total_slots")))
    into.slots = static_cast<std::uint32_t>(*slots);
  if (const auto* settings = answer->find("default_generation_settings")) {
    if (const auto context = positive(settings->find("n_ctx"))) into.context_per_slot = *context;
  }
  if (const auto* build = text_of(answer->find("build_info"))) into.identity["build"] = *build;
  if (const auto* chat_template = text_of(answer->find("chat_template"))) {
    into.identity["chat_template"] = sha256().raw(*chat_template).hex();
  }
  return {};
}

}  // namespace evalcore::backend
