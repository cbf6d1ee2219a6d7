#include <evalcore/run/score_replies.hpp>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include <evalcore/base/hash.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/base/json_optional.hpp>

#include "run/prepared_item.hpp"
#include "run/reply_line.hpp"
#include "run/suite_file.hpp"
#include "run/suite_line.hpp"
#include "run/suite_members.hpp"
#include "run/tally.hpp"

namespace evalcore::run {
namespace {

error at(const std::string& where, error what) {
  what.message.insert(0, where);
  return what;
}

/// Replies by the id of their item, each read again when it is asked for.
class reply_file {
 public:
  static result<reply_file> open(const std::string& path) {
    auto opened = suite_file::open(path);
    if (!opened) return std::move(opened).error();
    reply_file out;
    out.file_ = *std::move(opened);
    sha256 hash;
    const auto walked =
        out.file_.for_each_line(hash, [&](std::string_view text, const extent& where) -> result<void> {
          auto line = out.read(text, where);
          if (!line) return std::move(line).error();
          auto id = read_id(*line);
          if (!id) return at(out.file_.at(where), std::move(id).error());
          const auto [before, fresh] = out.lines_.emplace(*std::move(id), where);
          if (fresh) return {};
          return at(out.file_.at(where),
                    bad_line("this id stands in line " + std::to_string(before->second.line) +
                             " already; one reply belongs to an item"));
        });
    if (!walked) return walked.error();
    return out;
  }

  [[nodiscard]] std::size_t size() const { return lines_.size(); }

  [[nodiscard]] bool has(const std::string& id) const { return lines_.contains(id); }

  /// Nothing where there is none, or only the failure to get one.
  [[nodiscard]] result<std::optional<chat::reply>> find(const std::string& id) const {
    const auto found = lines_.find(id);
    if (found == lines_.end()) return std::optional<chat::reply>();
    auto text = file_.read(found->second);
    if (!text) return std::move(text).error();
    const auto line = read(*text, found->second);
    if (!line) return line.error();
    auto reply = reply_of_line(*line);
    if (!reply) return at(file_.at(found->second), std::move(reply).error());
    return *std::move(reply);
  }

 private:
  [[nodiscard]] result<json::value> read(std::string_view text, const extent& where) const {
    auto line = json::parse(text);
    if (line && line->if_object() != nullptr) return line;
    return at(file_.at(where),
              bad_line(line ? "not a JSON object" : "not JSON (" + line.error().message + ")"));
  }

  suite_file file_;
  std::unordered_map<std::string, extent> lines_;
};

}  // namespace

result<scored_replies> score_replies(const suite& what, const std::string& path, const score_options& how) {
  auto replies = reply_file::open(path);
  if (!replies) return std::move(replies).error();
  item_scorers scorers;
  if (!how.scorer.empty()) {
    auto found = score::find_scorer(how.scorer);
    if (!found) return std::move(found).error();
    scorers = item_scorers(*std::move(found));
  }
  scored_replies out;
  auto& told = out.what;
  told.suite_path = what.path();
  told.suite_hash = what.hash();
  told.task = what.task();
  told.items = std::min(what.size(), how.limit.value_or(what.size()));
  tally counts(told);
  std::size_t known = 0;
  for (std::size_t index = 0; index < what.size(); ++index) {
    const auto one = what.get(index);
    if (!one) return one.error();
    if (replies->has(one->id)) ++known;
    if (index >= told.items) continue;
    const auto reply = replies->find(one->id);
    if (!reply) return reply.error();
    auto own = scorers.of(*one);
    if (!own) return std::move(own).error();
    auto task = task_of(*one);
    task.explain = how.scored != nullptr;
    if (auto fit = (*own)->check(task); !fit) {
      return at(what.path() + ":" + std::to_string(one->line) + ": ", std::move(fit).error());
    }
    counts.item(*one, **own);
    if (!*reply) continue;
    counts.answer(**reply);
    const auto verdict = (*own)->score(task, **reply);
    counts.verdict(one->category, **own, verdict);
    if (how.scored) how.scored(*one, verdict);
  }
  told.not_run = told.items - told.answered;
  out.unknown = replies->size() - known;
  return out;
}

std::string to_json(const item& of, const score::verdict& verdict) {
  json::array steps;
  for (const auto& one : verdict.steps) steps.push_back(json::object{{"name", one.name}, {"text", one.text}});
  json::object further;
  for (const auto& one : verdict.further) further.emplace_back(std::string(one.metric), one.value);
  return json::to_text(json::object{
      {"id", of.id},
      {"category", json::text_or_null(of.category)},
      {"scored", verdict.scored},
      {"value", verdict.scored ? json::value(verdict.value) : json::value()},
      {"extracted", verdict.extracted},
      {"reason", verdict.reason},
      {"no_answer", verdict.no_answer},
      {"further", std::move(further)},
      {"steps", std::move(steps)},
  });
}

}  // namespace evalcore::run
