# macOS from another system: the compiler that mac/setup_cross.sh installs into build/cross, Clang with macOS's headers and stubs of its
# libraries, and LLVM's linker for Mach-O. The compiler brings a linker of its own, which exports what is hidden. The including file has set
# CMAKE_SYSTEM_PROCESSOR.
set(CMAKE_SYSTEM_NAME Darwin)
set(HAKOZUNA_MACOS_MINIMUM 11.0 CACHE STRING "The oldest macOS the libraries load on: the first on arm64")

cmake_path(SET cross_directory NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../build/cross/bin)
if(NOT EXISTS ${cross_directory}/c++ OR NOT EXISTS ${cross_directory}/ld64.lld)
  message(FATAL_ERROR "no cross compiler: run ./mac/setup_cross.sh")
endif()
set(CMAKE_C_COMPILER ${cross_directory}/cc)
set(CMAKE_CXX_COMPILER ${cross_directory}/c++)
set(CMAKE_AR ${cross_directory}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${cross_directory}/ranlib CACHE FILEPATH "")
set(CMAKE_INSTALL_NAME_TOOL ${CMAKE_COMMAND} CACHE FILEPATH "Not used: the install names are right when linked")

if(CMAKE_SYSTEM_PROCESSOR STREQUAL "arm64")
  set(target aarch64-macos.${HAKOZUNA_MACOS_MINIMUM})
else()
  set(target x86_64-macos.${HAKOZUNA_MACOS_MINIMUM})
endif()
set(CMAKE_C_FLAGS_INIT "-target ${target}")
set(CMAKE_CXX_FLAGS_INIT "-target ${target}")
set(CMAKE_USER_MAKE_RULES_OVERRIDE ${CMAKE_CURRENT_LIST_DIR}/macos_link_rule.cmake)

# Questions to the compiler are not linked: programs would be by its own linker, and with a libc++ that it builds first, which takes a minute.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(HAKOZUNA_LIBCXX ${CMAKE_CURRENT_LIST_DIR}/libc++.1.tbd CACHE FILEPATH "")
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
