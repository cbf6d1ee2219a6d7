# The parts of a report's page as a C++ source, which defines report_part(). CHART may be empty.
#   cmake -DOUT=FILE "-DFILES=FILE;FILE…" -DCHART=FILE -P EmbedReport.cmake
cmake_policy(VERSION 3.25)
set(arrays "")
set(rows "")
set(number 0)
foreach(path ${FILES} ${CHART})
  get_filename_component(name "${path}" NAME)
  if(path STREQUAL CHART)
    set(name chart.js)
  endif()
  file(READ "${path}" bytes HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "constexpr char part_${number}[] = {${bytes}};\n")
  string(APPEND rows "  if (name == \"${name}\") return {part_${number}, sizeof part_${number}};\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUT}.new" "#include \"run/report_parts.hpp\"\n
namespace evalcore::run {
namespace {\n
${arrays}
}  // namespace\n
std::string_view report_part(std::string_view name) noexcept {
${rows}  return {};
}\n
}  // namespace evalcore::run
")
file(RENAME "${OUT}.new" "${OUT}")
