#include "backend/start_line.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace evalcore::backend {
namespace {

std::string_view flag_of(std::string_view argument) { return argument.substr(0, argument.find('=')); }

bool passes(const std::vector<std::string>& arguments, std::string_view flag) {
  return std::ranges::any_of(arguments, [&](const auto& one) { return flag_of(one) == flag; });
}

/// Many programs take the beginning of a long flag for the flag.
bool means(std::string_view given, std::string_view flag) {
  return given == flag || (given.size() > 2 && given.starts_with("--") && flag.starts_with(given));
}

bool sets_itself(const wire::start_line& start, std::string_view given) {
  const auto is_set = [&](const wire::start_step& step) {
    return !step.yields && step.flag.starts_with('-') && means(given, step.flag);
  };
  return std::ranges::any_of(start.steps, is_set) ||
         std::ranges::find(start.aliases, given) != start.aliases.end();
}

std::string parent_of(const std::string& model) {
  auto path = std::filesystem::absolute(model).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.parent_path().string();
}

/// The value of a step; absent when it is not there.
std::optional<std::string> value_of(std::string_view value, const managed_options& how, std::uint16_t port,
                                    const std::string& folder) {
  if (!value.starts_with('{')) return std::string(value);
  if (value == "{model}") return how.model;
  if (value == "{model_parent}") return parent_of(how.model);
  if (value == "{port}") return std::to_string(port);
  if (value == "{slots}") return std::to_string(how.slots);
  if (value == "{context}") return std::to_string(how.context_per_slot);
  if (value == "{total_context}") return std::to_string(how.slots * how.context_per_slot);
  if (value == "{threads}") return std::to_string(how.threads);
  if (folder.empty()) return std::nullopt;
  if (value == "{folder}") return folder;
  // Some servers append file names to the path as it stands.
  if (value == "{slot_folder}" && how.share_prefix) return folder + "/";
  return std::nullopt;
}

}  // namespace

bool uses(const wire::start_line& start, std::string_view value) noexcept {
  return std::ranges::find(start.steps, value, &wire::start_step::value) != start.steps.end();
}

result<void> check_start(const managed_options& how) {
  const std::string name(how.ways->name);
  const auto wrong = [](std::string what) {
    return fail(errc::invalid_argument, stage::config, std::move(what));
  };
  if (how.slots == 0) return wrong(name + " needs at least one slot");
  if (how.context_per_slot == 0) return wrong(name + " needs a context of at least one token a slot");
  if (how.threads == 0) return wrong(name + " needs at least one thread");
  for (const auto& argument : how.extra_args) {
    const std::string flag(flag_of(argument));
    if (sets_itself(how.ways->start, flag)) {
      return wrong(flag + " cannot be passed to " + name + ": evalcore sets it itself");
    }
  }
  return {};
}

std::vector<std::string> start_arguments(const managed_options& how, std::uint16_t port,
                                         const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& step : how.ways->start.steps) {
    if (step.yields && passes(how.extra_args, step.flag)) continue;
    const auto value = value_of(step.value, how, port, folder);
    if (!value) continue;
    if (!step.flag.empty()) out.emplace_back(step.flag);
    if (!step.value.empty()) out.push_back(*value);
  }
  out.insert(out.end(), how.extra_args.begin(), how.extra_args.end());
  return out;
}

}  // namespace evalcore::backend
