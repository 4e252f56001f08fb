// posix_memalign, aligned_alloc, memalign, valloc, pvalloc: every alignment, its errors, and blocks
// that free and realloc like others.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "support/opaque.h"
#include "support/pattern.h"
#include "support/random.h"

namespace hakozuna::test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

bool is_aligned_to(const void* block, size_t alignment) {
  return reinterpret_cast<uintptr_t>(block) % alignment == 0;
}

TEST(PosixMemalign, EveryAlignmentAndSize) {
  for (size_t alignment = sizeof(void*); alignment <= kMiB; alignment *= 2) {
    for (size_t size = 0; size <= 3 * kMiB; size += 1 + size / 3) {
      void* blocks[4];
      for (void*& block : blocks) {
        ASSERT_EQ(posix_memalign(&block, alignment, size), 0) << alignment << ", " << size;
        ASSERT_NE(block, nullptr);
        ASSERT_TRUE(is_aligned_to(block, alignment))
            << block << " for " << alignment << ", " << size;
        ASSERT_TRUE(is_aligned_to(block, 16));
        ASSERT_GE(malloc_usable_size(block), size);
        fill_sparse(block, size, reinterpret_cast<uintptr_t>(block));
      }
      for (void* block : blocks) {
        ASSERT_TRUE(has_sparse(block, size, reinterpret_cast<uintptr_t>(block)));
        std::free(block);
      }
    }
  }
}

