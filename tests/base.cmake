evalcore_test(base SOURCES unit/test_byte_buffer.cpp unit/test_files.cpp unit/test_json.cpp unit/test_result.cpp unit/test_hash.cpp unit/test_peak_memory.cpp unit/test_utf8.cpp LAYERS base)
