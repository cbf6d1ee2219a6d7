evalcore_test(stats
  SOURCES
    unit/test_stats_bootstrap.cpp
    unit/test_stats_mean.cpp
    unit/test_stats_noninferiority.cpp
    unit/test_stats_paired.cpp
    unit/test_stats_power.cpp
    unit/test_stats_rate.cpp
    unit/test_stats_several.cpp
  LAYERS base stats)
