evalcore_test(net
  SOURCES unit/test_url.cpp unit/test_exchange_machine.cpp unit/test_exchange_reply.cpp unit/test_exchange_request.cpp unit/test_exchange_dial.cpp
  LAYERS base net LINK Boost::headers Threads::Threads)

evalcore_test(net_loopback LABEL loopback
  SOURCES loopback/test_loop.cpp loopback/test_plain_reads.cpp loopback/test_http_client.cpp loopback/test_http_faults.cpp
    loopback/test_http_hostile.cpp loopback/fault_server.cpp
  LAYERS base net LINK Boost::headers Threads::Threads)

# A program of its own, since it replaces the system's resolver.
evalcore_test(net_names LABEL loopback
  SOURCES loopback/test_names.cpp loopback/name_table.cpp loopback/fault_server.cpp
  LAYERS base net LINK Boost::headers Threads::Threads)

# What hostile servers answer, up to the backend's reply: most of it is JSON, not HTTP.
evalcore_test(hostile LABEL loopback
  SOURCES loopback/test_hostile.cpp loopback/hostile_answers.cpp loopback/fault_server.cpp
  LAYERS base chat wire net engine backend LINK ZLIB::ZLIB Threads::Threads)

# What the tests of TLS in Python drive.
add_executable(fetch tools/fetch.cpp)
target_link_libraries(fetch PRIVATE evalcore_warnings evalcore_base evalcore_net evalcore_net_heavy)
