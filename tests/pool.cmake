evalcore_test(pool
  SOURCES unit/test_pool_machine.cpp unit/test_pool_retry.cpp unit/test_pool_endpoints.cpp unit/test_pool.cpp
  LAYERS base chat wire net backend pool
  LINK Threads::Threads
  LABEL threads)
