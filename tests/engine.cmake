evalcore_test(engine
  SOURCES unit/test_engine_refusal.cpp
  LAYERS base chat engine)

# Decisions about requests on an engine, on a simulated one and its virtual clock.
evalcore_test(scheduler
  SOURCES unit/test_engine_request.cpp unit/test_stop_strings.cpp unit/test_simulated_engine.cpp
    unit/test_scheduler.cpp unit/test_scheduler_ends.cpp unit/test_shared_prefix.cpp
    unit/test_scheduler_model.cpp
  LAYERS base chat engine)

evalcore_test(engine_runtime
  SOURCES unit/test_engine_runtime.cpp
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
    unit/test_phase_watch.cpp
  LAYERS base chat engine
  LINK Threads::Threads)
