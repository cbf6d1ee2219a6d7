# What a wheel of the Python package holds beside Python: the library, the command, and llama.cpp's libraries, each once
# and under the name by which it is loaded, since a wheel has no symbolic links.
set(EVALCORE_WHEEL_LIBRARIES evalcore/lib)
set_target_properties(evalcore_c PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
install(PROGRAMS "$<TARGET_FILE:evalcore_c>" DESTINATION "${EVALCORE_WHEEL_LIBRARIES}"
  RENAME "$<TARGET_SONAME_FILE_NAME:evalcore_c>" COMPONENT python)
set_target_properties(evalcore_cli PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib")
install(PROGRAMS "$<TARGET_FILE:evalcore_cli>" DESTINATION evalcore/bin COMPONENT python)

if(llama_FOUND)
  install(CODE "
    file(GLOB libraries \"${LLAMA_LIB_DIR}/libllama*.so.*\" \"${LLAMA_LIB_DIR}/libggml*.so.*\")
    foreach(library IN LISTS libraries)
      if(library MATCHES [[\\.so\\.[0-9]+$]])
        get_filename_component(name \"\${library}\" NAME)
        get_filename_component(file \"\${library}\" REALPATH)
        file(INSTALL \"\${file}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${EVALCORE_WHEEL_LIBRARIES}\"
          TYPE PROGRAM RENAME \"\${name}\")
      endif()
    endforeach()" COMPONENT python)
  install(FILES "${LLAMA_LIB_DIR}/../share/licenses/llama.cpp/LICENSE" OPTIONAL
    DESTINATION "${EVALCORE_WHEEL_LIBRARIES}" RENAME LICENSE.llama.cpp COMPONENT python)
endif()
