#include <evalcore/run/rows.hpp>

#include <string_view>
#include <utility>

#include <evalcore/base/json.hpp>

#include "run/foundation_json.hpp"

namespace evalcore::run {
namespace {

/// Members one by one, in the order in which they are sorted by the caller.
class line {
 public:
  line& member(std::string_view key, const std::string& text) {
    begin(key);
    append_as_foundation(out_, text);
    return *this;
  }
  line& member(std::string_view key, double number) {
    begin(key);
    append_as_foundation(out_, number);
    return *this;
  }
  line& literal(std::string_view key, std::string_view text) {
    begin(key);
    out_ += text;
    return *this;
  }
  template <class T>
  line& member_if(std::string_view key, const std::optional<T>& value) {
    return value ? member(key, *value) : *this;
  }
  [[nodiscard]] std::string end() && { return std::move(out_) + "}\n"; }

 private:
  void begin(std::string_view key) {
    out_ += out_.empty() ? '{' : ',';
    json::append_quoted(out_, key);
    out_ += ':';
  }
  std::string out_;
};

}  // namespace

std::string to_line(const row& one) {
  line out;
  out.literal("baseline", one.baseline ? "true" : "false")
      .member_if("harness_version", one.harness_version)
      .member("metric", one.metric)
      .member("model_name", one.model_name)
      .member("model_path", one.model_path);
  if (one.model_step) out.literal("model_step", std::to_string(*one.model_step));
  out.literal("n_examples", std::to_string(one.n_examples))
      .member("run_id", one.run_id)
      .member("score", one.score)
      .member_if("subtask", one.subtask)
      .member("task", one.task)
      .member("timestamp", one.timestamp)
      .member("wall_seconds", one.wall_seconds);
  return std::move(out).end();
}

}  // namespace evalcore::run
