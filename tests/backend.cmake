evalcore_test(process SOURCES unit/test_process.cpp LAYERS base backend)
