# One object library for each folder of lib/, named evalcore_<folder>, and one test program for each
# group of tests. Folders may use only folders below them; tests/unit checks the #include lines.

# evalcore_layer(NAME SOURCES a.cpp … [HEAVY b.cpp …] [LINK lib …])
# HEAVY sources include Boost and are compiled at most two at a time.
function(evalcore_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEAVY;LINK" ${ARGN})
  add_library(evalcore_${name} OBJECT ${arg_SOURCES})
  target_include_directories(evalcore_${name}
    PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/generated"
    PRIVATE "${PROJECT_SOURCE_DIR}/lib")
  target_link_libraries(evalcore_${name} PRIVATE evalcore_warnings PUBLIC ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY EVALCORE_LAYERS evalcore_${name})
  if(arg_HEAVY)
    add_library(evalcore_${name}_heavy OBJECT ${arg_HEAVY})
    target_include_directories(evalcore_${name}_heavy
      PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/generated" "${PROJECT_SOURCE_DIR}/lib")
    target_include_directories(evalcore_${name}_heavy SYSTEM PRIVATE ${Boost_INCLUDE_DIRS})
    target_link_libraries(evalcore_${name}_heavy PRIVATE evalcore_warnings PUBLIC ${arg_LINK})
    set_property(TARGET evalcore_${name}_heavy PROPERTY JOB_POOL_COMPILE evalcore_heavy)
    set_property(GLOBAL APPEND PROPERTY EVALCORE_LAYERS evalcore_${name}_heavy)
  endif()
endfunction()

# evalcore_test(NAME SOURCES test_a.cpp … LAYERS base chat …): program test_NAME, ctest name NAME.
# It links only the layers named, so one folder can be built and tested alone.
function(evalcore_test name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;LAYERS;LINK" ${ARGN})
  add_executable(test_${name} ${arg_SOURCES})
  set(objects evalcore_doctest_main)
  foreach(layer ${arg_LAYERS})
    list(APPEND objects evalcore_${layer})
    if(TARGET evalcore_${layer}_heavy)
      list(APPEND objects evalcore_${layer}_heavy)
    endif()
  endforeach()
  target_link_libraries(test_${name} PRIVATE evalcore_warnings ${objects} ${arg_LINK})
  target_include_directories(test_${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests" "${PROJECT_SOURCE_DIR}/lib")
  target_compile_definitions(test_${name} PRIVATE
    EVALCORE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data" EVALCORE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
  if(arg_LABEL)
    set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL})
  endif()
endfunction()
