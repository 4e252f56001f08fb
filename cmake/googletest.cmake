# GTest::gtest and GTest::gtest_main: the installed library, or, where the build is for another machine than this one, built from the
# sources that Debian installs with it.
if(NOT CMAKE_CROSSCOMPILING)
  find_package(GTest REQUIRED)
  return()
endif()
set(HAKOZUNA_GOOGLETEST_SOURCES /usr/src/googletest CACHE PATH "GoogleTest's sources, for cross builds")
if(NOT EXISTS ${HAKOZUNA_GOOGLETEST_SOURCES}/CMakeLists.txt)
  message(FATAL_ERROR "No GoogleTest sources in '${HAKOZUNA_GOOGLETEST_SOURCES}' (Debian: package googletest); "
    "set HAKOZUNA_GOOGLETEST_SOURCES")
endif()
set(BUILD_GMOCK OFF CACHE INTERNAL "")
set(INSTALL_GTEST OFF CACHE INTERNAL "")
add_subdirectory(${HAKOZUNA_GOOGLETEST_SOURCES} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
