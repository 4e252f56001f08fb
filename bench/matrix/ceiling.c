// libceiling.so: an allocator that does nothing, for the local rows of the matrix. It shows what
// the harness itself costs.
//
// Every thread but the first has one buffer, and every malloc of such a thread is that buffer:
// right for a thread with one live block. Whatever must have memory of its own (the first thread,
// calloc, realloc, aligned blocks, large blocks) is cut from a reservation and never given back.
// Nothing else than bench_matrix can run on it.
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))

enum { kAlignment = 64, kBufferBytes = 128 * 1024 };
static const size_t kReservedBytes = (size_t)1 << 32;

static _Atomic(char*) reservation;
static atomic_size_t used_bytes;

static _Thread_local char* buffer __attribute__((tls_model("initial-exec")));
static _Thread_local bool is_first_thread __attribute__((tls_model("initial-exec")));

static char* reserve(void) {
  char* memory = mmap(NULL, kReservedBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  is_first_thread = true;  // before the program has any other thread
  atomic_store(&reservation, memory);
  return memory;
}

// A size of its own stands before each block, for realloc. Fresh memory, so it is zero.
static void* cut(size_t alignment, size_t size) {
  char* memory = atomic_load(&reservation);
  if (!memory) memory = reserve();
  if (memory && size < kReservedBytes && alignment < kReservedBytes) {
    const size_t room = size + alignment + 2 * kAlignment;
    const size_t start = atomic_fetch_add(&used_bytes, room);
    if (start + room <= kReservedBytes) {
      const uintptr_t first = (uintptr_t)memory + start + sizeof(size_t);
      const uintptr_t block = (first + alignment - 1) & ~(uintptr_t)(alignment - 1);
      ((size_t*)block)[-1] = size;
      return (void*)block;
    }
  }
  errno = ENOMEM;
  return NULL;
}

__attribute__((noinline)) static void* malloc_slow(size_t size) {
  const bool own_memory = is_first_thread || !atomic_load(&reservation) || size > kBufferBytes;
  if (own_memory) return cut(kAlignment, size);
  return buffer = cut(4096, kBufferBytes);
}

EXPORT void* malloc(size_t size) {
  if (__builtin_expect(buffer != NULL, 1) && size <= kBufferBytes) return buffer;
  return malloc_slow(size);
}

EXPORT void free(void* block) { (void)block; }

EXPORT void* calloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
  return cut(kAlignment, bytes);
}

EXPORT void* realloc(void* block, size_t size) {
  void* moved = cut(kAlignment, size);
  if (moved && block) {
    const size_t old_size = ((size_t*)block)[-1];
    memcpy(moved, block, old_size < size ? old_size : size);
  }
  return moved;
}

EXPORT void* memalign(size_t alignment, size_t size) {
  return cut(alignment < kAlignment ? kAlignment : alignment, size);
}

EXPORT void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

EXPORT int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}

EXPORT size_t malloc_usable_size(void* block) { return block ? ((size_t*)block)[-1] : 0; }
