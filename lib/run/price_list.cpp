#include <cmath>
#include <utility>

#include <evalcore/base/files.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/run/cost.hpp>

namespace evalcore::run {
namespace {

/// More than any model has cost, and little enough for the arithmetic.
constexpr double dearest_usd = 10'000;

error wrong(std::string what) { return fail(errc::invalid_argument, stage::config, std::move(what)); }

result<pico_usd> read_price(const std::string& key, const json::value& value) {
  double storage = 0;
  const double* usd = value.as_double(storage);
  if (usd == nullptr || *usd < 0 || *usd > dearest_usd) {
    return wrong("\"" + key + "\" must be a number from 0 to 10000, in USD per million tokens");
  }
  return static_cast<pico_usd>(std::llround(*usd * 1e6));
}

struct entry {
  std::optional<std::string> model;
  std::optional<pico_usd> input;
  std::optional<pico_usd> cached;
  std::optional<pico_usd> cache_write;
  std::optional<pico_usd> output;
  std::optional<pico_usd> reasoning;
};

std::optional<pico_usd>* class_of(entry& one, std::string_view key) {
  if (key == "input") return &one.input;
  if (key == "cached") return &one.cached;
  if (key == "cache_write") return &one.cache_write;
  if (key == "output") return &one.output;
  if (key == "reasoning") return &one.reasoning;
  return nullptr;
}

result<std::pair<std::string, price>> read_entry(const json::value& value) {
  const auto* members = value.if_object();
  if (members == nullptr) return wrong("not an object");
  entry one;
  for (const auto& [key, held] : *members) {
    if (key == "note") continue;
    if (key == "model") {
      const auto* text = held.if_string();
      if (text == nullptr || text->empty())
        return wrong("\"model\" must be a name or a pattern such as \"big-*\"");
      one.model = *text;
      continue;
    }
    auto* place = class_of(one, key);
    if (place == nullptr) {
      return wrong("unknown member \"" + key +
                   "\"; there are: model, input, cached, cache_write, output, reasoning, note");
    }
    auto read = read_price(key, held);
    if (!read) return read.error();
    *place = *read;
  }
  if (!one.model) return wrong("lacks \"model\"");
  if (!one.input || !one.output) return wrong(one.input ? "lacks \"output\"" : "lacks \"input\"");
  return std::pair(*one.model,
                   price{*one.input, one.cached.value_or(*one.input), one.cache_write.value_or(*one.input),
                         *one.output, one.reasoning.value_or(*one.output)});
}

/// '*' stands for any text.
bool fits(std::string_view pattern, std::string_view name) {
  std::size_t at = 0;
  std::size_t in_name = 0;
  std::size_t star = std::string_view::npos;
  std::size_t tried = 0;
  while (in_name < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      tried = in_name;
    } else if (at < pattern.size() && pattern[at] == name[in_name]) {
      ++at;
      ++in_name;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_name = ++tried;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

}  // namespace

result<price_list> price_list::parse(std::string_view text, std::string name) {
  const auto root = json::parse(text, json::repeated_keys::refused);
  if (!root) return wrong(name + ": not a price file: " + root.error().message);
  const auto* members = root->if_object();
  const auto* listed = root->find("usd_per_million_tokens");
  const auto* entries = listed != nullptr ? listed->if_array() : nullptr;
  if (entries == nullptr || entries->empty()) {
    return wrong(name +
                 ": not a price file: wants {\"usd_per_million_tokens\": [{\"model\", \"input\", …}]}");
  }
  for (const auto& [key, held] : *members) {
    if (key != "usd_per_million_tokens" && key != "note")
      return wrong(name + ": unknown member \"" + key + "\"");
  }
  price_list made;
  made.name_ = std::move(name);
  for (std::size_t i = 0; i < entries->size(); ++i) {
    auto read = read_entry((*entries)[i]);
    if (!read) return wrong(made.name_ + ": entry " + std::to_string(i + 1) + ": " + read.error().message);
    made.entries_.push_back(*std::move(read));
  }
  return made;
}

result<price_list> price_list::open(const std::string& path) {
  auto text = read_file(path, "price file", stage::config);
  if (text) return parse(*text, path);
  text.error().message += "; check --price";
  return std::move(text).error();
}

result<price> price_list::find(std::string_view model) const {
  for (const auto& [pattern, at] : entries_) {
    if (fits(pattern, model)) return at;
  }
  return wrong(name_ + " has no price for the model \"" + std::string(model) +
               "\"; add an entry of that name, or of a pattern such as \"*\"");
}

result<std::optional<price_list>> open_prices(const std::string& path) {
  if (path.empty()) return std::optional<price_list>();
  auto opened = price_list::open(path);
  if (!opened) return std::move(opened).error();
  return std::optional(*std::move(opened));
}

}  // namespace evalcore::run
