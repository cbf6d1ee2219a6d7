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
