# The C ABI, and the rules that hold the products and folders together.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(abi "${CMAKE_CURRENT_SOURCE_DIR}/abi")

# ── The C ABI ──
set(strict_c -std=c99 -pedantic -Wall -Wextra -Wstrict-prototypes -Werror)
set(strict_cxx -std=c++11 -pedantic -Wall -Wextra -Wold-style-cast -Werror)

add_executable(test_capi capi/test_abi.c)
target_link_libraries(test_capi PRIVATE evalcore::c)
target_compile_options(test_capi PRIVATE ${strict_c})
target_compile_definitions(test_capi PRIVATE EXPECTED_VERSION="${PROJECT_VERSION}")
add_test(NAME capi.program COMMAND test_capi)

set(every_layer base stats chat wire net prefix engine backend score pool run)

# An engine as a host would write one, and what evalcore makes of it.
add_library(evalcore_toy_engine OBJECT capi/toy_engine.c)
target_include_directories(evalcore_toy_engine PUBLIC "${PROJECT_SOURCE_DIR}/include" capi)
target_compile_options(evalcore_toy_engine PRIVATE ${strict_c})
evalcore_test(table_engine
  SOURCES capi/test_table_engine.cpp capi/test_table_contract.cpp capi/test_engine_threads.cpp unit/failing_new.cpp
  LAYERS ${every_layer}
  LINK evalcore_capi evalcore_toy_engine
  LABEL threads)
evalcore_test(capi_host
  SOURCES capi/test_pool_threads.cpp capi/test_handles.cpp capi/test_event_queue.cpp capi/test_openings.cpp
    capi/test_played_backend.cpp
    capi/test_run_options.cpp
  LAYERS ${every_layer}
  LINK evalcore_capi
  LABEL threads)

add_executable(test_capi_engine capi/test_engine.c capi/layout.c)
target_link_libraries(test_capi_engine PRIVATE evalcore::c evalcore_toy_engine)
target_compile_options(test_capi_engine PRIVATE ${strict_c})
add_test(NAME capi.engine COMMAND test_capi_engine)
set_tests_properties(capi.engine PROPERTIES TIMEOUT 120 LABELS threads)


foreach(host pool misuse guest run host_scorer episodes host_backend gate)
  add_executable(test_capi_${host} capi/test_${host}.c)
  target_link_libraries(test_capi_${host} PRIVATE evalcore::c)
  target_compile_options(test_capi_${host} PRIVATE ${strict_c})
  target_compile_definitions(test_capi_${host} PRIVATE DATA="${CMAKE_CURRENT_SOURCE_DIR}/data/capi")
  add_test(NAME capi.${host} COMMAND test_capi_${host})
  set_tests_properties(capi.${host} PROPERTIES TIMEOUT 120 LABELS threads)
endforeach()

add_test(NAME capi.snippets
  COMMAND "${Python3_EXECUTABLE}" "${abi}/check_snippets.py" "${PROJECT_SOURCE_DIR}" docs/c-api.md docs/cpp.md docs/engine.md docs/swift.md)

file(GLOB c_headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include"
  "${PROJECT_SOURCE_DIR}/include/evalcore/*.h" "${PROJECT_SOURCE_DIR}/include/evalcore/c/*.h")
foreach(header ${c_headers})
  cmake_path(GET header STEM name)
  set(alone -fsyntax-only -I "${PROJECT_SOURCE_DIR}/include" -include ${header})
  add_test(NAME capi.header.${name}.c99 COMMAND "${CMAKE_C_COMPILER}" ${strict_c} ${alone} -x c /dev/null)
  add_test(NAME capi.header.${name}.cxx11
    COMMAND "${CMAKE_CXX_COMPILER}" ${strict_cxx} ${alone} -x c++ /dev/null)
endforeach()

add_test(NAME capi.exports COMMAND "${Python3_EXECUTABLE}" "${abi}/check_library.py" $<TARGET_FILE:evalcore_c>
  "${PROJECT_SOURCE_DIR}/capi/exports.txt" "${PROJECT_SOURCE_DIR}/include/evalcore/c"
  libevalcore.so.${EVALCORE_ABI_MAJOR})

# ── Order of the folders ──
add_test(NAME layers COMMAND "${Python3_EXECUTABLE}" "${abi}/check_layers.py" "${PROJECT_SOURCE_DIR}")
add_test(NAME layers.self_test COMMAND "${Python3_EXECUTABLE}" "${abi}/check_layers.py" --self-test)

