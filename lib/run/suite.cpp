#include <evalcore/run/suite.hpp>

#include <algorithm>
#include <compare>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "run/bfcl_file.hpp"
#include "run/suite_file.hpp"
#include "run/suite_line.hpp"
#include "run/suite_members.hpp"

namespace evalcore::run {
namespace {

error at_line(const suite_file& file, const extent& where, error what) {
  what.message.insert(0, file.at(where));
  return what;
}

result<json::value> parse_line(std::string_view text) {
  auto line = json::parse(text, json::repeated_keys::refused);
  if (line || line.error().code == errc::no_memory) return line;
  const auto& wrong = line.error().message;
  return bad_line(line.error().code == errc::unsupported ? wrong + "; leave one of them out"
                                                         : "not JSON (" + wrong + ")");
}

std::string without_endings(const std::string& path) {
  std::string name = std::filesystem::path(path).filename();
  for (const std::string_view ending : {".gz", ".jsonl", ".ndjson", ".json"}) {
    if (name.size() > ending.size() && name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  return name;
}

/// A suite up to this size is held as it was read: that is worth little memory and much time, as a run looks
/// at each item several times. Of a larger one a part would gain nothing.
constexpr std::size_t held_bytes = std::size_t{4} << 20U;

struct id_mark {
  std::size_t hash = 0;
  std::uint32_t entry = 0;
  auto operator<=>(const id_mark&) const = default;
};

}  // namespace

struct suite::impl {
  suite_file questions;
  std::vector<extent> entries;
  std::deque<item> held;                  ///< All or none; none of a BFCL suite, whose targets are elsewhere.
  std::vector<id_mark> ids;               ///< Until they are checked.
  std::optional<std::size_t> with_tools;  ///< The first.
  std::string task;
  std::string hash;

  bool in_memory = false;
  bool bfcl = false;
  std::string category;  ///< As the name of a BFCL file tells it.
  suite_file answers;
  std::vector<extent> targets;  ///< In the order of `entries`; empty when there is no answers file.

  /// The item, its target still missing in a BFCL suite.
  [[nodiscard]] result<item> item_of(const json::value& line) const {
    return bfcl ? bfcl_item(line, category) : plain_item(line);
  }

  result<void> index_line(std::string_view text, const extent& where) {
    auto line = parse_line(text);
    if (!line) return at_line(questions, where, std::move(line).error());
    if (entries.empty()) bfcl = bfcl || is_bfcl_line(*line);
    if (bfcl && in_memory) {
      return at_line(
          questions, where,
          bad_line("a question of BFCL, whose answer stands in another file; open the file of questions"));
    }
    auto one = item_of(*line);
    if (!one) return at_line(questions, where, std::move(one).error());
    if (!with_tools && !one->request.tools.empty()) with_tools = entries.size();
    ids.push_back({std::hash<std::string>{}(one->id), static_cast<std::uint32_t>(entries.size())});
    entries.push_back(where);
    if (!bfcl) hold(*std::move(one), where);
    return {};
  }

  void hold(item&& one, const extent& where) {
    if (where.offset + where.length > held_bytes) {
      held = std::deque<item>();
      return;
    }
    one.line = where.line;
    held.push_back(std::move(one));
  }

  /// Ids are not held: those with the same hash are read again.
  [[nodiscard]] result<void> check_ids() {
    std::ranges::sort(ids);
    for (std::size_t at = 1; at < ids.size(); ++at) {
      for (std::size_t twin = at; twin > 0 && ids[twin - 1].hash == ids[at].hash; --twin) {
        if (auto apart = check_apart(entries[ids[twin - 1].entry], entries[ids[at].entry]); !apart)
          return apart;
      }
    }
    ids = std::vector<id_mark>();  // Not {}, which would keep the memory.
    return {};
  }

  [[nodiscard]] result<void> check_apart(const extent& first, const extent& second) const {
    const auto one = id_at(first);
    if (!one) return one.error();
    const auto other = id_at(second);
    if (!other) return other.error();
    if (*one != *other) return {};
    std::string id;
    json::append_quoted(id, *one);
    return at_line(questions, second,
                   bad_line("the id " + id + " stands in line " + std::to_string(first.line) +
                            " already; ids must be unique"));
  }

  [[nodiscard]] result<std::string> id_at(const extent& where) const {
    auto text = questions.read(where);
    if (!text) return std::move(text).error();
    auto line = parse_line(*text);
    if (!line) return at_line(questions, where, std::move(line).error());
    return read_id(*line);
  }

  result<void> index_answers(const std::string& path, sha256& hashed) {
    auto opened = suite_file::open(path);
    if (!opened) {
      auto failure = std::move(opened).error();
      failure.message += "; it holds the answers to " + questions.path();
      return failure;
    }
    answers = *std::move(opened);
    std::unordered_map<std::string, extent> found;
    const auto walked =
        answers.for_each_line(hashed, [&](std::string_view text, const extent& where) -> result<void> {
          auto line = parse_line(text);
          if (!line) return at_line(answers, where, std::move(line).error());
          auto id = read_id(*line);
          if (!id) return at_line(answers, where, std::move(id).error());
          if (auto target = bfcl_target(*line); !target)
            return at_line(answers, where, std::move(target).error());
          const auto [before, fresh] = found.emplace(*std::move(id), where);
          if (!fresh) {
            return at_line(
                answers, where,
                bad_line("this id stands in line " + std::to_string(before->second.line) + " already"));
          }
          return {};
        });
    if (!walked) return walked;
    targets.reserve(entries.size());
    for (const auto& one : entries) {
      const auto id = id_at(one);
      if (!id) return id.error();
      const auto answer = found.find(*id);
      if (answer == found.end()) {
        return at_line(questions, one, bad_line("no line of " + path + " answers this id"));
      }
      targets.push_back(answer->second);
    }
    return {};
  }

  [[nodiscard]] result<json::value> target(std::size_t index) const {
    auto text = answers.read(targets[index]);
    if (!text) return std::move(text).error();
    auto line = parse_line(*text);
    if (!line) return at_line(answers, targets[index], std::move(line).error());
    return bfcl_target(*line);
  }
};

suite::suite(std::unique_ptr<impl> state) : impl_(std::move(state)) {}
suite::~suite() = default;
suite::suite(suite&&) noexcept = default;
suite& suite::operator=(suite&&) noexcept = default;

result<suite> suite::open(const std::string& path, const std::string& answers_path) {
  auto state = std::make_unique<impl>();
  auto opened = suite_file::open(path);
  if (!opened) return std::move(opened).error();
  state->questions = *std::move(opened);
  if (auto category = bfcl_category(path)) {
    state->bfcl = true;
    state->category = *std::move(category);
  }
  return from(std::move(state), answers_path);
}

result<suite> suite::from_text(const std::string& name, std::string lines) {
  auto state = std::make_unique<impl>();
  state->questions = suite_file::in_memory(name, std::move(lines));
  state->in_memory = true;
  return from(std::move(state), {});
}

result<suite> suite::from(std::unique_ptr<impl> state, const std::string& answers_path) {
  const std::string& path = state->questions.path();
  sha256 hash;
  const auto walked = state->questions.for_each_line(
      hash, [&](std::string_view text, const extent& where) { return state->index_line(text, where); });
  if (!walked) return walked.error();
  if (state->entries.empty()) return bad_line(path + " holds no item");
  if (auto unique = state->check_ids(); !unique) return std::move(unique).error();
  if (state->bfcl && (bfcl_has_answers(state->category) || !answers_path.empty())) {
    auto indexed = state->index_answers(bfcl_answers_path(path, answers_path), hash);
    if (!indexed) return std::move(indexed).error();
  }
  state->task = state->bfcl ? "bfcl" : without_endings(path);
  state->hash = hash.hex();
  return suite(std::move(state));
}

std::size_t suite::size() const noexcept { return impl_->entries.size(); }

result<item> suite::get(std::size_t index) const {
  const auto& where = impl_->entries.at(index);
  if (index < impl_->held.size()) {
    if (auto same = impl_->questions.check_unchanged(); !same) return std::move(same).error();
    return impl_->held[index];
  }
  auto text = impl_->questions.read(where);
  if (!text) return std::move(text).error();
  auto line = parse_line(*text);
  if (!line) return at_line(impl_->questions, where, std::move(line).error());
  auto one = impl_->item_of(*line);
  if (!one) return at_line(impl_->questions, where, std::move(one).error());
  one->line = where.line;
  if (!impl_->targets.empty()) {
    auto target = impl_->target(index);
    if (!target) return std::move(target).error();
    one->target = *std::move(target);
  }
  return one;
}

result<std::string> suite::line(std::size_t index) const {
  return impl_->questions.read(impl_->entries.at(index));
}

std::optional<std::size_t> suite::first_with_tools() const noexcept { return impl_->with_tools; }

const std::string& suite::path() const noexcept { return impl_->questions.path(); }
const std::string& suite::task() const noexcept { return impl_->task; }
const std::string& suite::hash() const noexcept { return impl_->hash; }

}  // namespace evalcore::run
