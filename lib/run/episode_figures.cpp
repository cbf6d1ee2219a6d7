#include "run/episode_figures.hpp"

#include <evalcore/base/json.hpp>
#include <evalcore/base/json_optional.hpp>

namespace evalcore::run {
namespace {

void add(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& more) {
  if (more) sum = sum.value_or(0) + *more;
}

}  // namespace

void count(episode_figures& into, const chat::usage& reported) {
  into.replies += 1;
  add(into.prompt_tokens, reported.prompt_tokens);
  add(into.cached_tokens, reported.cached_tokens);
  add(into.completion_tokens, reported.completion_tokens);
}

std::string to_json(const episode_figures& of) {
  json::object ended;
  for (const auto& [why, episodes] : of.ended) ended.emplace_back(std::string(name(why)), episodes);
  return json::to_text(json::object{
      {"episodes", of.begun},
      {"ended", std::move(ended)},
      {"finished_before", of.finished_before},
      {"left", of.left},
      {"sent", of.sent},
      {"retried", of.retried},
      {"replies", of.replies},
      {"reused", of.reused},
      {"diverged", of.diverged},
      {"prompt_tokens", json::or_null(of.prompt_tokens)},
      {"cached_tokens", json::or_null(of.cached_tokens)},
      {"completion_tokens", json::or_null(of.completion_tokens)},
      {"possibly_paid_twice", of.possibly_paid_twice},
      {"wall_s", of.wall_s},
  });
}

}  // namespace evalcore::run
