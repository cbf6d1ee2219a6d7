#include <cstdio>
#include <string>

#include <evalcore/base/json.hpp>

#include "commands.hpp"
#include "exit_status.hpp"
#include "open_backend.hpp"

namespace evalcore::cli {

result<int> backends_command(const backends_arguments& arguments) {
  if (arguments.json) {
    json::array list;
    for (const auto& one : selectors()) {
      list.push_back(json::object{{"name", one.name}, {"what", one.what}, {"needs", one.needs}});
    }
    std::printf("%s\n", json::to_text(list).c_str());
    return exit_status::done;
  }
  for (const auto& one : selectors()) {
    std::printf("%-14s %s\n%-14s needs %s\n", std::string(one.name).c_str(), std::string(one.what).c_str(),
                "", std::string(one.needs).c_str());
  }
  return exit_status::done;
}

}  // namespace evalcore::cli
