evalcore_test(wire_completions
  SOURCES
    unit/capture.cpp
    unit/test_framing.cpp
    unit/test_loglikelihood.cpp
    unit/test_openai_completions.cpp
    unit/test_openai_completions_logprobs.cpp
    unit/test_openai_completions_stream.cpp
  LAYERS base chat wire)

# ── Every recorded exchange ──
evalcore_test(every_capture SOURCES unit/test_every_capture.cpp
  LAYERS base chat wire net LINK Boost::headers Threads::Threads)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME every_capture.expected
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tools/expect_captures.py" --check)
