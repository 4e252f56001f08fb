# A line as a Windows library: hakozuna_<name>.dll and its import library. An archive is not made: the C runtime's own modules would keep their
# allocator, and only a library of its own can redirect them.

set(HAKOZUNA_EXPORTS_FILE ${PROJECT_SOURCE_DIR}/src/common/api/windows/exports.txt)
set(HAKOZUNA_DEFINITION_FILE ${PROJECT_BINARY_DIR}/exports.def)

# Files of common/api for which Windows has files of its own, or no use: what glibc and jemalloc offer beside C, and operator new and delete, which
# belong to each compiler's C++ runtime there and call malloc and free.
set(HAKOZUNA_ABSENT_API
  "aligned|call_new_handler|cxx_runtime|glibc_extras|jemalloc_controls|new_failure|operators|lifecycle|exit_report")

target_compile_definitions(hakozuna_library_flags INTERFACE _WIN32_WINNT=0x0A00 WIN32_LEAN_AND_MEAN NOMINMAX)
target_compile_options(hakozuna_library_flags INTERFACE
  -Wno-attributes        # visibility: nothing is exported there unless it is listed
  -Wno-cast-function-type)  # addresses of functions by name

function(hakozuna_write_definition_file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${HAKOZUNA_EXPORTS_FILE})
  file(STRINGS ${HAKOZUNA_EXPORTS_FILE} names REGEX "^[A-Za-z_]")
  list(JOIN names "\n  " names)
  file(CONFIGURE OUTPUT ${HAKOZUNA_DEFINITION_FILE} @ONLY CONTENT "EXPORTS\n  @names@\n")
endfunction()
hakozuna_write_definition_file()

# hakozuna_<name>.dll: nothing but the system behind it, and no start code of a C runtime (windows/lifecycle.cpp).
function(hakozuna_add_shared_line name)
  set(target hakozuna_${name})
  add_library(${target} SHARED ${ARGN} ${HAKOZUNA_DEFINITION_FILE})
  add_library(hakozuna::${name} ALIAS ${target})
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_options(${target} PRIVATE -nostartfiles -nodefaultlibs LINKER:-e,hakozuna_entry LINKER:--exclude-all-symbols)
  target_link_libraries(${target} PRIVATE gcc msvcrt kernel32 ntdll)
  set_target_properties(${target} PROPERTIES
    PREFIX ""
    IMPORT_PREFIX lib
    EXPORT_NAME ${name})
endfunction()

function(hakozuna_add_static_line)
endfunction()
