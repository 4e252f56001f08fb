# Cross build for Linux on arm64 with Debian's compiler (g++-aarch64-linux-gnu). What the build and the tests run of it runs under
# user-mode emulation (qemu-user-static); QEMU_PAGESIZE in the environment chooses the size of a page, in bytes.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(arm64_root /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${arm64_root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)  # Python and the like are this machine's
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)   # libraries of headers only are the same for every CPU

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${arm64_root})
