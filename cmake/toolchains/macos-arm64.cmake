# macOS on arm64, by a cross compiler.
set(CMAKE_SYSTEM_PROCESSOR arm64)
include(${CMAKE_CURRENT_LIST_DIR}/macos_cross.cmake)
