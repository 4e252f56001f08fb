# Lines as ELF libraries: they replace functions by having their names. See lines.cmake.
set(HAKOZUNA_VERSION_SCRIPT ${PROJECT_BINARY_DIR}/exports.map)

add_library(hakozuna_format_flags INTERFACE)
target_compile_options(hakozuna_format_flags INTERFACE
  -fasynchronous-unwind-tables  # bad_alloc passes through operator new, and debuggers through everything
  -fno-semantic-interposition -fno-plt
  $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>  # a static member is one per library, not one per process
  -ftls-model=initial-exec)                  # anything else calls the loader, which calls malloc

hakozuna_write_exports(${HAKOZUNA_VERSION_SCRIPT} "{\n  global:\n    " ";\n    " ";\n  local: *;\n};\n")

# libhakozuna_<name>.so: nothing but libc behind it, no call to one of our own functions through the PLT.
function(hakozuna_add_shared_line name)
  set(target hakozuna_${name})
  hakozuna_add_line_library(${target} hakozuna::${name} SHARED ${ARGN})
  target_link_options(${target} PRIVATE
    -nodefaultlibs
    LINKER:-z,relro,-z,now,-z,defs,-z,noexecstack
    LINKER:-z,nodelete  # its blocks outlive a dlclose
    LINKER:-Bsymbolic-functions
    LINKER:--version-script=${HAKOZUNA_VERSION_SCRIPT})
  target_link_libraries(${target} PRIVATE c gcc)
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}
    EXPORT_NAME ${name}
    LINK_DEPENDS ${HAKOZUNA_VERSION_SCRIPT})
endfunction()

# libhakozuna_<name>.a: one object, so that a program which uses any of its functions gets all of them and no block can come from one
# heap and go to another; its internal names are local to it.
function(hakozuna_add_static_line name)
  set(target hakozuna_${name}_static)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/hakozuna_${name}.o)
  add_custom_command(OUTPUT ${object}
    # Groups would be merged with groups of the same name in the program, whose symbols are not local; only GNU ld can dissolve them.
    COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -fuse-ld=bfd -Wl,--force-group-allocation -o ${object} ${ARGN}
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${object}
    DEPENDS ${ARGN}
    COMMENT "Joining the objects of libhakozuna_${name}.a"
    COMMAND_EXPAND_LISTS VERBATIM)
  hakozuna_add_line_library(${target} hakozuna::${name}_static STATIC ${object})
  target_link_options(${target} INTERFACE
    LINKER:-u,malloc  # also for a program that allocates through libc only
    # Fully static C++ programs: a weak reference alone would not fetch the throw from libstdc++.a.
    $<$<LINK_LANGUAGE:CXX>:LINKER:-u,_ZSt17__throw_bad_allocv>)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME hakozuna_${name}
    EXPORT_NAME ${name}_static
    LINKER_LANGUAGE C)  # C programs are not to be linked by the C++ compiler on our account
endfunction()
