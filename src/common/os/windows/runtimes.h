// The C runtimes of a Windows process: each is an allocator of its own, with blocks that only it can free.
//
// A runtime is found when its module is loaded, by the loader's thread, and stays. Its functions are kept as they were then: what the front
// door puts in their place later comes back to them for blocks that are not ours.
#pragma once

#include <windows.h>

#include <atomic>
#include <cstddef>

namespace hakozuna::os {

// Those of system and compilers since 2015; msvcrt is what mingw-w64 links and what parts of the system use. Older ones of Visual C++ are left
// alone altogether.
inline constexpr const wchar_t* kRuntimeNames[] = {L"msvcrt.dll", L"ucrtbase.dll"};
inline constexpr size_t kRuntimeCount = 2;

struct Runtime {
  HMODULE module = nullptr;
  void (*free)(void*) = nullptr;
  void* (*realloc)(void*, size_t) = nullptr;
  size_t (*msize)(void*) = nullptr;
  void* (*expand)(void*, size_t) = nullptr;
  void* (*recalloc)(void*, size_t, size_t) = nullptr;
  void (*aligned_free)(void*) = nullptr;
  void* (*aligned_realloc)(void*, size_t, size_t) = nullptr;
  void* (*aligned_recalloc)(void*, size_t, size_t, size_t) = nullptr;
  size_t (*aligned_msize)(void*, size_t, size_t) = nullptr;
  void* (*aligned_offset_malloc)(size_t, size_t, size_t) = nullptr;
  void* (*aligned_offset_realloc)(void*, size_t, size_t, size_t) = nullptr;
  void* (*aligned_offset_recalloc)(void*, size_t, size_t, size_t, size_t) = nullptr;
  int* (*error_number)() = nullptr;
  intptr_t (*heap_handle)() = nullptr;
  HANDLE heap = nullptr;  // what that has answered: where its blocks are. Runtimes may share one
};

// Of kRuntimeNames, in that order.
extern Runtime runtimes[kRuntimeCount];
extern std::atomic<size_t> loaded_runtimes;  // bit i: runtimes[i] is complete. Set with release, read with acquire

// Notes the runtime that this module is; its index, or kRuntimeCount if it is none. Loader lock held.
size_t note_runtime(HMODULE module, const wchar_t* name, size_t name_length);

}  // namespace hakozuna::os
