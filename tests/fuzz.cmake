# Each target tests/fuzz/fuzz_NAME.cpp is one function. In every build a small driver runs it over recorded
# answers and over what fuzzing found (tests/data/fuzz/NAME); with EVALCORE_BUILD_FUZZ (clang) libFuzzer searches
# on from there.
set(EVALCORE_FUZZ_SECONDS 5 CACHE STRING "How long each fuzz target searches")

if(EVALCORE_BUILD_FUZZ)
  foreach(layer base chat wire score capi)
    target_compile_options(evalcore_${layer} PRIVATE -fsanitize=fuzzer-no-link)
  endforeach()
endif()

# evalcore_fuzz(NAME [RECORDED folders of tests/data] [OPTIONS of the driver] [SOURCES of lib] [LINK …]): SOURCES
# are compiled into the target, for layers that it has no other use for.
function(evalcore_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "RECORDED;OPTIONS;SOURCES;LINK")
  set(libraries evalcore_warnings evalcore_base evalcore_chat evalcore_wire ${arg_LINK})
  list(TRANSFORM arg_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/lib/")
  set(folders fuzz/${name} ${arg_RECORDED})
  list(TRANSFORM folders PREPEND "${PROJECT_SOURCE_DIR}/tests/data/")

  add_executable(replay_${name} fuzz/fuzz_${name}.cpp fuzz/replay_main.cpp ${arg_SOURCES})
  target_link_libraries(replay_${name} PRIVATE ${libraries})
  target_include_directories(replay_${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/lib")
  add_test(NAME replay_${name} COMMAND replay_${name} ${arg_OPTIONS} ${folders})
  set_tests_properties(replay_${name} PROPERTIES TIMEOUT 120)

  if(EVALCORE_BUILD_FUZZ)
    add_executable(fuzz_${name} fuzz/fuzz_${name}.cpp ${arg_SOURCES})
    target_link_libraries(fuzz_${name} PRIVATE ${libraries})
    target_include_directories(fuzz_${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/lib")
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    set(corpus "${CMAKE_CURRENT_BINARY_DIR}/corpus_${name}")
    file(MAKE_DIRECTORY "${corpus}")
    add_test(NAME fuzz_${name}_seeds COMMAND replay_${name} ${arg_OPTIONS} "--seeds=${corpus}" ${folders})
    set_tests_properties(fuzz_${name}_seeds PROPERTIES LABELS fuzz FIXTURES_SETUP corpus_${name})
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} -max_total_time=${EVALCORE_FUZZ_SECONDS} -timeout=10
      -rss_limit_mb=1024 -print_final_stats=1 "-artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/" "${corpus}")
    math(EXPR longest "${EVALCORE_FUZZ_SECONDS} + 120")
    set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz TIMEOUT ${longest} FIXTURES_REQUIRED corpus_${name})
  endif()
endfunction()

evalcore_fuzz(sse RECORDED captures responses)
evalcore_fuzz(anthropic_reply RECORDED captures)
evalcore_fuzz(chat_reply RECORDED captures)
evalcore_fuzz(completions_reply RECORDED captures)
evalcore_fuzz(responses_reply RECORDED responses)
evalcore_fuzz(headers RECORDED captures http OPTIONS --http SOURCES net/reply_parser.cpp LINK Boost::headers)
evalcore_fuzz(url SOURCES net/url.cpp)
evalcore_fuzz(extractors LINK evalcore_score)

# The C ABI stands on all layers.
set(everything evalcore_capi)
foreach(layer ${every_layer})
  list(APPEND everything evalcore_${layer})
  if(TARGET evalcore_${layer}_heavy)
    list(APPEND everything evalcore_${layer}_heavy)
  endif()
endforeach()
list(REMOVE_ITEM everything evalcore_base evalcore_chat evalcore_wire)
evalcore_fuzz(capi_sequence LINK ${everything})
