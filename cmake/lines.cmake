# One library per allocator line.
#
#   hakozuna_add_line(<name> CLASS <class> HEADER <header> [SOURCE_DIR <folder>] [TEST_ONLY])
#
# builds a shared library and, where its format has a use for one, an archive (libhakozuna_<name>.so and .a; targets
# hakozuna_<name> and hakozuna_<name>_static, aliases hakozuna::<name> and hakozuna::<name>_static) from the line's own *.cpp in
# SOURCE_DIR (src/<name> if not given), the common layers, and the front door compiled for this line: CLASS satisfies the concept of
# common/core/line.h and HEADER, relative to the folder above SOURCE_DIR, defines it. TEST_ONLY: never installed.
#
# The line's own objects are the target hakozuna_<name>_objects, for unit tests that look inside. Under HAKOZUNA_SANITIZE only
# that target is made: a sanitizer brings its own malloc, so there is no library to load.
#
# The global property HAKOZUNA_LINES names every line that has a library, HAKOZUNA_INSTALLED_LINES those that are installed.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "What is shipped and measured" FORCE)
endif()

string(TOLOWER ${CMAKE_SYSTEM_NAME} HAKOZUNA_SYSTEM)  # the folder of common/os

# The format of the libraries: the file that defines
#   hakozuna_format_flags                          an INTERFACE library: options of the compiler that the format needs
#   hakozuna_add_shared_line(<name> <objects>...)  the target hakozuna_<name>
#   hakozuna_add_static_line(<name> <objects>...)  the target hakozuna_<name>_static, where the format can have it
# and the folders of common/api that belong to it.
if(APPLE)
  set(HAKOZUNA_FORMAT mach_o)
elseif(WIN32)
  set(HAKOZUNA_FORMAT pe)
else()
  set(HAKOZUNA_FORMAT elf)
endif()
set(HAKOZUNA_API_FOLDERS ${HAKOZUNA_FORMAT})
if(UNIX)
  list(APPEND HAKOZUNA_API_FOLDERS posix)
endif()
set(HAKOZUNA_EXPORTS_FILE ${PROJECT_SOURCE_DIR}/src/common/api/${HAKOZUNA_FORMAT}/exports.txt)

# Writes the list of exported names in the form that the format's linker takes.
function(hakozuna_write_exports file before between after)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${HAKOZUNA_EXPORTS_FILE})
  file(STRINGS ${HAKOZUNA_EXPORTS_FILE} names REGEX "^[A-Za-z_]")
  list(JOIN names "${between}" names)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT "${before}@names@${after}")
endfunction()

# A library of a line: its target, the name that programs link it by, and where they find the headers.
function(hakozuna_add_line_library target alias)
  add_library(${target} ${ARGN})
  add_library(${alias} ALIAS ${target})
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# What code that includes our headers needs: the include root, and whether the checks are on (they change the headers).
add_library(hakozuna_headers INTERFACE)
target_include_directories(hakozuna_headers INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(hakozuna_headers INTERFACE $<$<BOOL:${HAKOZUNA_CHECKED}>:HAKOZUNA_CHECKED=1>)

# How everything that goes into a line library is compiled.
add_library(hakozuna_library_flags INTERFACE)
target_compile_options(hakozuna_library_flags INTERFACE
  -fno-exceptions -fno-rtti
  -fno-threadsafe-statics       # the guards live in the C++ runtime
  -fvisibility=hidden
  # The compiler knows what malloc and the others do and may turn one into a call of another, or leave it out.
  -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free
  -fno-builtin-aligned_alloc -fno-builtin-memalign -fno-builtin-posix_memalign)
include(${CMAKE_CURRENT_LIST_DIR}/formats/${HAKOZUNA_FORMAT}.cmake)
target_link_libraries(hakozuna_library_flags INTERFACE hakozuna_build_flags hakozuna_format_flags)

# An OBJECT library of sources that go into line libraries.
function(hakozuna_add_objects target)
  add_library(${target} OBJECT ${ARGN})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PUBLIC hakozuna_headers PRIVATE hakozuna_library_flags)
endfunction()

function(hakozuna_add_line name)
  cmake_parse_arguments(PARSE_ARGV 1 LINE "TEST_ONLY" "CLASS;HEADER;SOURCE_DIR" "")
  if(NOT LINE_CLASS OR NOT LINE_HEADER OR LINE_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "hakozuna_add_line(<name> CLASS <class> HEADER <header> [SOURCE_DIR <folder>] [TEST_ONLY])")
  endif()
  if(NOT LINE_SOURCE_DIR)
    set(LINE_SOURCE_DIR ${PROJECT_SOURCE_DIR}/src/${name})
  endif()
  cmake_path(GET LINE_SOURCE_DIR PARENT_PATH include_root)

  file(GLOB line_sources CONFIGURE_DEPENDS ${LINE_SOURCE_DIR}/*.cpp)
  hakozuna_add_objects(hakozuna_${name}_objects ${line_sources})
  target_include_directories(hakozuna_${name}_objects PUBLIC ${include_root})
  if(HAKOZUNA_SANITIZE)
    return()
  endif()

  set(api_patterns ${HAKOZUNA_API_FOLDERS})
  list(TRANSFORM api_patterns REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/src/common/api/\\1/*.cpp")
  file(GLOB api_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/common/api/*.cpp ${api_patterns})
  hakozuna_add_objects(hakozuna_${name}_api ${api_sources})
  target_include_directories(hakozuna_${name}_api PRIVATE ${include_root})
  target_compile_definitions(hakozuna_${name}_api PRIVATE
    HAKOZUNA_LINE_HEADER="${LINE_HEADER}" HAKOZUNA_LINE_CLASS=${LINE_CLASS})
  # Second names of a function: libc's headers say more about the first than we about the others, and forms of operator delete
  # that ignore arguments are of another type than the one they are (operators.cpp).
  target_compile_options(hakozuna_${name}_api PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-missing-attributes> $<$<CXX_COMPILER_ID:GNU>:-Wno-attribute-alias>)
  # The one place that catches: see there.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/common/api/posix/call_new_handler.cpp PROPERTIES
    COMPILE_OPTIONS -fexceptions)

  set(objects $<TARGET_OBJECTS:hakozuna_${name}_api> $<TARGET_OBJECTS:hakozuna_${name}_objects>
    $<TARGET_OBJECTS:hakozuna_common>)
  hakozuna_add_shared_line(${name} ${objects})
  hakozuna_add_static_line(${name} ${objects})
  set_property(GLOBAL APPEND PROPERTY HAKOZUNA_LINES ${name})
  if(NOT LINE_TEST_ONLY)
    set_property(GLOBAL APPEND PROPERTY HAKOZUNA_INSTALLED_LINES ${name})
  endif()
endfunction()
