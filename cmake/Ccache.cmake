# ccache, when present, unless the caller chose a launcher.
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(EVALCORE_CCACHE ccache)
  if(EVALCORE_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER "${EVALCORE_CCACHE}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${EVALCORE_CCACHE}")
  endif()
endif()

# A Boost unit takes 0.6 GB and 30 s: at most two at once, whatever -j says (Ninja pools; other
# generators ignore this).
set_property(GLOBAL APPEND PROPERTY JOB_POOLS evalcore_heavy=2)
