// Requests that cannot be met: null, ENOMEM, and an allocator that works on.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "support/line_under_test.h"
#include "support/opaque.h"

namespace hakozuna::test {
namespace {

const size_t kImpossible[] = {static_cast<size_t>(PTRDIFF_MAX),
                              static_cast<size_t>(PTRDIFF_MAX) + 1,
                              SIZE_MAX / 2 + 4096,
                              SIZE_MAX - 65536,
                              SIZE_MAX - 4096,
                              SIZE_MAX - 15,
                              SIZE_MAX - 1,
                              SIZE_MAX};

TEST(Failure, MallocOfWhatNoProcessHas) {
  for (const size_t size : kImpossible) {
    errno = 0;
    EXPECT_EQ(opaque(std::malloc(opaque(size))), nullptr) << size;
    EXPECT_EQ(errno, ENOMEM) << size;
    errno = 0;
    EXPECT_EQ(opaque(std::calloc(1, opaque(size))), nullptr) << size;
    EXPECT_EQ(errno, ENOMEM) << size;
    errno = 0;
    EXPECT_EQ(opaque(std::realloc(nullptr, opaque(size))), nullptr) << size;
    EXPECT_EQ(errno, ENOMEM) << size;
  }
}

TEST(Failure, MoreThanTheAddressSpace) {
  errno = 0;
  EXPECT_EQ(opaque(std::malloc(opaque(size_t{1} << 60))), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(Failure, AllocationWorksAfterwards) {
  for (int round = 0; round < 1000; ++round) {
    ASSERT_EQ(opaque(std::malloc(opaque(kImpossible[static_cast<size_t>(round) % 8]))), nullptr);
    void* block = opaque(std::malloc(static_cast<size_t>(round) * 100));
    ASSERT_NE(block, nullptr);
    std::free(block);
  }
  EXPECT_EQ(problem_with_statistics(), "");
}

TEST(Failure, GoodSizeOfTheImpossibleIsZero) {
  REQUIRE_LINE();
  for (const size_t size : kImpossible) EXPECT_EQ(api().good_size(size), 0u) << size;
}

}  // namespace
}  // namespace hakozuna::test
