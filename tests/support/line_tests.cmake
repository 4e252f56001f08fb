# Test programs that run once for each line, with the line's library preloaded.
#
#   hakozuna_add_test_program(name source...)            a GoogleTest program over the exported symbols
#   hakozuna_add_line_tests(name LABEL label [TIMEOUT seconds] [PROPERTIES property value...])
#
# Each test case is a CTest test of its own, called <line>.<label>.<Suite>.<Case>: in a process of its own, so that what it measures is
# its own, and a crash costs one case.
include(GoogleTest)

# The lines there are to test: all but those that are themselves part of a test.
set(HAKOZUNA_ONLY_LINES "" CACHE STRING "Run the tests of the lines for these lines only, a list; empty: all")
set(HAKOZUNA_TESTED_LINES ${HAKOZUNA_ONLY_LINES})
if(NOT HAKOZUNA_TESTED_LINES)
  get_property(HAKOZUNA_TESTED_LINES GLOBAL PROPERTY HAKOZUNA_INSTALLED_LINES)
endif()

# malloc and free are what is tested: the compiler must not do without them, nor warn of what a test does on purpose.
set(HAKOZUNA_TEST_FLAGS -fno-builtin $<$<CXX_COMPILER_ID:GNU>:-Wno-use-after-free>)

function(hakozuna_add_test_program name)
  add_executable(${name} ${ARGN})
  target_compile_options(${name} PRIVATE ${HAKOZUNA_TEST_FLAGS})
  target_link_libraries(${name} PRIVATE hakozuna_test_support hakozuna_build_flags)
endfunction()

function(hakozuna_add_line_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT" "PROPERTIES")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  foreach(line IN LISTS HAKOZUNA_TESTED_LINES)
    add_dependencies(${name} hakozuna_${line})
    gtest_discover_tests(${name}
      NO_PRETTY_VALUES
      TEST_PREFIX "${line}.${arg_LABEL}."
      TEST_LIST ${name}_${line}_cases
      EXTRA_ARGS
        "--line=${line}"
        "--library=$<TARGET_FILE:hakozuna_${line}>"
        "--helpers=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}"
      PROPERTIES
        ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:hakozuna_${line}>"
        LABELS "${arg_LABEL}"
        TIMEOUT ${arg_TIMEOUT}
        ${arg_PROPERTIES}
      DISCOVERY_TIMEOUT 60)
  endforeach()
endfunction()
