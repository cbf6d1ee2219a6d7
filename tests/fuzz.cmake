# Each target tests/fuzz/fuzz_NAME.cpp is one function. In every build a small driver runs it over the
# recorded answers and over what fuzzing found (tests/data/fuzz/NAME); with EVALCORE_BUILD_FUZZ (clang)
# libFuzzer searches on from there.
set(EVALCORE_FUZZ_SECONDS 5 CACHE STRING "How long each fuzz target searches")

if(EVALCORE_BUILD_FUZZ)
  foreach(layer base chat wire)
    target_compile_options(evalcore_${layer} PRIVATE -fsanitize=fuzzer-no-link)
  endforeach()
endif()

function(evalcore_fuzz name)
  set(layers evalcore_base evalcore_chat evalcore_wire)
  set(found "${PROJECT_SOURCE_DIR}/tests/data/fuzz/${name}")
  set(recorded "${PROJECT_SOURCE_DIR}/tests/data/captures")

  add_executable(replay_${name} fuzz/fuzz_${name}.cpp fuzz/replay_main.cpp)
  target_link_libraries(replay_${name} PRIVATE evalcore_warnings ${layers})
  add_test(NAME replay_${name} COMMAND replay_${name} "${recorded}" "${found}")
  set_tests_properties(replay_${name} PROPERTIES TIMEOUT 120)

  if(EVALCORE_BUILD_FUZZ)
    add_executable(fuzz_${name} fuzz/fuzz_${name}.cpp)
    target_link_libraries(fuzz_${name} PRIVATE evalcore_warnings ${layers})
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    set(corpus "${CMAKE_CURRENT_BINARY_DIR}/corpus_${name}")
    file(MAKE_DIRECTORY "${corpus}")
    add_test(NAME fuzz_${name}_seeds COMMAND replay_${name} "--seeds=${corpus}" "${recorded}" "${found}")
    set_tests_properties(fuzz_${name}_seeds PROPERTIES LABELS fuzz FIXTURES_SETUP corpus_${name})
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} -max_total_time=${EVALCORE_FUZZ_SECONDS} -timeout=10
      -rss_limit_mb=1024 -print_final_stats=1 "-artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/" "${corpus}")
    math(EXPR longest "${EVALCORE_FUZZ_SECONDS} + 120")
    set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz TIMEOUT ${longest} FIXTURES_REQUIRED corpus_${name})
  endif()
endfunction()

evalcore_fuzz(sse)
evalcore_fuzz(anthropic_reply)
evalcore_fuzz(chat_reply)
evalcore_fuzz(completions_reply)
