add_library(evalcore_warnings INTERFACE)
# Not -Wmissing-field-initializers: a designated initializer names what differs from the defaults.
target_compile_options(evalcore_warnings INTERFACE
  -Wall -Wextra -Wno-missing-field-initializers -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-align -Wunused
  -Woverloaded-virtual -Wconversion -Wsign-conversion -Wnull-dereference -Wformat=2
  $<$<BOOL:${EVALCORE_WERROR}>:-Werror>)
# These two misfire in optimised GCC 12 builds of std::variant and std::string.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(evalcore_warnings INTERFACE -Wno-null-dereference -Wno-maybe-uninitialized)
endif()
