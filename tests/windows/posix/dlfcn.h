// What the tests use of dlsym(): a name of the library under test.
#pragma once

#include <malloc.h>
#include <windows.h>

#include <initializer_list>

#undef near
#undef far

#define RTLD_DEFAULT nullptr

inline void* dlsym(void*, const char* name) {
  for (const char* const library : {"hakozuna_hz8.dll", "hakozuna_hz10.dll", "hakozuna_hz3.dll", "hakozuna_hz4.dll"}) {
    if (const HMODULE module = GetModuleHandleA(library)) return reinterpret_cast<void*>(GetProcAddress(module, name));
  }
  return nullptr;
}
