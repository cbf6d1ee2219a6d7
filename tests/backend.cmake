evalcore_test(process SOURCES unit/test_process.cpp LAYERS base backend)
evalcore_test(scripted SOURCES unit/test_scripted.cpp LAYERS base net backend)
