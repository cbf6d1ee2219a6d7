if(EVALCORE_SANITIZE)
  add_compile_options(-fsanitize=${EVALCORE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${EVALCORE_SANITIZE})
  if(EVALCORE_SANITIZE MATCHES "undefined")
    # With vptr, null and alignment checks one Asio unit costs twice the time and memory.
    add_compile_options(-fno-sanitize=vptr,null,alignment)
  endif()
  if(EVALCORE_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC warns that TSan does not model atomic_thread_fence, once for each use inside Asio.
    add_compile_options(-Wno-tsan)
  endif()
endif()
