# macOS on x86_64, by a cross compiler.
set(CMAKE_SYSTEM_PROCESSOR x86_64)
include(${CMAKE_CURRENT_LIST_DIR}/macos_cross.cmake)
