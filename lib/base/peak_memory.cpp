#include <evalcore/base/peak_memory.hpp>

#include <fstream>
#include <string>

namespace evalcore {

std::optional<std::uint64_t> peak_memory() noexcept try {
  // Not what getrusage() tells: that begins with what the parent had.
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name; std::getline(status, name)) {
    std::uint64_t kilobytes = 0;
    if (name == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return std::nullopt;
} catch (...) {
  return std::nullopt;
}

}  // namespace evalcore
