#include "engine/machine_memory.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>

namespace evalcore::engine {
namespace {

using bytes = std::optional<std::uint64_t>;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream opened(file);
  return {std::istreambuf_iterator<char>(opened), {}};
}

/// What does not begin with a number, such as `max`, is none.
bytes number_in(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc{} ? bytes(number) : std::nullopt;
}

/// The number in the line that begins with `name`.
bytes line_of(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    if (text.starts_with(name)) return number_in(text.substr(name.size()));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return std::nullopt;
}

/// /proc tells in kB.
bytes kilobytes_of(std::string_view text, std::string_view name) {
  const auto number = line_of(text, name);
  return number ? bytes(*number * 1024) : std::nullopt;
}

bytes less(bytes one, bytes other) { return one && other ? std::min(*one, *other) : one ? one : other; }

std::uint64_t rest(std::uint64_t of, std::uint64_t taken) { return of - std::min(of, taken); }

/// How one version of cgroups names its files.
struct group_files {
  std::initializer_list<const char*> limits;
  const char* used;
  std::initializer_list<const char*> caches;  ///< In memory.stat: files that can be let go of.
};
const group_files version_1{
    {"memory.limit_in_bytes"}, "memory.usage_in_bytes", {"total_active_file ", "total_inactive_file "}};
const group_files version_2{
    {"memory.max", "memory.high"}, "memory.current", {"active_file ", "inactive_file "}};

struct bounds {
  bytes all;
  bytes free;

  void narrow(const std::filesystem::path& folder, const group_files& named) {
    bytes limit;
    for (const char* file : named.limits) limit = less(limit, number_in(text_of(folder / file)));
    all = less(all, limit);
    const auto used = number_in(text_of(folder / named.used));
    if (!limit || !used) return;
    const auto stat = text_of(folder / "memory.stat");
    std::uint64_t cached = 0;
    for (const char* name : named.caches) cached += line_of(stat, name).value_or(0);
    free = less(free, rest(*limit, rest(*used, cached)));
  }
};

/// Of the process's group and of all above it. Inside of a container the path may be the host's, and its
/// files stand at the mount's root, which is looked at in any case.
bounds group_bounds(const std::filesystem::path& root) {
  bounds found;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto kind = line.find(':');
    const auto at = line.find(':', kind + 1);
    if (kind == std::string::npos || at == std::string::npos) continue;
    const auto controllers = "," + line.substr(kind + 1, at - kind - 1) + ",";
    const bool second = controllers == ",,";
    if (!second && controllers.find(",memory,") == std::string::npos) continue;
    const auto mount = root / (second ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
    for (auto path = std::filesystem::path(line.substr(at + 1)).relative_path();; path = path.parent_path()) {
      found.narrow(mount / path, second ? version_2 : version_1);
      if (path.empty()) break;
    }
  }
  return found;
}

}  // namespace

memory_report machine_memory(const std::filesystem::path& root) {
  const auto machine = text_of(root / "proc/meminfo");
  const auto process = text_of(root / "proc/self/status");
  const auto group = group_bounds(root);
  memory_report now{.working_set = less(kilobytes_of(machine, "MemTotal:"), group.all),
                    .active = kilobytes_of(process, "VmRSS:"),
                    .free_ram = less(kilobytes_of(machine, "MemAvailable:"), group.free)};
  if (now.free_ram) now.free_ram = rest(*now.free_ram, kilobytes_of(process, "RssFile:").value_or(0));
  return now;
}

}  // namespace evalcore::engine
