# A line as a Windows library: hakozuna_<name>.dll and its import library. An archive is not made: the C runtime's own modules would keep their
# allocator, and only a library of its own can redirect them.

set(HAKOZUNA_DEFINITION_FILE ${PROJECT_BINARY_DIR}/exports.def)

add_library(hakozuna_format_flags INTERFACE)
target_compile_definitions(hakozuna_format_flags INTERFACE _WIN32_WINNT=0x0A00 WIN32_LEAN_AND_MEAN NOMINMAX)
target_compile_options(hakozuna_format_flags INTERFACE
  -fasynchronous-unwind-tables  # debuggers pass through everything
  -Wno-attributes        # visibility: nothing is exported there unless it is listed
  -Wno-cast-function-type)  # addresses of functions by name

hakozuna_write_exports(${HAKOZUNA_DEFINITION_FILE} "EXPORTS\n  " "\n  " "\n")

# hakozuna_<name>.dll: nothing but the system behind it, and no start code of a C runtime (api/pe/lifecycle.cpp).
function(hakozuna_add_shared_line name)
  set(target hakozuna_${name})
  hakozuna_add_line_library(${target} hakozuna::${name} SHARED ${ARGN} ${HAKOZUNA_DEFINITION_FILE})
  target_link_options(${target} PRIVATE -nostartfiles -nodefaultlibs LINKER:-e,hakozuna_entry LINKER:--exclude-all-symbols)
  target_link_libraries(${target} PRIVATE gcc msvcrt kernel32 ntdll)
  set_target_properties(${target} PROPERTIES
    PREFIX ""
    IMPORT_PREFIX lib
    EXPORT_NAME ${name})
endfunction()

function(hakozuna_add_static_line)
endfunction()
