# The faults of `scripts/bench faults`, each once.
evalcore_test(faults LABEL loopback
  SOURCES loopback/test_faults.cpp
  LAYERS base chat wire net engine backend pool
  LINK fault_cases)
