# What `cmake --install` lays down for a program that links a line: libraries, headers, the CMake package (hakozuna::<line>) and
# one pkg-config file a line (hakozuna_<line>.pc). Everything is relocatable: the files find each other by relative paths.
include(CMakePackageConfigHelpers)

set(HAKOZUNA_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/hakozuna)
set(HAKOZUNA_PKGCONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/hakozuna DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

get_property(HAKOZUNA_PACKAGED_LINES GLOBAL PROPERTY HAKOZUNA_INSTALLED_LINES)
foreach(line IN LISTS HAKOZUNA_PACKAGED_LINES)
  set(line_targets hakozuna_${line})
  if(TARGET hakozuna_${line}_static)
    list(APPEND line_targets hakozuna_${line}_static)
  endif()
  install(TARGETS ${line_targets} EXPORT hakozuna_targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

  set(HAKOZUNA_LINE ${line})
  file(RELATIVE_PATH HAKOZUNA_PREFIX_FROM_PKGCONFIG /prefix/${HAKOZUNA_PKGCONFIG_DIR} /prefix)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/hakozuna_line.pc.in
    ${PROJECT_BINARY_DIR}/pkgconfig/hakozuna_${line}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/hakozuna_${line}.pc DESTINATION ${HAKOZUNA_PKGCONFIG_DIR})
endforeach()

if(HAKOZUNA_PACKAGED_LINES)
  install(EXPORT hakozuna_targets FILE hakozunaTargets.cmake NAMESPACE hakozuna:: DESTINATION ${HAKOZUNA_PACKAGE_DIR})
  configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/hakozunaConfig.cmake.in
    ${PROJECT_BINARY_DIR}/cmake/hakozunaConfig.cmake
    INSTALL_DESTINATION ${HAKOZUNA_PACKAGE_DIR}
    NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/hakozunaConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES
    ${PROJECT_BINARY_DIR}/cmake/hakozunaConfig.cmake
    ${PROJECT_BINARY_DIR}/cmake/hakozunaConfigVersion.cmake
    DESTINATION ${HAKOZUNA_PACKAGE_DIR})
endif()
