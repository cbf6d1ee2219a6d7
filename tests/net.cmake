evalcore_test(net_loopback LABEL loopback
  SOURCES loopback/test_http_client.cpp loopback/fault_server.cpp
  LAYERS base net LINK Boost::headers Threads::Threads)
