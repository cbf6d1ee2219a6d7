evalcore_test(engine
  SOURCES unit/test_engine_refusal.cpp
    unit/test_engine_machine.cpp unit/test_engine_next_token.cpp unit/test_engine_parity.cpp
    unit/test_engine_row_check.cpp unit/test_engine_step_plan.cpp unit/test_kept_verdicts.cpp
  LAYERS base chat engine)

# Decisions about requests on an engine, on a simulated one and its virtual clock.
evalcore_test(scheduler
  SOURCES unit/test_engine_request.cpp unit/test_stop_strings.cpp unit/test_simulated_engine.cpp
    unit/test_scheduler.cpp unit/test_scheduler_ends.cpp unit/test_shared_prefix.cpp unit/test_prefix_trouble.cpp unit/test_scheduler_cache.cpp unit/test_broken_engine.cpp
    unit/test_scheduler_model.cpp
  LAYERS base chat engine)

evalcore_test(engine_runtime
  SOURCES unit/test_engine_runtime.cpp unit/test_runtime_contract.cpp
  LAYERS base chat engine
  LINK Threads::Threads
  LABEL threads)

# Replaces operator new.
evalcore_test(engine_no_memory
  SOURCES unit/test_engine_no_memory.cpp unit/failing_new.cpp
  LAYERS base chat engine
  LINK Threads::Threads
  LABEL threads)

evalcore_test(prefix_cache
  SOURCES unit/test_prefix_cache.cpp
    unit/test_prefix_cache_model.cpp
  LAYERS base chat engine)

evalcore_test(phase_events
  SOURCES unit/test_phase_events.cpp
    unit/test_phase_events_recorded.cpp
    unit/test_phase_simulated.cpp
    unit/test_phase_watch.cpp
  LAYERS base chat engine
  LINK Threads::Threads)

# The engine on llama.cpp, on models small enough to lie in the tree.
if(llama_FOUND)
  evalcore_test(engine_llama
    SOURCES unit/test_llama_damaged.cpp unit/test_llama_parity.cpp unit/test_llama_parts.cpp unit/test_llama_rows.cpp
      unit/test_llama_runtime.cpp unit/test_llama_scores.cpp
    LAYERS base chat engine
    LINK Threads::Threads
    LABEL threads)
  # A model as people use them: there is no such test without its file.
  set(EVALCORE_MODEL "$ENV{EVALCORE_MODEL}" CACHE FILEPATH "SmolLM2-135M-Instruct as GGUF, for tests")
  if(EXISTS "${EVALCORE_MODEL}")
    evalcore_test(engine_model SOURCES unit/test_llama_smollm.cpp LAYERS base chat engine LINK Threads::Threads)
    target_compile_definitions(test_engine_model PRIVATE EVALCORE_MODEL="${EVALCORE_MODEL}")
  endif()
else()
  evalcore_test(engine_llama SOURCES unit/test_llama_absent.cpp LAYERS base chat engine)
endif()
