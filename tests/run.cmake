evalcore_test(run
  SOURCES
    unit/test_rows.cpp
    unit/test_store.cpp
    unit/test_store_file.cpp
    unit/test_store_kill.cpp
    unit/test_suite.cpp
    unit/test_suite_bfcl.cpp
    unit/test_suite_lines.cpp
  LAYERS base chat wire net prefix backend score pool run)
