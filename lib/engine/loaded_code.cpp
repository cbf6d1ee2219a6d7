#include "engine/loaded_code.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <set>

#if defined(__APPLE__)
#include <mach-o/dyld.h>
#else
#include <link.h>
#endif

namespace evalcore::engine {
namespace {

std::set<std::string> loaded_files() {
  std::set<std::string> files;
#if defined(__APPLE__)
  for (std::uint32_t index = 0; index < ::_dyld_image_count(); ++index)
    files.insert(::_dyld_get_image_name(index));
#else
  ::dl_iterate_phdr(
      [](dl_phdr_info* one, std::size_t, void* into) {
        static_cast<std::set<std::string>*>(into)->insert(one->dlpi_name);
        return 0;
      },
      &files);
#endif
  return files;
}

std::string own_file() {
  Dl_info about{};
  if (::dladdr(reinterpret_cast<const void*>(&loaded_code), &about) == 0 || about.dli_fname == nullptr)
    return "";
  return about.dli_fname;
}

std::string described(const std::string& path) {
  struct stat file{};
  if (::stat(path.c_str(), &file) != 0) return path;
#if defined(__APPLE__)
  const auto& changed = file.st_mtimespec;
#else
  const auto& changed = file.st_mtim;
#endif
  return path + " " + std::to_string(file.st_size) + " " + std::to_string(changed.tv_sec) + "." +
         std::to_string(changed.tv_nsec);
}

}  // namespace

std::string loaded_code() {
  std::string text = described(own_file());
  for (const auto& file : loaded_files()) text += ", " + described(file);
  return text;
}

}  // namespace evalcore::engine
