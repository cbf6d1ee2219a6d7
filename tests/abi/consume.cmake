# Uses an installed evalcore the way a stranger's project does.
#   cmake -DSTEP=install -DBUILD=… -DPREFIX=… -P consume.cmake
#   cmake -DSTEP=package -DPREFIX=… -DSOURCE=consumer_c -DWORK=… -DVERSION=… -P consume.cmake
#   cmake -DSTEP=pkgconfig -DPREFIX=… -DSOURCE=consumer_c -DWORK=… -DVERSION=… -DCC=… -P consume.cmake
#   cmake -DSTEP=subdirectory -DEVALCORE=… -DSOURCE=consumer_subdirectory -DWORK=… -DVERSION=… -P consume.cmake

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(expect_version program)
  execute_process(COMMAND ${ARGV} OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output STREQUAL VERSION)
    message(FATAL_ERROR "the consumer printed '${output}', not the version ${VERSION}")
  endif()
endfunction()

if(STEP STREQUAL "install")
  file(REMOVE_RECURSE "${PREFIX}")
  run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}")
  return()
endif()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
if(STEP STREQUAL "package")
  run("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${WORK}" -G Ninja "-DCMAKE_PREFIX_PATH=${PREFIX}")
  run("${CMAKE_COMMAND}" --build "${WORK}")
  expect_version("${WORK}/consumer")
elseif(STEP STREQUAL "subdirectory")
  run("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${WORK}" -G Ninja "-DEVALCORE=${EVALCORE}")
  run("${CMAKE_COMMAND}" --build "${WORK}" --target consumer)
  expect_version("${WORK}/consumer_linked")
elseif(STEP STREQUAL "pkgconfig")
  file(GLOB_RECURSE description "${PREFIX}/*/evalcore.pc")
  cmake_path(GET description PARENT_PATH folder)
  set(ENV{PKG_CONFIG_PATH} "${folder}")
  execute_process(COMMAND pkg-config --cflags --libs evalcore
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run("${CC}" -std=c99 -pedantic-errors -Wall -Wextra -Werror "${SOURCE}/main.c" -o "${WORK}/consumer" ${flags})
  cmake_path(GET folder PARENT_PATH libraries)
  expect_version("${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${libraries}" "${WORK}/consumer")
else()
  message(FATAL_ERROR "unknown STEP '${STEP}'")
endif()
