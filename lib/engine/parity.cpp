#include <evalcore/engine/parity.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "engine/lockstep.hpp"

namespace evalcore::engine {
namespace {

/// Long enough that attention over it takes every path that a longer one takes on the engines known.
constexpr std::uint32_t long_prefix = 576;
constexpr std::uint32_t tail_tokens = 9;
/// Sizes of batches that known engines compute each in a way of its own: in fours and eights, and what is
/// left over.
constexpr std::array<std::uint32_t, 9> batch_sizes{16, 13, 11, 8, 7, 5, 4, 3, 2};
static_assert(batch_sizes.front() == widest_checked);
/// In a single one a difference may not show, nor in the one token that is chosen.
constexpr std::uint32_t least_batches = 9;
constexpr std::uint32_t compared_tokens = 16;
constexpr std::uint32_t least_answer = 4;

/// Tokens of a row's answer, so that batches of all `rows` shrink by those sizes. The first comes with the
/// prompt, and each other one from a batch.
std::uint32_t answer_tokens(std::size_t row, std::size_t rows) {
  if (rows <= 1) return least_answer;
  std::uint32_t sizes = 1;
  std::uint32_t with_row = 1;
  for (const auto size : batch_sizes) {
    if (size >= rows) continue;
    ++sizes;
    if (row < size) ++with_row;
  }
  return 1 + (least_batches + sizes - 1) / sizes * with_row;
}

constexpr std::string_view words =
    "The library keeps two clocks, and neither is right. One was a gift; the other came with the house in "
    "1893. "
    "Visitors ask which of them to trust: \"Both,\" says the keeper, \"as long as you subtract.\" ";

/// The rows of the test: one prefix, and tails that differ.
struct material {
  std::vector<std::vector<token>> prompts;
  std::uint32_t prefix = 0;
};

/// Without prompts: the context is too short for any, or the text has no tokens.
result<material> make_material(step_engine& engine, std::size_t rows) {
  auto text = engine.tokenize(words, false);
  if (!text) return std::move(text).error();
  const auto grid = engine.about().prefix_grid;
  const auto context = engine.about().context_tokens;
  const auto rest = tail_tokens + answer_tokens(0, rows);
  const auto room = context > rest ? context - rest : 0;
  material made;
  made.prefix = std::min(long_prefix, room) / grid * grid;
  if (made.prefix == 0 || text->empty()) return made;
  const auto at = [&](std::size_t index) { return (*text)[index % text->size()]; };
  for (std::size_t row = 0; row < rows; ++row) {
    auto& prompt = made.prompts.emplace_back();
    for (std::size_t index = 0; index < made.prefix; ++index) prompt.push_back(at(index));
    for (std::size_t index = 0; index < tail_tokens; ++index) prompt.push_back(at(row * 5 + index * 3 + 1));
  }
  return made;
}

std::string difference(const std::string& where, std::size_t row, const row_answer& got,
                       const row_answer& wanted) {
  std::size_t at = 0;
  const auto least = std::min({got.logprobs.size(), wanted.logprobs.size()});
  while (at < least && got.logprobs[at] == wanted.logprobs[at]) ++at;
  const auto begins = where + ", row " + std::to_string(row + 1) + ": ";
  if (least == 0) return begins + "other tokens than alone";
  if (at == least) return begins + "tokens that were not chosen have other log probabilities than alone";
  return begins + "token " + std::to_string(at + 1) + " has the log probability " +
         std::to_string(got.logprobs[at]) + ", not " + std::to_string(wanted.logprobs[at]) + " as alone";
}

class check {
 public:
  check(step_engine& engine, material made) : engine_(engine), material_(std::move(made)) {}

  result<parity_verdict> run() {
    if (auto good = compute_alone(); !good) return std::move(good).error();
    const auto rows = static_cast<std::uint32_t>(material_.prompts.size());
    auto same = compare(rows);
    if (same && *same) verdict_.width = rows;
    for (std::uint32_t width = 1; same && verdict_.width < width && width < rows; width *= 2) {
      same = compare(width);
      if (!same || !*same) break;
      verdict_.width = width;
    }
    if (!same) return std::move(same).error();
    return verdict_;
  }

 private:
  void note(std::string why) {
    if (verdict_.why.empty()) verdict_.why = std::move(why);
  }

