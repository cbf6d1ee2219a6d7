evalcore_test(pool
  SOURCES unit/test_pool_machine.cpp unit/test_pool_retry.cpp unit/test_pool_endpoints.cpp unit/test_pool.cpp
    unit/test_patience.cpp
  LAYERS base chat wire net engine backend pool
  LINK Threads::Threads
  LABEL threads)

# The adaptive limit against the simulated servers of its benchmark.
evalcore_test(adaptive_limit
  SOURCES unit/test_adaptive_limit.cpp unit/test_adaptive_limit_servers.cpp unit/test_token_bound.cpp
    ../bench/auto/cases.cpp ../bench/auto/client.cpp ../bench/auto/server.cpp
    ../lib/pool/adaptive_limit.cpp ../lib/pool/adaptive_limit_goodput.cpp ../lib/pool/goodput_window.cpp
    ../lib/pool/limit_history.cpp ../lib/pool/token_bound.cpp
  LAYERS base)
target_include_directories(test_adaptive_limit PRIVATE "${PROJECT_SOURCE_DIR}")
