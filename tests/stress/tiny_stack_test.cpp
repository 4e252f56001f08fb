// Threads with the smallest stack there is and every signal blocked: the slow paths must not need
// more.
#include <gtest/gtest.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>

#include <cstdlib>

#include "support/opaque.h"

namespace hakozuna::test {
namespace {

// No GoogleTest in here: its stack frames are larger than the stack. Null if all went well.
void* use_allocator(void* from_creator) {
  std::free(from_creator);
  for (size_t size = 1; size < 3'000'000; size += 1 + size / 3) {
    auto* block = static_cast<char*>(opaque(std::malloc(size)));
    if (block == nullptr) return const_cast<char*>("malloc");
    block[size - 1] = 1;
    block = static_cast<char*>(opaque(std::realloc(block, size * 2)));
    if (block == nullptr || block[size - 1] != 1) return const_cast<char*>("realloc");
    std::free(block);
    block = static_cast<char*>(opaque(std::calloc(size, 1)));
    if (block == nullptr || block[size - 1] != 0) return const_cast<char*>("calloc");
    std::free(block);
    void* aligned = nullptr;
    if (posix_memalign(&aligned, 256, size) != 0) return const_cast<char*>("posix_memalign");
    std::free(aligned);
  }
  malloc_trim(0);
  return nullptr;
}

TEST(TinyStack, EveryPathOfTheAllocator) {
  sigset_t all;
  sigset_t previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, static_cast<size_t>(PTHREAD_STACK_MIN)), 0);
  for (int i = 0; i < 50; ++i) {
    pthread_t thread;
    ASSERT_EQ(pthread_create(&thread, &attributes, use_allocator, opaque(std::malloc(100))), 0);
    void* problem = nullptr;
    ASSERT_EQ(pthread_join(thread, &problem), 0);
    EXPECT_EQ(problem, nullptr) << static_cast<const char*>(problem);
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

}  // namespace
}  // namespace hakozuna::test
