# Lines as Mach-O libraries: they replace functions by interposition and as the default malloc zone. See lines.cmake.
add_library(hakozuna_format_flags INTERFACE)
target_compile_options(hakozuna_format_flags INTERFACE
  # bad_alloc passes through operator new. macOS's compact tables describe functions that keep the frame pointer, which is the rule there, and where
  # calls are made; what needs more goes into tables that not every linker takes over.
  -funwind-tables -fno-asynchronous-unwind-tables -fno-omit-frame-pointer -momit-leaf-frame-pointer)

# operator new and delete are libc++'s, which every process has. Where there is no SDK to link with, a stub says what it exports.
set(HAKOZUNA_LIBCXX c++ CACHE STRING "The system's libc++, or a stub of it, to link with")

set(HAKOZUNA_EXPORTED_SYMBOLS ${PROJECT_BINARY_DIR}/exported_symbols.txt)
hakozuna_write_exports(${HAKOZUNA_EXPORTED_SYMBOLS} "_" "\n_" "\n")

# libhakozuna_<name>.dylib, found relative to who loads it.
function(hakozuna_add_shared_line name)
  set(target hakozuna_${name})
  hakozuna_add_line_library(${target} hakozuna::${name} SHARED ${ARGN})
  target_link_options(${target} PRIVATE LINKER:-dead_strip LINKER:-exported_symbols_list,${HAKOZUNA_EXPORTED_SYMBOLS})
  target_link_libraries(${target} PRIVATE ${HAKOZUNA_LIBCXX})
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE C
    INSTALL_NAME_DIR @rpath
    BUILD_WITH_INSTALL_NAME_DIR ON
    EXPORT_NAME ${name}
    LINK_DEPENDS ${HAKOZUNA_EXPORTED_SYMBOLS})
endfunction()

# There is none: interposition is for libraries, and an archive in a program would replace the program's own calls and nobody else's.
function(hakozuna_add_static_line name)
endfunction()
