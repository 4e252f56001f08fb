// realloc: contents survive every way from one size to another, and failure leaves the block as it
// was.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "support/line_under_test.h"
#include "support/opaque.h"
#include "support/pattern.h"
#include "support/random.h"

namespace hakozuna::test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// One size of every kind there is in an allocator: tiny, between, a page, a span, above the spans,
// huge; and their borders.
const std::vector<size_t>& sizes() {
  static const std::vector<size_t> list = {
      1,       16,      17,      100,   128,      129,      1000,     1024,
      1025,    4096,    4097,    8192,  16384,    24576,    32768,    32769,
      49152,   65535,   65536,   65537, 100'000,  131'072,  200'000,  262'144,
      262'145, 524'288, 524'289, kMiB,  kMiB + 1, 2 * kMiB, 5 * kMiB, 12 * kMiB};
  return list;
}

void expect_transition(size_t from, size_t to) {
  void* block = opaque(std::malloc(from));
  ASSERT_NE(block, nullptr);
  fill_sparse(block, from, from + to);
  block = opaque(std::realloc(block, to));
  ASSERT_NE(block, nullptr) << from << " -> " << to;
  ASSERT_GE(malloc_usable_size(block), to);
  ASSERT_EQ(reinterpret_cast<uintptr_t>(block) % 16, 0u);
  ASSERT_TRUE(has_sparse(block, from, from + to, from < to ? from : to)) << from << " -> " << to;
  fill_sparse(block, malloc_usable_size(block), 7);
  ASSERT_TRUE(has_sparse(block, malloc_usable_size(block), 7));
  std::free(block);
}

TEST(Realloc, EveryTransitionKeepsTheContents) {
  for (const size_t from : sizes()) {
    for (const size_t to : sizes()) {
      expect_transition(from, to);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Realloc, NullIsMalloc) {
  for (const size_t size : sizes()) {
    void* block = opaque(std::realloc(nullptr, size));
    ASSERT_NE(block, nullptr);
    EXPECT_GE(malloc_usable_size(block), size);
    std::free(block);
  }
  void* block = opaque(std::realloc(nullptr, 0));
  EXPECT_NE(block, nullptr) << "realloc(NULL, 0) is malloc(0)";
  std::free(block);
}

// Programs for Linux rely on what the C library here does: the block is freed and the answer is
// null. They would leak, or free twice, with any other answer.
TEST(Realloc, ToZeroFrees) {
  for (const size_t size : sizes()) {
    void* block = opaque(std::malloc(size));
    ASSERT_NE(block, nullptr);
    errno = 4321;
    EXPECT_EQ(opaque(std::realloc(block, opaque(size_t{0}))), nullptr) << size;
    EXPECT_EQ(errno, 4321) << "null is no error here";
    if (detection().exact_classify) {
      EXPECT_NE(api().classify(block), HAKOZUNA_VALID) << size;
    }
  }
}

TEST(Realloc, WithinTheUsableSizeDoesNotMove) {
  for (const size_t size : sizes()) {
    void* block = opaque(std::malloc(size));
    ASSERT_NE(block, nullptr);
    const size_t usable = malloc_usable_size(block);
    void* same = opaque(std::realloc(block, usable));
    EXPECT_EQ(same, block) << size << ", usable " << usable;
    if (same != nullptr) block = same;
    std::free(block);
  }
}

TEST(Realloc, FailureLeavesTheBlock) {
  for (const size_t size : sizes()) {
    void* block = opaque(std::malloc(size));
    ASSERT_NE(block, nullptr);
    fill_sparse(block, size, size);
    for (const size_t impossible :
         {static_cast<size_t>(PTRDIFF_MAX), static_cast<size_t>(PTRDIFF_MAX) + 1, SIZE_MAX - 4096,
          SIZE_MAX}) {
      errno = 0;
      ASSERT_EQ(opaque(std::realloc(block, opaque(impossible))), nullptr);
      EXPECT_EQ(errno, ENOMEM);
    }
    EXPECT_TRUE(has_sparse(block, size, size));
    std::free(block);
  }
}

TEST(Realloc, GrowsByteByByteAndShrinksBack) {
  void* block = nullptr;
  for (size_t size = 1; size <= 5000; ++size) {
    block = opaque(std::realloc(block, size));
    ASSERT_NE(block, nullptr);
    static_cast<unsigned char*>(block)[size - 1] = static_cast<unsigned char>(size);
  }
  for (size_t size = 5000; size >= 1; --size) {
    block = opaque(std::realloc(block, size));
    ASSERT_NE(block, nullptr);
    ASSERT_EQ(static_cast<unsigned char*>(block)[size - 1], static_cast<unsigned char>(size));
  }
  std::free(block);
}

// What a growing vector does; each step must keep all that was there before.
TEST(Realloc, GrowsGeometricallyTo256MiB) {
  size_t size = 16;
  void* block = opaque(std::malloc(size));
  ASSERT_NE(block, nullptr);
  fill_sparse(block, size, 3);
  while (size < 256 * kMiB) {
    const size_t larger = size + size / 2;
    block = opaque(std::realloc(block, larger));
    ASSERT_NE(block, nullptr);
    ASSERT_TRUE(has_sparse(block, size, 3)) << size << " -> " << larger;
    size = larger;
    fill_sparse(block, size, 3);
  }
  std::free(block);
}

TEST(Realloc, OfAlignedBlocksKeepsTheContents) {
  for (const size_t alignment : {size_t{32}, size_t{64}, size_t{4096}, size_t{65536}, kMiB}) {
    for (const size_t from : {size_t{1}, size_t{100}, size_t{5000}, size_t{70'000}, 2 * kMiB}) {
      for (const size_t to : {size_t{1}, size_t{300}, size_t{40'000}, size_t{600'000}, 3 * kMiB}) {
        void* block = nullptr;
        ASSERT_EQ(posix_memalign(&block, alignment, from), 0);
        fill_sparse(block, from, alignment);
        block = opaque(std::realloc(block, to));
        ASSERT_NE(block, nullptr);
        ASSERT_TRUE(has_sparse(block, from, alignment, from < to ? from : to))
            << alignment << ": " << from << " -> " << to;
        std::free(block);
      }
    }
  }
}

TEST(Realloc, InAnotherThreadThanTheOwner) {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    const size_t from = random.size_between(1, kMiB);
    const size_t to = random.size_between(1, kMiB);
    void* block = opaque(std::malloc(from));
    ASSERT_NE(block, nullptr);
    fill_sparse(block, from, 9);
    std::thread([&block, to] { block = opaque(std::realloc(block, to)); }).join();
    ASSERT_NE(block, nullptr);
    ASSERT_TRUE(has_sparse(block, from, 9, from < to ? from : to)) << from << " -> " << to;
    std::free(block);
  }
}

}  // namespace
}  // namespace hakozuna::test
