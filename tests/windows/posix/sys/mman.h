// What the tests use of mmap(): private memory that is nobody's heap.
#pragma once

#include <malloc.h>
#include <stddef.h>
#include <windows.h>

#undef near
#undef far

enum { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2, MAP_PRIVATE = 2, MAP_ANONYMOUS = 32, MAP_NORESERVE = 0, MAP_POPULATE = 0 };
#define MAP_FAILED reinterpret_cast<void*>(-1)

inline void* mmap(void*, size_t bytes, int protection, int, int, long) {
  void* const memory = VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, protection == PROT_NONE ? PAGE_NOACCESS : PAGE_READWRITE);
  return memory ? memory : MAP_FAILED;
}
inline int munmap(void* memory, size_t) { return VirtualFree(memory, 0, MEM_RELEASE) ? 0 : -1; }
