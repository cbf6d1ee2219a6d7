#include "run/setup.hpp"

#include <array>
#include <utility>

#include <evalcore/base/json_optional.hpp>

namespace evalcore::run {
namespace {

struct price_class {
  std::string_view name;
  pico_usd price::* of;
};
constexpr std::array price_classes{price_class{"input", &price::input}, price_class{"cached", &price::cached},
                                   price_class{"cache_write", &price::cache_write},
                                   price_class{"output", &price::output},
                                   price_class{"reasoning", &price::reasoning}};

/// Members by name; what is missing or of another kind is told once, at the end.
class reader {
 public:
  explicit reader(const json::value& root) : root_(root) {}

  std::string text(std::string_view key) {
    const auto* held = member(key);
    const auto* found = held != nullptr ? held->if_string() : nullptr;
    whole_ = whole_ && found != nullptr;
    return found != nullptr ? *found : std::string();
  }
  bool flag(std::string_view key) {
    const auto* held = member(key);
    const auto* found = held != nullptr ? held->if_bool() : nullptr;
    whole_ = whole_ && found != nullptr;
    return found != nullptr && *found;
  }
  template <class Number>
  std::optional<Number> number(std::string_view key) {
    const auto* held = member(key);
    if (held == nullptr || held->is_null()) return std::nullopt;
    double storage = 0;
    const auto* found = held->as_double(storage);
    whole_ = whole_ && found != nullptr;
    if (const auto* exact = held->if_int()) return static_cast<Number>(*exact);
    return found != nullptr ? std::optional(static_cast<Number>(*found)) : std::nullopt;
  }
  /// Null where there is none.
  const json::value* member(std::string_view key) {
    const auto* found = root_.find(key);
    whole_ = whole_ && found != nullptr;
    return found;
  }
  [[nodiscard]] bool whole() const { return whole_; }

 private:
  const json::value& root_;
  bool whole_ = true;
};

std::optional<request_options> request_from(const json::value& root) {
  reader read(root);
  request_options out;
  auto& defaults = out.defaults;
  out.model = read.text("model");
  defaults.temperature = read.number<double>("temperature");
  defaults.top_p = read.number<double>("top_p");
  if (root.find("top_k") != nullptr) defaults.top_k = read.number<std::uint32_t>("top_k");
  defaults.max_tokens = read.number<std::uint32_t>("max_tokens");
  defaults.seed = read.number<std::int64_t>("seed");
  if (const auto* stops = read.member("stop"); stops != nullptr && stops->if_array() != nullptr) {
    for (const auto& one : *stops->if_array()) {
      if (const auto* text = one.if_string()) defaults.stop.push_back(*text);
    }
  }
  out.tools = read.flag("tools_as_text") ? tools_mode::text : tools_mode::native;
  return read.whole() ? std::optional(out) : std::nullopt;
}

std::optional<price> price_from(const json::value& root) {
  if (root.if_object() == nullptr) return std::nullopt;
  reader read(root);
  price out;
  for (const auto& one : price_classes) out.*one.of = read.number<pico_usd>(one.name).value_or(0);
  return read.whole() ? std::optional(out) : std::nullopt;
}

row_labels labels_from(reader& read) {
  row_labels out;
  out.baseline = read.flag("baseline");
  out.model_name = read.text("model_name");
  out.model_path = read.text("model_path");
  out.model_step = read.number<std::int64_t>("model_step");
  return out;
}

}  // namespace

json::object common_of(const run_setup& of) {
  const auto& defaults = of.request.defaults;
  json::array stops;
  for (const auto& one : defaults.stop) stops.emplace_back(one);
  return json::object{{"model", of.request.model},
                      {"temperature", json::or_null(defaults.temperature)},
                      {"top_p", json::or_null(defaults.top_p)},
                      {"top_k", json::or_null(defaults.top_k)},
                      {"max_tokens", json::or_null(defaults.max_tokens)},
                      {"seed", json::or_null(defaults.seed)},
                      {"stop", std::move(stops)},
                      {"tools_as_text", of.request.tools == tools_mode::text},
                      {"items", of.items},
                      {"task", of.task},
                      {"noise_floor", json::or_null(of.noise_floor)},
                      {"host_scorer", of.host_scorer},
                      {"scorer", of.scorer_named}};
}

std::string to_json(const run_setup& of) {
  json::value prices;
  if (of.price) {
    json::object classes;
    for (const auto& one : price_classes) classes.emplace_back(std::string(one.name), (*of.price).*one.of);
    prices = std::move(classes);
  }
  return json::to_text(json::object{{"common", common_of(of)},
                                    {"shard", of.shard},
                                    {"order", of.order},
                                    {"tools", of.tools},
                                    {"concurrency", std::uint64_t{of.concurrency}},
                                    {"adaptive", of.adaptive},
                                    {"baseline", of.labels.baseline},
                                    {"model_name", of.labels.model_name},
                                    {"model_path", of.labels.model_path},
                                    {"model_step", json::or_null(of.labels.model_step)},
                                    {"pico_usd_per_token", std::move(prices)}});
}

result<run_setup> setup_from(std::string_view text) {
  const auto unknown = [] {
    return fail(errc::bad_reply, stage::store, "how the run was set up is not known");
  };
  const auto root = json::parse(text);
  const auto* common = root ? root->find("common") : nullptr;
  if (common == nullptr) return unknown();
  auto request = request_from(*common);
  if (!request) return unknown();
  run_setup out;
  out.request = *std::move(request);
  reader shared(*common);
  out.items = shared.number<std::uint64_t>("items").value_or(0);
  out.task = shared.text("task");
  // Runs from before there were such options have no word of them.
  if (common->find("noise_floor") != nullptr) out.noise_floor = shared.number<std::uint64_t>("noise_floor");
  if (common->find("host_scorer") != nullptr) out.host_scorer = shared.text("host_scorer");
  if (common->find("scorer") != nullptr) out.scorer_named = shared.text("scorer");
  reader read(*root);
  out.shard = read.text("shard");
  out.order = read.text("order");
  out.tools = read.text("tools");
  out.concurrency = read.number<std::uint32_t>("concurrency").value_or(0);
  out.adaptive = read.flag("adaptive");
  out.labels = labels_from(read);
  if (const auto* prices = read.member("pico_usd_per_token")) out.price = price_from(*prices);
  if (!shared.whole() || !read.whole()) return unknown();
  return out;
}

}  // namespace evalcore::run
