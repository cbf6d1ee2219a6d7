evalcore_test(engine
  SOURCES unit/test_engine_refusal.cpp
    unit/test_engine_machine.cpp unit/test_engine_next_token.cpp unit/test_engine_parity.cpp
    unit/test_engine_row_check.cpp unit/test_engine_step_plan.cpp
  LAYERS base chat engine)
