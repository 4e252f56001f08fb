# How macos_cross.cmake links a library: by the linker itself, other than CMake's rule for macOS, which this replaces.
cmake_path(SET cross_directory NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../build/cross)
set(CMAKE_C_CREATE_SHARED_LIBRARY
  "${cross_directory}/bin/ld64.lld -dylib -arch ${CMAKE_SYSTEM_PROCESSOR} \
-platform_version macos ${HAKOZUNA_MACOS_MINIMUM} ${HAKOZUNA_MACOS_MINIMUM} \
<SONAME_FLAG> <TARGET_INSTALLNAME_DIR><TARGET_SONAME> <LINK_FLAGS> -o <TARGET> <OBJECTS> <LINK_LIBRARIES> ${cross_directory}/libSystem.tbd")
unset(CMAKE_C_LINKER_WRAPPER_FLAG)  # the options go to the linker as they are
