# The cases are apart, since a slice of them is a test too.
add_library(fault_cases OBJECT EXCLUDE_FROM_ALL faults/answers.cpp faults/cases.cpp faults/certificates.cpp
  faults/children.cpp faults/client.cpp faults/connections.cpp faults/content.cpp faults/floods.cpp
  faults/judge.cpp faults/own_network.cpp faults/said.cpp faults/timing.cpp faults/tls_server.cpp
  "${PROJECT_SOURCE_DIR}/tests/loopback/fault_server.cpp" "${PROJECT_SOURCE_DIR}/tests/loopback/hostile_answers.cpp"
  "${PROJECT_SOURCE_DIR}/tests/loopback/name_table.cpp")
target_include_directories(fault_cases PUBLIC . "${PROJECT_SOURCE_DIR}/tests" "${PROJECT_SOURCE_DIR}/include")
target_link_libraries(fault_cases PRIVATE evalcore_warnings)
target_link_libraries(fault_cases PUBLIC OpenSSL::SSL OpenSSL::Crypto ZLIB::ZLIB Threads::Threads)
target_compile_features(fault_cases PUBLIC cxx_std_20)
if(EVALCORE_SANITIZE)
  target_compile_definitions(fault_cases PRIVATE EVALCORE_SANITIZED)
endif()
add_executable(bench_faults EXCLUDE_FROM_ALL faults.cpp faults/long_outage.cpp)
target_link_libraries(bench_faults PRIVATE evalcore_warnings fault_cases evalcore_base evalcore_chat evalcore_wire
  evalcore_net evalcore_net_heavy evalcore_engine evalcore_backend evalcore_pool)
