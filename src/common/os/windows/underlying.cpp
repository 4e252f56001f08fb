// The allocators underneath are the C runtimes' heaps. Which of them a block is from is asked of the system.
#include "common/os/underlying.h"

#include <errno.h>

#include <atomic>

#include "common/os/windows/last_error.h"
#include "common/os/windows/runtimes.h"

namespace hakozuna::os {
namespace {

std::atomic<uint64_t> foreign_frees{0};  // relaxed: statistics

// Asked for at the first foreign block and not when the runtime is found, which is before it has started. Of two threads both get the same.
HANDLE heap_of(Runtime& runtime) {
  HANDLE heap = __atomic_load_n(&runtime.heap, __ATOMIC_RELAXED);
  if (heap || !runtime.heap_handle) return heap;
  heap = reinterpret_cast<HANDLE>(runtime.heap_handle());
  __atomic_store_n(&runtime.heap, heap, __ATOMIC_RELAXED);
  return heap;
}

// The runtime whose heap has the block. If none has, the first: whatever it does with such a pointer, it would have done without us.
// Null if there is no runtime.
Runtime* runtime_of(const void* block) {
  PreserveLastError preserve;
  const size_t loaded = loaded_runtimes.load(std::memory_order_acquire);  // pairs with note_runtime()
  Runtime* first = nullptr;
  for (size_t i = 0; i < kRuntimeCount; ++i) {
    if (!(loaded >> i & 1)) continue;
    const HANDLE heap = heap_of(runtimes[i]);
    if (heap && HeapValidate(heap, 0, block)) return &runtimes[i];
    if (!first) first = &runtimes[i];
  }
  return first;
}

}  // namespace

void underlying_free(void* block) {
  foreign_frees.fetch_add(1, std::memory_order_relaxed);
  const Runtime* const runtime = runtime_of(block);
  if (runtime && runtime->free) runtime->free(block);
}

void* underlying_realloc(void* block, size_t size) {
  const Runtime* const runtime = runtime_of(block);
  if (runtime && runtime->realloc) return runtime->realloc(block, size);
  errno = ENOMEM;
  return nullptr;
}

size_t underlying_usable_size(const void* block) {
  const Runtime* const runtime = runtime_of(block);
  return runtime && runtime->msize ? runtime->msize(const_cast<void*>(block)) : 0;
}

void* underlying_mallctl() { return nullptr; }

uint64_t foreign_free_count() { return foreign_frees.load(std::memory_order_relaxed); }

}  // namespace hakozuna::os
