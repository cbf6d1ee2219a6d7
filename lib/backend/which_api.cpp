#include <algorithm>
#include <utility>

#include <evalcore/backend/probe.hpp>
#include <evalcore/base/json.hpp>

#include "backend/access.hpp"
#include "backend/server_facts.hpp"
#include "backend/server_link.hpp"

namespace evalcore::backend {
namespace {

bool is_text(const json::value* value, std::string_view text) {
  return value != nullptr && value->if_string() != nullptr && *value->if_string() == text;
}

}  // namespace

bool in_messages_form(std::string_view model_list) {
  const auto answer = json::parse(model_list);
  if (!answer) return false;
  // A refusal has its form too.
  const auto* failure = answer->find("error");
  if (is_text(answer->find("type"), "error")) return failure != nullptr && failure->find("type") != nullptr;
  const auto* data = answer->find("data");
  if (data == nullptr || data->if_array() == nullptr || data->if_array()->empty()) return false;
  return answer->find("object") == nullptr &&
         std::ranges::all_of(*data->if_array(),
                             [](const json::value& one) { return is_text(one.find("type"), "model"); });
}

bool speaks_messages(net::loop& owner, const http_options& how, const std::stop_token& stop) {
  auto at = read_endpoint(how.base_url);
  if (!at) return false;
  auto opened = access::open(how.opens, credentials::placement::bearer, stop);
  if (!opened) return false;
  at->opened = *std::move(opened);
  at->headers = {{"anthropic-version", std::string(wire::name(how.version))}};
  server_link link(owner, *std::move(at), how.tls);
  auto request = link.at().get("/v1/models");
  request.deadlines = short_deadlines(how.deadlines);
  const auto answer = link.fetch_and_wait(std::move(request), stop);
  return answer && in_messages_form(answer->body);
}

}  // namespace evalcore::backend
