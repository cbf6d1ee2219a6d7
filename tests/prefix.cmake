evalcore_test(prefix
  SOURCES unit/test_radix_tree.cpp unit/test_plan.cpp unit/test_deal.cpp unit/test_dispatch.cpp unit/test_dispatch_model.cpp
    unit/test_dispatch_turns.cpp unit/test_prefix_parts.cpp unit/test_cut_points.cpp unit/test_twice.cpp
  LAYERS base prefix)

evalcore_test(prefix_memory
  SOURCES unit/test_prefix_memory.cpp
  LAYERS base prefix)
