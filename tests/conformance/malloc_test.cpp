// malloc and free: every size gives a block of its own that is aligned, holds what was asked and
// keeps it.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include "support/opaque.h"
#include "support/pattern.h"
#include "support/random.h"
#include "support/scratch_array.h"

namespace hakozuna::test {
namespace {

constexpr size_t kAlignment = alignof(std::max_align_t);
constexpr size_t kMiB = size_t{1} << 20;

bool is_aligned_to(const void* block, size_t alignment) {
  return reinterpret_cast<uintptr_t>(block) % alignment == 0;
}

TEST(Malloc, ZeroBytesGiveDistinctBlocks) {
  std::set<void*> blocks;
  for (int i = 0; i < 1000; ++i) {
    void* block = opaque(std::malloc(0));
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(is_aligned_to(block, kAlignment));
    EXPECT_TRUE(blocks.insert(block).second) << "two live blocks at one address";
  }
  for (void* block : blocks) std::free(block);
}

TEST(Malloc, FreeOfNullDoesNothing) {
  for (int i = 0; i < 1000; ++i) std::free(opaque<void*>(nullptr));
}

TEST(Malloc, EverySizeTo70000IsAlignedAndWritable) {
  for (size_t size = 0; size <= 70000; ++size) {
    void* block = opaque(std::malloc(size));
    ASSERT_NE(block, nullptr) << size;
    ASSERT_TRUE(is_aligned_to(block, kAlignment)) << size;
    ASSERT_GE(malloc_usable_size(block), size);
    if (size > 0) {
      auto* bytes = static_cast<volatile unsigned char*>(block);
      bytes[0] = 1;
      bytes[size - 1] = 2;
    }
    std::free(block);
  }
}

// Neighbours written to the end of their usable size must not reach each other.
TEST(Malloc, BlocksOfOneSizeDoNotOverlap) {
  constexpr size_t kBlocks = 64;
  for (size_t size = 1; size <= 70000; size += 1 + size / 64) {
    void* blocks[kBlocks];
    for (size_t i = 0; i < kBlocks; ++i) {
      blocks[i] = opaque(std::malloc(size));
      ASSERT_NE(blocks[i], nullptr);
      fill_sparse(blocks[i], malloc_usable_size(blocks[i]), i);
    }
    for (size_t i = 0; i < kBlocks; ++i) {
      ASSERT_TRUE(has_sparse(blocks[i], malloc_usable_size(blocks[i]), i)) << size;
    }
    for (void* block : blocks) std::free(block);
  }
}

TEST(Malloc, BlocksOfManySizesKeepTheirContents) {
  struct Block {
    void* memory;
    size_t size;
  };
  constexpr size_t kBlocks = 20000;
  ScratchArray<Block> blocks(kBlocks);
  Random random(1);
  for (size_t i = 0; i < kBlocks; ++i) {
    const size_t size = random.size_between(1, 32768);
    blocks[i] = {opaque(std::malloc(size)), size};
    ASSERT_NE(blocks[i].memory, nullptr);
    fill_pattern(blocks[i].memory, size, i);
  }
  // Holes, then new blocks in them.
  for (size_t i = 0; i < kBlocks; i += 2) std::free(blocks[i].memory);
  for (size_t i = 0; i < kBlocks; i += 2) {
    const size_t size = random.size_between(1, 32768);
    blocks[i] = {opaque(std::malloc(size)), size};
    ASSERT_NE(blocks[i].memory, nullptr);
    fill_pattern(blocks[i].memory, size, i);
  }
  for (size_t i = 0; i < kBlocks; ++i) {
    ASSERT_TRUE(has_pattern(blocks[i].memory, blocks[i].size, i)) << i;
    std::free(blocks[i].memory);
  }
}

TEST(Malloc, RandomSizesTo64MiB) {
  Random random(2);
  for (int round = 0; round < 100; ++round) {
    const size_t size = random.size_between(65536, 64 * kMiB);
    void* block = opaque(std::malloc(size));
    ASSERT_NE(block, nullptr) << size;
    ASSERT_TRUE(is_aligned_to(block, kAlignment));
    ASSERT_GE(malloc_usable_size(block), size);
    fill_sparse(block, malloc_usable_size(block), size);
    ASSERT_TRUE(has_sparse(block, malloc_usable_size(block), size)) << size;
    std::free(block);
  }
}

TEST(Malloc, ManyLargeBlocksAtOnce) {
  constexpr size_t kBlocks = 200;
  void* blocks[kBlocks];
  size_t sizes[kBlocks];
  Random random(3);
  for (size_t i = 0; i < kBlocks; ++i) {
    sizes[i] = random.between(500'000, 8 * kMiB);
    blocks[i] = opaque(std::malloc(sizes[i]));
    ASSERT_NE(blocks[i], nullptr);
    fill_sparse(blocks[i], sizes[i], i);
  }
  for (size_t i = 0; i < kBlocks; ++i) {
    EXPECT_TRUE(has_sparse(blocks[i], sizes[i], i)) << sizes[i];
    std::free(blocks[i]);
  }
}

TEST(Malloc, AGigabyteInOneBlock) {
  void* block = opaque(std::malloc(1024 * kMiB));
  ASSERT_NE(block, nullptr);
  auto* bytes = static_cast<volatile unsigned char*>(block);
  bytes[0] = 1;
  bytes[512 * kMiB] = 2;
  bytes[1024 * kMiB - 1] = 3;
  EXPECT_EQ(bytes[0] + bytes[512 * kMiB] + bytes[1024 * kMiB - 1], 6);
  std::free(block);
}

TEST(Malloc, FreePreservesErrno) {
  for (const size_t size : {size_t{1}, size_t{100}, size_t{5000}, size_t{40000}, size_t{200000},
                            kMiB, 20 * kMiB, 300 * kMiB}) {
    void* block = opaque(std::malloc(size));
    ASSERT_NE(block, nullptr);
    static_cast<volatile char*>(block)[0] = 1;
    errno = 12345;
    std::free(block);
    EXPECT_EQ(errno, 12345) << size;
  }
  // Frees that empty whole spans take the slow paths.
  std::vector<void*> blocks(3000);
  for (void*& block : blocks) block = opaque(std::malloc(2000));
  errno = 12345;
  for (void* block : blocks) {
    std::free(block);
    ASSERT_EQ(errno, 12345);
  }
}

TEST(Malloc, FreePreservesErrnoInAnotherThread) {
  std::vector<void*> blocks(3000);
  for (void*& block : blocks) block = opaque(std::malloc(3000));
  std::thread([&blocks] {
    errno = 54321;
    for (void* block : blocks) {
      std::free(block);
      ASSERT_EQ(errno, 54321);
    }
  }).join();
}

TEST(Malloc, MemoryIsReused) {
  // The same work again and again must not take new addresses without end.
  std::set<uintptr_t> pages;
  for (int round = 0; round < 2000; ++round) {
    void* blocks[100];
    for (void*& block : blocks) {
      block = opaque(std::malloc(1000));
      ASSERT_NE(block, nullptr);
    }
    for (void* block : blocks) {
      pages.insert(reinterpret_cast<uintptr_t>(block) >> 16);
      std::free(block);
    }
  }
  EXPECT_LE(pages.size(), 64u) << "of 64 KiB each, for 100 kB that are live";
}

}  // namespace
}  // namespace hakozuna::test
