# Two products, each with its own export set, so that a C program needs none of the C++ archive's
# dependencies: evalcore::c (libevalcore.so) and evalcore::evalcore (libevalcore_cpp.a).
include(CMakePackageConfigHelpers)

set_target_properties(evalcore_c PROPERTIES EXPORT_NAME c)
set_target_properties(evalcore_cpp PROPERTIES EXPORT_NAME evalcore)
install(TARGETS evalcore_c EXPORT evalcore-c-targets)
install(TARGETS evalcore_cpp EXPORT evalcore-cpp-targets)
if(EVALCORE_BUILD_CLI)
  install(TARGETS evalcore_cli)
endif()

# llama.cpp's libraries go along, since they belong to no package; they find each other where they lie.
set(EVALCORE_HAS_LLAMA ${llama_FOUND})
set(EVALCORE_LLAMA_FOLDER "${CMAKE_INSTALL_LIBDIR}/evalcore")
if(llama_FOUND)
  install(CODE "
    file(GLOB libraries \"${LLAMA_LIB_DIR}/libllama.so*\" \"${LLAMA_LIB_DIR}/libggml*.so*\"
      \"${LLAMA_LIB_DIR}/libllama*.dylib\" \"${LLAMA_LIB_DIR}/libggml*.dylib\")
    file(INSTALL \${libraries} DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${EVALCORE_LLAMA_FOLDER}\")")
  install(FILES "${LLAMA_LIB_DIR}/../share/licenses/llama.cpp/LICENSE" OPTIONAL
    DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/evalcore" RENAME LICENSE.llama.cpp)
  file(RELATIVE_PATH from_program "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${EVALCORE_LLAMA_FOLDER}")
  set_target_properties(evalcore_c PROPERTIES INSTALL_RPATH "$ORIGIN/evalcore")
  if(EVALCORE_BUILD_CLI)
    set_target_properties(evalcore_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${from_program}")
  endif()
endif()

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/evalcore" "${PROJECT_BINARY_DIR}/generated/evalcore"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/evalcore")
foreach(product c cpp)
  install(EXPORT evalcore-${product}-targets NAMESPACE evalcore:: DESTINATION "${package_folder}")
endforeach()
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/evalcore-config.cmake.in"
  "${PROJECT_BINARY_DIR}/evalcore-config.cmake" INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/evalcore-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/evalcore-config.cmake"
  "${PROJECT_BINARY_DIR}/evalcore-config-version.cmake" DESTINATION "${package_folder}")

# The prefix is told relative to the .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH prefix_from_pkgconfig "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" prefix_from_pkgconfig "${prefix_from_pkgconfig}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/evalcore.pc.in" "${PROJECT_BINARY_DIR}/evalcore.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/evalcore.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
