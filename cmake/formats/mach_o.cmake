# Lines as Mach-O libraries: they replace functions by interposition and as the default malloc zone. See lines.cmake.
#
# Exports are what has default visibility: hakozuna/hakozuna.h, and nothing else.

add_library(hakozuna_format_flags INTERFACE)

# operator new and delete are libc++'s, which every process has. Where there is no SDK to link with, a stub says what it exports.
set(HAKOZUNA_LIBCXX c++ CACHE STRING "The system's libc++, or a stub of it, to link with")

# libhakozuna_<name>.dylib, found relative to who loads it.
function(hakozuna_add_shared_line name)
  set(target hakozuna_${name})
  add_library(${target} SHARED ${ARGN})
  add_library(hakozuna::${name} ALIAS ${target})
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE ${HAKOZUNA_LIBCXX})
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE C  # the C++ compiler would add a libc++ of its own
    MACOSX_RPATH ON    # the install name is @rpath/libhakozuna_<name>.dylib
    EXPORT_NAME ${name})
endfunction()

# There is none: interposition is for libraries, and an archive in a program would replace the program's own calls and nobody else's.
function(hakozuna_add_static_line name)
endfunction()
