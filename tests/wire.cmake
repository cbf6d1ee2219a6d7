evalcore_test(wire
  SOURCES
    unit/capture.cpp
    unit/test_anthropic_captures.cpp
    unit/test_anthropic_encode.cpp
    unit/test_anthropic_errors.cpp
    unit/test_anthropic_stream.cpp
    unit/test_dialect_requests.cpp
    unit/test_json_damage.cpp
    unit/test_openai_chat_captures.cpp
    unit/test_openai_chat_details.cpp
    unit/test_openai_chat_dropped.cpp
    unit/test_openai_chat_encode.cpp
    unit/test_openai_chat_errors.cpp
    unit/test_openai_chat_quirks.cpp
    unit/test_sse.cpp
  LAYERS base chat wire)
