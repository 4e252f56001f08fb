// free_sized and free_aligned_sized of C23, under their own names and ours.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/line_under_test.h"
#include "support/opaque.h"
#include "support/random.h"

namespace hakozuna::test {
namespace {

using FreeSized = void(void*, size_t);
using FreeAlignedSized = void(void*, size_t, size_t);

template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

void expect_frees_sized(FreeSized* free_sized) {
  ASSERT_NE(free_sized, nullptr);
  free_sized(nullptr, 0);
  free_sized(nullptr, 100);
  Random random(31);
  for (int i = 0; i < 20000; ++i) {
    const size_t size = i < 1000 ? static_cast<size_t>(i) : random.size_between(1, 2'000'000);
    void* block = opaque(std::malloc(size));
    ASSERT_NE(block, nullptr);
    free_sized(block, size);
    if (detection().exact_classify) {
      ASSERT_NE(api().classify(block), HAKOZUNA_VALID) << size;
    }
  }
  void* cleared = opaque(std::calloc(10, 30));
  free_sized(cleared, 300);
  void* resized = opaque(std::realloc(std::malloc(10), 5000));
  ASSERT_NE(resized, nullptr);
  resized = opaque(std::realloc(resized, 4000));
  free_sized(resized, 4000);
}

void expect_frees_aligned_sized(FreeAlignedSized* free_aligned_sized) {
  ASSERT_NE(free_aligned_sized, nullptr);
  free_aligned_sized(nullptr, 64, 100);
  for (size_t alignment = 16; alignment <= (size_t{1} << 20); alignment *= 2) {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{100}, size_t{5000}, size_t{1'000'000}}) {
      void* block = opaque(aligned_alloc(alignment, opaque(size)));
      ASSERT_NE(block, nullptr);
      free_aligned_sized(block, alignment, size);
      if (detection().exact_classify) {
        ASSERT_NE(api().classify(block), HAKOZUNA_VALID) << alignment << ", " << size;
      }
    }
  }
}

TEST(SizedFree, UnderTheNameOfC23) {
  REQUIRE_LINE();
  expect_frees_sized(find<FreeSized>("free_sized"));
}

TEST(SizedFree, UnderOurName) {
  REQUIRE_LINE();
  expect_frees_sized(api().free_sized);
}

TEST(AlignedSizedFree, UnderTheNameOfC23) {
  REQUIRE_LINE();
  expect_frees_aligned_sized(find<FreeAlignedSized>("free_aligned_sized"));
}

TEST(AlignedSizedFree, UnderOurName) {
  REQUIRE_LINE();
  expect_frees_aligned_sized(api().free_aligned_sized);
}

}  // namespace
}  // namespace hakozuna::test