  planned_row row_of(std::size_t index) const {
    auto row = greedy_row(material_.prompts[index], answer_tokens(index, material_.prompts.size()));
    row.request.top_logprobs = compared_tokens;
    return row;
  }

  planned_row warm(std::size_t index) const {
    auto row = row_of(index);
    if (!verdict_.restores) return row;
    row.request.from = prefix_;
    row.request.restored = material_.prefix;
    return row;
  }

  result<row_answer> alone(planned_row row) {
    std::vector<planned_row> one;
    one.push_back(std::move(row));
    auto answers = run_rows(engine_, std::move(one), 1, 1);
    if (!answers) return std::move(answers).error();
    return std::move(answers->front());
  }

  /// The first row both ways, and then all others, from the prefix if that is the same.
  result<void> compute_alone() {
    auto cold = row_of(0);
    cold.request.cuts = {material_.prefix};
    auto first = alone(std::move(cold));
    if (!first) return std::move(first).error();
    alone_.push_back(*std::move(first));
    prefix_ = std::exchange(alone_.front().kept, nullptr);
    if (auto good = check_prefix(); !good) return good;
    for (std::size_t row = 1; row < material_.prompts.size(); ++row) {
      auto answer = alone(warm(row));
      if (!answer) return std::move(answer).error();
      alone_.push_back(*std::move(answer));
    }
    return {};
  }

  /// An engine that cannot keep one, or not begin with it, computes all prompts as a whole.
  result<void> check_prefix() {
    if (!prefix_) {
      if (engine_.about().snapshots) note("the engine gave no snapshot");
      return {};
    }
    verdict_.restores = true;
    auto again = alone(warm(0));
    if (!again && again.error().code == errc::no_memory) return std::move(again).error();
    verdict_.restores = again && again->same_bits(alone_.front());
    if (!again) {
      note("a prefix cannot be restored: " + again.error().message);
    } else if (!verdict_.restores) {
      note(difference("from a restored prefix", 0, *again, alone_.front()));
    }
    return {};
  }

  result<bool> compare(std::uint32_t width) {
    const std::size_t count = material_.prompts.size();
    std::vector<planned_row> rows;
    for (std::size_t row = 0; row < count; ++row) rows.push_back(warm(row));
    auto answers = run_rows(engine_, std::move(rows), count, width);
    if (!answers) return std::move(answers).error();
    for (std::size_t row = 0; row < count; ++row) {
      if ((*answers)[row].same_bits(alone_[row])) continue;
      note(difference("in batches of " + std::to_string(width), row, (*answers)[row], alone_[row]));
      return false;
    }
    return true;
  }

  step_engine& engine_;
  material material_;
  std::vector<row_answer> alone_;
  std::shared_ptr<const snapshot> prefix_;
  parity_verdict verdict_;
};

}  // namespace

result<parity_verdict> check_parity(step_engine& engine) {
  const auto& about = engine.about();
  const auto rows = std::min(about.max_rows, widest_checked);
  if (rows == 1 && !about.snapshots) return parity_verdict{.width = 1, .restores = false, .why = {}};
  auto made = make_material(engine, rows);
  if (!made) return std::move(made).error();
  if (made->prompts.empty()) {
    return parity_verdict{.why = "a context of " + std::to_string(about.context_tokens) +
                                 " tokens is too short for a comparison"};
  }
  auto found = check(engine, *std::move(made)).run();
  if (found) return found;
  const auto& why = found.error();
  const bool refused = why.code == errc::unsupported || why.code == errc::invalid_argument ||
                       why.code == errc::context_overflow || why.code == errc::busy;
  if (!refused) return found;
  return parity_verdict{.why = "the rows of a comparison were refused: " + why.message};
}

std::string note_of(const parity_verdict& verdict, const traits& engine, std::uint32_t rows) {
  std::string note;
  if (verdict.width < std::min(rows, engine.max_rows)) {
    note = verdict.width <= 1 ? "rows are computed one by one"
                              : "at most " + std::to_string(verdict.width) + " rows share a batch";
  }
  if (engine.snapshots && !verdict.restores)
    note += std::string(note.empty() ? "" : ", and ") + "prefixes are not kept";
  if (note.empty()) return note;
  return note + ", so that an answer does not depend on the others: " +
         (verdict.why.empty() ? "wider batches are not tested" : verdict.why);
}

}  // namespace evalcore::engine
