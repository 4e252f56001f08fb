# One target that carries the warnings and the sanitizer flags every target of ours compiles with.
add_library(hakozuna_build_flags INTERFACE)
target_compile_options(hakozuna_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast>)
if(HAKOZUNA_SANITIZE STREQUAL "address")
  target_compile_options(hakozuna_build_flags INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(hakozuna_build_flags INTERFACE -fsanitize=address,undefined)
elseif(HAKOZUNA_SANITIZE STREQUAL "thread")
  target_compile_options(hakozuna_build_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(hakozuna_build_flags INTERFACE -fsanitize=thread)
elseif(NOT HAKOZUNA_SANITIZE STREQUAL "")
  message(FATAL_ERROR "HAKOZUNA_SANITIZE is '${HAKOZUNA_SANITIZE}': address, thread or empty")
endif()
