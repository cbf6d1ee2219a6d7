#include <evalcore/base/json_optional.hpp>
#include <evalcore/run/ids.hpp>
#include <evalcore/run/item_view.hpp>
#include <evalcore/run/prepare.hpp>

namespace evalcore::run {
namespace {

json::value text_or_null(const std::string& text) { return text.empty() ? json::value() : json::value(text); }

json::value identity_json(const std::map<std::string, std::string>& of) {
  json::object out;
  for (const auto& [key, value] : of) out.emplace_back(key, value);
  return out;
}

json::value cost_json(const std::optional<cost>& of) {
  if (!of) return {};
  const auto usd = [](pico_usd amount) { return static_cast<double>(amount) * 1e-12; };
  return json::object{{"usd", usd(of->least)},
                      {"usd_at_most", of->most ? json::value(usd(*of->most)) : json::value()}};
}

json::value attempt_json(const stored_attempt& of) {
  json::value failure;
  if (!of.error_code.empty()) {
    failure = json::object{{"code", of.error_code},
                           {"stage", of.error_stage},
                           {"message", of.error_message},
                           {"http_status", of.http_status ? json::value(*of.http_status) : json::value()},
                           {"backend_words", text_or_null(of.backend_words)}};
  }
  return json::object{{"run_id", of.run_id},
                      {"started", timestamp(of.started_unix_ms)},
                      {"started_unix_ms", of.started_unix_ms},
                      {"state", of.state},
                      {"error", std::move(failure)},
                      {"slot", json::or_null(of.slot)},
                      {"predicted_cached_tokens", json::or_null(of.predicted_cached_tokens)},
                      {"cost", cost_json(of.cost)},
                      {"answered_by", text_or_null(of.answered_by)}};
}

/// JSON, or as a text where it is more than that (prepare.hpp).
json::value request_json(const chat::request& of) {
  auto text = canonical_text(of);
  auto parsed = json::parse(text);
  return parsed ? *std::move(parsed) : json::value(std::move(text));
}

json::value reply_json(const std::string& body) {
  if (body.empty()) return {};
  auto parsed = json::parse(body);
  return parsed ? *std::move(parsed) : json::value(body);
}

}  // namespace

json::value to_json(const item_score& state, const score::verdict& what) {
  json::array steps;
  for (const auto& one : what.steps) steps.push_back(json::object{{"name", one.name}, {"text", one.text}});
  json::object further;
  for (const auto& one : what.further) further.emplace_back(std::string(one.metric), one.value);
  const bool scored = state.state == item_state::scored;
  return json::object{
      {"state", name(state.state)},    {"value", scored ? json::value(state.value) : json::value()},
      {"extracted", what.extracted},   {"reason", scored ? what.reason : state.why},
      {"further", std::move(further)}, {"steps", std::move(steps)}};
}

json::value to_json(const item_view& of) {
  json::array attempts;
  for (const auto& one : of.history.attempts) attempts.push_back(attempt_json(one));
  return json::object{
      {"run_id", of.run_id},
      {"suite", of.suite},
      {"model", of.model},
      {"identity", identity_json(of.identity)},
      {"item", json::object{{"id", of.one.id},
                            {"position", static_cast<std::int64_t>(of.position)},
                            {"category", text_or_null(of.one.category)},
                            {"scorer", of.scorer->name()},
                            {"metric", of.scorer->metric()},
                            {"target", of.one.target}}},
      {"request", request_json(of.request)},
      {"attempts", std::move(attempts)},
      {"reply", reply_json(of.history.reply_body)},
      {"score", to_json(of.score, of.verdict)},
  };
}

}  // namespace evalcore::run
