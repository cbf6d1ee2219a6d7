evalcore_test(net
  SOURCES unit/test_url.cpp unit/test_exchange_machine.cpp unit/test_exchange_reply.cpp unit/test_exchange_request.cpp
  LAYERS base net LINK Boost::headers Threads::Threads)

evalcore_test(net_loopback LABEL loopback
  SOURCES loopback/test_loop.cpp loopback/test_http_client.cpp loopback/test_http_faults.cpp loopback/fault_server.cpp
  LAYERS base net LINK Boost::headers Threads::Threads)