TEST(PosixMemalign, To64MiB) {
  for (const size_t alignment : {2 * kMiB, 16 * kMiB, 64 * kMiB}) {
    for (const size_t size : {size_t{1}, size_t{100'000}, 5 * kMiB, 100 * kMiB}) {
      void* block = nullptr;
      ASSERT_EQ(posix_memalign(&block, alignment, size), 0) << alignment << ", " << size;
      ASSERT_TRUE(is_aligned_to(block, alignment));
      fill_sparse(block, size, 1);
      ASSERT_TRUE(has_sparse(block, size, 1));
      std::free(block);
    }
  }
}

TEST(PosixMemalign, RejectsWhatIsNoAlignment) {
  void* untouched = &untouched;
  void* block = untouched;
  for (const size_t alignment : {size_t{0}, size_t{1}, size_t{2}, size_t{4}, size_t{12}, size_t{24},
                                 size_t{100}, size_t{4095}, SIZE_MAX, SIZE_MAX - 7}) {
    errno = 777;
    EXPECT_EQ(posix_memalign(&block, opaque(alignment), 64), EINVAL) << alignment;
    EXPECT_EQ(block, untouched) << "a failure leaves the pointer";
    EXPECT_EQ(errno, 777) << "posix_memalign answers with its result";
  }
}

TEST(PosixMemalign, OutOfMemoryIsItsResult) {
  void* untouched = &untouched;
  void* block = untouched;
  for (const size_t size :
       {static_cast<size_t>(PTRDIFF_MAX), SIZE_MAX / 2 + 1, SIZE_MAX - 4096, SIZE_MAX}) {
    for (const size_t alignment : {size_t{8}, size_t{64}, size_t{4096}, 64 * kMiB}) {
      errno = 777;
      EXPECT_EQ(posix_memalign(&block, alignment, opaque(size)), ENOMEM)
          << alignment << ", " << size;
      EXPECT_EQ(block, untouched);
      EXPECT_EQ(errno, 777);
    }
  }
  // An alignment no address space has room for.
  EXPECT_EQ(posix_memalign(&block, size_t{1} << 62, 64), ENOMEM);
  EXPECT_EQ(posix_memalign(&block, size_t{1} << 63, 64), ENOMEM);
  EXPECT_EQ(block, untouched);
}

TEST(AlignedAlloc, EveryAlignmentAlsoWhereTheSizeIsNoMultiple) {
  for (size_t alignment = 1; alignment <= 4 * kMiB; alignment *= 2) {
    for (const size_t size :
         {size_t{0}, size_t{1}, alignment - 1, alignment, alignment + 1, 3 * alignment}) {
      void* block = opaque(aligned_alloc(alignment, opaque(size)));
      ASSERT_NE(block, nullptr) << alignment << ", " << size;
      ASSERT_TRUE(is_aligned_to(block, alignment < 16 ? 16 : alignment));
      ASSERT_GE(malloc_usable_size(block), size);
      fill_sparse(block, size, alignment);
      ASSERT_TRUE(has_sparse(block, size, alignment));
      std::free(block);
    }
  }
}

TEST(AlignedAlloc, RejectsWhatIsNoPowerOfTwo) {
  for (const size_t alignment : {size_t{0}, size_t{3}, size_t{24}, size_t{4097}, SIZE_MAX}) {
    errno = 0;
    void* block = opaque(aligned_alloc(opaque(alignment), 64));
    EXPECT_EQ(block, nullptr) << alignment;
    EXPECT_EQ(errno, EINVAL) << alignment;
    std::free(block);
  }
}

TEST(AlignedAlloc, TooLargeFailsWithENOMEM) {
  for (const size_t size : {static_cast<size_t>(PTRDIFF_MAX), SIZE_MAX - 64, SIZE_MAX}) {
    errno = 0;
    EXPECT_EQ(opaque(aligned_alloc(64, opaque(size))), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(opaque(memalign(4096, opaque(size))), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(opaque(valloc(opaque(size))), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(opaque(pvalloc(opaque(size))), nullptr);
    EXPECT_EQ(errno, ENOMEM);
  }
}

TEST(Memalign, EveryPowerOfTwo) {
  for (size_t alignment = 1; alignment <= kMiB; alignment *= 2) {
    void* block = opaque(memalign(alignment, 1000));
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(is_aligned_to(block, alignment < 16 ? 16 : alignment));
    std::free(block);
  }
}

// The manual lets memalign refuse such a request or round the alignment up, but not return less
// than was asked.
TEST(Memalign, OfWhatIsNoPowerOfTwo) {
  for (const size_t alignment : {size_t{3}, size_t{24}, size_t{1000}}) {
    errno = 0;
    void* block = opaque(memalign(opaque(alignment), 1000));
    if (block == nullptr) {
      EXPECT_EQ(errno, EINVAL);
    } else {
      EXPECT_TRUE(is_aligned_to(block, std::bit_ceil(alignment)));
    }
    std::free(block);
  }
}

TEST(Valloc, IsPageAligned) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{100}, page - 1, page, page + 1, 10 * page, 5 * kMiB}) {
    void* block = opaque(valloc(size));
    ASSERT_NE(block, nullptr) << size;
    EXPECT_TRUE(is_aligned_to(block, page));
    EXPECT_GE(malloc_usable_size(block), size);
    std::free(block);
  }
}

TEST(Pvalloc, RoundsUpToWholePages) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (const size_t size : {size_t{1}, page - 1, page, page + 1, 10 * page + 5}) {
    void* block = opaque(pvalloc(size));
    ASSERT_NE(block, nullptr) << size;
    EXPECT_TRUE(is_aligned_to(block, page));
    const size_t whole = (size + page - 1) / page * page;
    EXPECT_GE(malloc_usable_size(block), whole);
    fill_pattern(block, whole, 1);
    EXPECT_TRUE(has_pattern(block, whole, 1));
    std::free(block);
  }
}

TEST(Aligned, MixedWithOtherBlocksNothingOverlaps) {
  struct Block {
    void* memory;
    size_t size;
    uint64_t seed;
  };
  Random random(11);
  std::vector<Block> blocks(4000);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const size_t size = random.size_between(1, 20000);
    const size_t alignment = size_t{8} << random.below(11);
    void* memory = nullptr;
    if (random.one_in(2)) {
      memory = opaque(std::malloc(size));
    } else {
      ASSERT_EQ(posix_memalign(&memory, alignment, size), 0);
    }
    ASSERT_NE(memory, nullptr);
    blocks[i] = {memory, size, i};
    fill_pattern(memory, size, i);
  }
  for (const Block& block : blocks) {
    ASSERT_TRUE(has_pattern(block.memory, block.size, block.seed));
    std::free(block.memory);
  }
}

}  // namespace
}  // namespace hakozuna::test
