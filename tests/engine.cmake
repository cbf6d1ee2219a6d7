evalcore_test(engine
  SOURCES unit/test_engine_refusal.cpp
  LAYERS base chat engine)
