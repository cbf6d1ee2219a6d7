evalcore_test(wire_responses
  SOURCES
    unit/capture.cpp
    unit/test_openai_responses.cpp
    unit/test_openai_responses_encode.cpp
    unit/test_openai_responses_stream.cpp
  LAYERS base chat wire)
