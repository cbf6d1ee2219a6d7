#include "engine/machine_memory.hpp"

#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

namespace evalcore::engine {
namespace {

/// The number in the line of this name, which both files tell in kB.
std::optional<std::uint64_t> bytes_in(std::string_view text, std::string_view name) {
  const auto line = text.find(name);
  if (line == std::string_view::npos) return std::nullopt;
  const auto digits = text.find_first_of("0123456789", line + name.size());
  if (digits == std::string_view::npos) return std::nullopt;
  std::uint64_t kilobytes = 0;
  const auto read = std::from_chars(text.data() + digits, text.data() + text.size(), kilobytes);
  if (read.ec != std::errc{}) return std::nullopt;
  return kilobytes * 1024;
}

std::string text_of_file(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

memory_report read_memory(std::string_view meminfo, std::string_view status) {
  return {.working_set = bytes_in(meminfo, "MemTotal:"),
          .active = bytes_in(status, "VmRSS:"),
          .free_ram = bytes_in(meminfo, "MemAvailable:")};
}

memory_report machine_memory() {
  return read_memory(text_of_file("/proc/meminfo"), text_of_file("/proc/self/status"));
}

}  // namespace evalcore::engine
