#include "score/pattern.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <utility>

namespace evalcore::score {
namespace {

/// PCRE2's own bound, which begins again at each place of the text where a match could begin.
constexpr std::uint32_t most_steps_of_place = 1'000'000;
/// Kilobytes of heap for one search.
constexpr std::uint32_t most_heap = 64 * 1024;
constexpr std::int64_t most_program = std::int64_t{8} << 20;

error bad_pattern(std::string why) {
  return fail(errc::invalid_argument, stage::score, "not a regular expression: " + std::move(why));
}

int take_step(pcre2_callout_block* /*where*/, void* bound) {
  auto& left = static_cast<search_steps*>(bound)->left;
  if (left == 0) return PCRE2_ERROR_CALLOUT;
  --left;
  return 0;
}

}  // namespace

struct pattern::engine {
  virtual ~engine() = default;
  [[nodiscard]] virtual result<std::optional<match>> find(std::string_view text, std::size_t from,
                                                          search_steps& bound) const = 0;
  [[nodiscard]] virtual std::size_t groups() const noexcept = 0;
};

struct pattern::linear final : pattern::engine {
  re2::RE2 code;

  linear(std::string_view text, const re2::RE2::Options& how)
      : code(re2::StringPiece(text.data(), text.size()), how) {}

  [[nodiscard]] result<std::optional<match>> find(std::string_view text, std::size_t from,
                                                  search_steps& /*bound*/) const override {
    std::vector<re2::StringPiece> found(groups() + 1);
    const bool any = code.Match(re2::StringPiece(text.data(), text.size()), from, text.size(),
                                re2::RE2::UNANCHORED, found.data(), static_cast<int>(found.size()));
    if (!any) return std::optional<match>();
    match out;
    for (const auto& one : found) {
      out.push_back(one.data() == nullptr ? std::nullopt
                                          : std::optional(std::string_view(one.data(), one.size())));
    }
    return std::optional(std::move(out));
  }
  [[nodiscard]] std::size_t groups() const noexcept override {
    return static_cast<std::size_t>(code.NumberOfCapturingGroups());
  }
};

struct pattern::backtracking final : pattern::engine {
  struct freed {
    void operator()(pcre2_code* one) const { pcre2_code_free(one); }
    void operator()(pcre2_match_data* one) const { pcre2_match_data_free(one); }
    void operator()(pcre2_match_context* one) const { pcre2_match_context_free(one); }
  };
  std::unique_ptr<pcre2_code, freed> code;

  [[nodiscard]] result<std::optional<match>> find(std::string_view text, std::size_t from,
                                                  search_steps& bound) const override {
    const std::unique_ptr<pcre2_match_data, freed> found(
        pcre2_match_data_create_from_pattern(code.get(), nullptr));
    const std::unique_ptr<pcre2_match_context, freed> bounds(pcre2_match_context_create(nullptr));
    if (!found || !bounds) return fail(errc::no_memory, stage::score, "no memory for a regular expression");
    // Looking through the whole text before each search would take quadratic time.
    const std::uint32_t known = from > 0 ? PCRE2_NO_UTF_CHECK : 0;
    pcre2_set_match_limit(bounds.get(), most_steps_of_place);
    pcre2_set_heap_limit(bounds.get(), most_heap);
    pcre2_set_callout(bounds.get(), take_step, &bound);
    const int count = pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                                  known, found.get(), bounds.get());
    if (count == PCRE2_ERROR_NOMATCH) return std::optional<match>();
    if (count <= PCRE2_ERROR_UTF8_ERR1 && count >= PCRE2_ERROR_UTF8_ERR21) {
      return fail(errc::bad_reply, stage::score,
                  "the reply is not UTF-8, and the regular expression needs that");
    }
    if (count < 0) {
      return fail(errc::timeout, stage::score,
                  "the regular expression takes too many steps on this reply; write it without nested "
                  "repetitions, or without look-around and back-references");
    }
    const auto* ends = pcre2_get_ovector_pointer(found.get());
    match out;
    for (std::size_t i = 0; i <= groups(); ++i) {
      const auto begin = ends[2 * i];
      const auto end = ends[2 * i + 1];
      const bool took_part = static_cast<int>(i) < count && begin != PCRE2_UNSET && begin <= end;
      out.push_back(took_part ? std::optional(text.substr(begin, end - begin)) : std::nullopt);
    }
    return std::optional(std::move(out));
  }
  [[nodiscard]] std::size_t groups() const noexcept override {
    std::uint32_t count = 0;
    pcre2_pattern_info(code.get(), PCRE2_INFO_CAPTURECOUNT, &count);
    return count;
  }
};

result<pattern> pattern::compile(std::string_view text, pattern_flags how) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!how.ignore_case);
  options.set_dot_nl(how.dot_all);
  options.set_max_mem(most_program);
  auto made = std::make_shared<linear>(text, options);
  if (made->code.ok()) return pattern(std::move(made));
  // As RE2 has them: "$" not before a line end, and classes of ASCII. A call before each item that is tried
  // is the only count of steps that spans searches.
  return compile_backtracking(text, how, PCRE2_DOLLAR_ENDONLY | PCRE2_AUTO_CALLOUT);
}

result<pattern> pattern::compile_backtracking(std::string_view text, pattern_flags how) {
  return compile_backtracking(text, how, PCRE2_UCP);
}

result<pattern> pattern::compile_backtracking(std::string_view text, pattern_flags how,
                                              std::uint32_t options) {
  options |= PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C;
  if (how.ignore_case) options |= PCRE2_CASELESS;
  if (how.dot_all) options |= PCRE2_DOTALL;
  int failure = 0;
  PCRE2_SIZE where = 0;
  auto made = std::make_shared<backtracking>();
  made->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), options, &failure,
                                 &where, nullptr));
  if (made->code) return pattern(std::move(made));
  std::array<PCRE2_UCHAR, 256> why{};
  pcre2_get_error_message(failure, why.data(), why.size());
  return bad_pattern(std::string(reinterpret_cast<const char*>(why.data())) + ", at byte " +
                     std::to_string(where));
}

result<std::optional<pattern::match>> pattern::find(std::string_view text, std::size_t from,
                                                    search_steps& bound) const {
  return engine_->find(text, from, bound);
}

result<std::optional<pattern::match>> pattern::find(std::string_view text) const {
  search_steps bound;
  return find(text, 0, bound);
}

result<std::vector<pattern::match>> pattern::find_all(std::string_view text) const {
  std::vector<match> out;
  search_steps bound;
  for (std::size_t from = 0; from <= text.size();) {
    auto found = find(text, from, bound);
    if (!found) return std::move(found).error();
    if (!*found) break;
    from = behind(**found, text);
    out.push_back(*std::move(*found));
  }
  return out;
}

std::size_t pattern::groups() const noexcept { return engine_->groups(); }

std::size_t pattern::behind(const match& found, std::string_view text) noexcept {
  const auto whole = *found[0];
  auto out = static_cast<std::size_t>(whole.data() - text.data()) + std::max<std::size_t>(whole.size(), 1);
  // Not into the middle of a character.
  while (out < text.size() && (static_cast<unsigned char>(text[out]) & 0xC0U) == 0x80U) ++out;
  return out;
}

}  // namespace evalcore::score
