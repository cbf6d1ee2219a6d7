set(backend_layers base chat wire net engine backend)

evalcore_test(backend
  SOURCES unit/test_private_folder.cpp unit/test_process.cpp unit/test_scripted.cpp unit/test_http_backend.cpp
    unit/test_access.cpp unit/test_chat_call.cpp unit/test_dialect.cpp unit/test_probe.cpp unit/test_server_advice.cpp
  LAYERS ${backend_layers})

# The backend on an engine in this process, here a simulated one.
evalcore_test(embedded LABEL threads
  SOURCES unit/test_embedded.cpp
  LAYERS base chat wire net engine backend)

evalcore_test(backend_loopback LABEL loopback
  SOURCES loopback/test_backend_http.cpp loopback/test_backend_start.cpp loopback/test_backend_managed.cpp
    loopback/test_backend_loglikelihood.cpp loopback/test_backend_plain.cpp loopback/test_backend_probe.cpp loopback/fault_server.cpp unit/capture.cpp
  LAYERS ${backend_layers})

# The real server: any program that understands llama-server's flags. Without one there is no such test,
# rather than one that passes without looking.
set(EVALCORE_LLAMA_SERVER "$ENV{EVALCORE_LLAMA_SERVER}" CACHE FILEPATH "llama-server for the end-to-end tests")
if(EVALCORE_LLAMA_SERVER)
  evalcore_test(backend_server LABEL loopback
    SOURCES loopback/test_backend_llama_server.cpp
    LAYERS ${backend_layers})
  set_tests_properties(backend_server PROPERTIES ENVIRONMENT "EVALCORE_LLAMA_SERVER=${EVALCORE_LLAMA_SERVER}")
else()
  message(STATUS "EVALCORE_LLAMA_SERVER is not set: the tests on the real server are left out")
endif()

# Only the table of dialects knows servers by name.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(server_names "${CMAKE_CURRENT_SOURCE_DIR}/abi/check_server_names.py")
add_test(NAME server_names COMMAND "${Python3_EXECUTABLE}" "${server_names}" "${PROJECT_SOURCE_DIR}")
add_test(NAME server_names.self_test COMMAND "${Python3_EXECUTABLE}" "${server_names}" --self-test)