# ── Tests that tables name: of public bug reports, and of what the engine's scheduler and cache must do ──
foreach(table public_reports engine_behaviours)
  add_test(NAME ${table}
    COMMAND "${Python3_EXECUTABLE}" "${abi}/check_test_tables.py" "${PROJECT_SOURCE_DIR}" ${table})
endforeach()
add_test(NAME test_tables.self_test COMMAND "${Python3_EXECUTABLE}" "${abi}/check_test_tables.py" --self-test)

# ── The sum that scripts/test prints, and the reports of the demo and of the smoke ──
foreach(script count_results demo_report throughput_smoke)
  add_test(NAME scripts.${script}
    COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/scripts/test_${script}.py")
endforeach()

# What follows looks at products as they are shipped.
if(EVALCORE_SANITIZE)
  return()
endif()

# ── Every public C++ header compiles alone ──
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include"
  "${PROJECT_SOURCE_DIR}/include/evalcore/*.hpp")
set(units "")
foreach(header ${headers})
  string(REPLACE "/" "_" unit "${header}")
  set(unit "${CMAKE_CURRENT_BINARY_DIR}/headers/${unit}.cpp")
  file(CONFIGURE OUTPUT "${unit}" CONTENT "#include <${header}>\n" @ONLY)
  list(APPEND units "${unit}")
endforeach()
add_library(evalcore_headers_alone OBJECT ${units})
target_link_libraries(evalcore_headers_alone PRIVATE evalcore_warnings)
target_include_directories(evalcore_headers_alone PRIVATE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/generated")

# ── The ABI against the dump that is kept ──
find_program(ABIDW abidw)
find_program(ABIDIFF abidiff)
if(ABIDW AND ABIDIFF AND CMAKE_BUILD_TYPE MATCHES "^(Debug|RelWithDebInfo)$")
  add_test(NAME capi.abidiff COMMAND "${ABIDIFF}" --exported-interfaces-only --no-architecture "${abi}/baseline.abi" $<TARGET_FILE:evalcore_c>)
  add_custom_target(abi-baseline
    COMMAND "${ABIDW}" --exported-interfaces-only --no-architecture --no-corpus-path --no-comp-dir-path
      --no-show-locs --no-elf-needed --type-id-style hash
      --headers-dir "${PROJECT_SOURCE_DIR}/include/evalcore/c" --drop-private-types --out-file "${abi}/baseline.abi"
      $<TARGET_FILE:evalcore_c>
    COMMAND sed -i "s| path='[^']*/| path='|" "${abi}/baseline.abi"
    DEPENDS evalcore_c VERBATIM)
else()
  message(STATUS "ABI comparison is left out: it needs abigail-tools and a build with debug information")
endif()

# ── The installed tree, used by strangers ──
set(prefix "${CMAKE_CURRENT_BINARY_DIR}/install")
function(evalcore_consumer_test name)
  add_test(NAME install.${name} COMMAND "${CMAKE_COMMAND}" "-DPREFIX=${prefix}" "-DVERSION=${PROJECT_VERSION}"
    "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/consumers/${name}" ${ARGN} -P "${abi}/consume.cmake")
  set_tests_properties(install.${name} PROPERTIES FIXTURES_REQUIRED installed)
endfunction()
add_test(NAME install COMMAND "${CMAKE_COMMAND}" -DSTEP=install "-DBUILD=${PROJECT_BINARY_DIR}"
  "-DPREFIX=${prefix}" -P "${abi}/consume.cmake")
set_tests_properties(install PROPERTIES FIXTURES_SETUP installed)
evalcore_consumer_test(c -DSTEP=package "-DSOURCE=${abi}/consumer_c")
evalcore_consumer_test(cpp -DSTEP=package "-DSOURCE=${abi}/consumer_cpp")
evalcore_consumer_test(pkgconfig -DSTEP=pkgconfig "-DSOURCE=${abi}/consumer_c" "-DCC=${CMAKE_C_COMPILER}")
evalcore_consumer_test(subdirectory -DSTEP=subdirectory "-DSOURCE=${abi}/consumer_subdirectory"
  "-DEVALCORE=${PROJECT_SOURCE_DIR}")
