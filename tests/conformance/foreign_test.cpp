// Blocks of the allocator underneath, which is the C library's: they go back to it, are counted,
// and never touch our heap.
#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>

#include "support/line_under_test.h"
#include "support/opaque.h"
#include "support/pattern.h"

namespace hakozuna::test {
namespace {

// The C library's own malloc, which the preloaded one stands in front of.
class Foreign : public ::testing::Test {
 protected:
  void SetUp() override {
    REQUIRE_LINE();
    void* libc = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
    ASSERT_NE(libc, nullptr);
    malloc_ = reinterpret_cast<void* (*)(size_t)>(dlsym(libc, "malloc"));
    ASSERT_NE(malloc_, nullptr);
    ASSERT_NE(reinterpret_cast<void*>(malloc_), reinterpret_cast<void*>(&std::malloc));
  }

  void* allocate(size_t size) {
    void* block = opaque(malloc_(size));
    EXPECT_NE(block, nullptr);
    EXPECT_EQ(api().classify(block), HAKOZUNA_MISS);
    return block;
  }

  static uint64_t foreign_frees() {
    hakozuna_statistics s{};
    EXPECT_EQ(api().get_statistics(&s, sizeof s), 0);
    return s.foreign_frees;
  }

 private:
  void* (*malloc_)(size_t) = nullptr;
};

TEST_F(Foreign, BlocksAreFreedUnderneathAndCounted) {
  const uint64_t before = foreign_frees();
  constexpr size_t kSizes[] = {1, 100, 5000, 200'000, 5'000'000};
  for (const size_t size : kSizes) std::free(allocate(size));
  EXPECT_EQ(foreign_frees() - before, std::size(kSizes));
}

TEST_F(Foreign, EveryDeleteTakesThem) {
  ::operator delete(allocate(10));
  ::operator delete[](allocate(10));
  ::operator delete (allocate(10), size_t{10});
  api().free_sized(allocate(10), 10);
}

TEST_F(Foreign, ReallocKeepsTheContents) {
  for (const size_t to : {size_t{50}, size_t{100}, size_t{5000}, size_t{1'000'000}}) {
    void* block = allocate(100);
    fill_pattern(block, 100, 1);
    block = opaque(std::realloc(block, to));
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(has_pattern(block, to < 100 ? to : 100, 1));
    std::free(block);
  }
  EXPECT_EQ(opaque(std::realloc(allocate(100), opaque(size_t{0}))), nullptr);
}

TEST_F(Foreign, UsableSizeIsTheirs) {
  void* block = allocate(100);
  EXPECT_GE(malloc_usable_size(block), 100u);
  EXPECT_EQ(api().usable_size(block), 0u) << "the block is not ours";
  std::free(block);
}

}  // namespace
}  // namespace hakozuna::test
