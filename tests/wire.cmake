evalcore_test(wire
  SOURCES
    unit/test_sse.cpp
  LAYERS base chat wire)
