// The other names of the same functions: whichever a program or the C library calls, the block is
// ours and any of them frees it.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "support/line_under_test.h"
#include "support/opaque.h"
#include "support/pattern.h"

namespace hakozuna::test {
namespace {

template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

class OtherNames : public ::testing::Test {
 protected:
  void SetUp() override { REQUIRE_LINE(); }

  static void expect_ours_and_free(void* block) {
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(api().classify(block), HAKOZUNA_VALID);
    std::free(block);
  }

  static uint64_t returned_bytes() {
    hakozuna_statistics all;
    EXPECT_EQ(api().get_statistics(&all, sizeof all), 0);
    return all.returned;
  }
};

TEST_F(OtherNames, OfTheCLibraryAllocate) {
  expect_ours_and_free(find<void*(size_t)>("__libc_malloc")(100));
  expect_ours_and_free(find<void*(size_t, size_t)>("__libc_calloc")(10, 10));
  expect_ours_and_free(find<void*(void*, size_t)>("__libc_realloc")(std::malloc(10), 1000));
  expect_ours_and_free(find<void*(void*, size_t, size_t)>("__libc_reallocarray")(nullptr, 10, 10));
  expect_ours_and_free(find<void*(size_t, size_t)>("__libc_memalign")(64, 100));
  expect_ours_and_free(find<void*(size_t)>("__libc_valloc")(100));
  expect_ours_and_free(find<void*(size_t)>("__libc_pvalloc")(100));
  void* block = nullptr;
  ASSERT_EQ(find<int(void**, size_t, size_t)>("__posix_memalign")(&block, 64, 100), 0);
  expect_ours_and_free(block);
}

TEST_F(OtherNames, OfFreeFree) {
  for (const char* name : {"__libc_free", "cfree"}) {
    void* block = opaque(std::malloc(100));
    find<void(void*)>(name)(block);
    if (detection().exact_classify) {
      EXPECT_NE(api().classify(opaque(block)), HAKOZUNA_VALID) << name;
    }
    find<void(void*)>(name)(nullptr);
  }
}

TEST_F(OtherNames, ReallocfFreesWhereItFails) {
  auto* reallocf = find<void*(void*, size_t)>("reallocf");
  ASSERT_NE(reallocf, nullptr);
  void* block = opaque(reallocf(nullptr, 100));
  ASSERT_NE(block, nullptr);
  fill_pattern(block, 100, 1);
  block = opaque(reallocf(block, 10'000));
  ASSERT_NE(block, nullptr);
  EXPECT_TRUE(has_pattern(block, 100, 1));
  errno = 0;
  EXPECT_EQ(reallocf(block, opaque(SIZE_MAX)), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  if (detection().exact_classify) {
    EXPECT_NE(api().classify(opaque(block)), HAKOZUNA_VALID);
  }
}

// What the C library allocates itself and leaves to the program to free.
TEST_F(OtherNames, BlocksOfTheCLibraryAreOurs) {
  expect_ours_and_free(strdup("text"));
  expect_ours_and_free(strndup("text", 2));
  expect_ours_and_free(realpath("/proc/self", nullptr));
  char* text = nullptr;
  ASSERT_GT(asprintf(&text, "%d", 12345), 0);
  expect_ours_and_free(text);

  FILE* file = std::fopen("/proc/self/status", "r");
  ASSERT_NE(file, nullptr);
  char* line = nullptr;
  size_t capacity = 0;
  EXPECT_GT(getline(&line, &capacity, file), 0);
  std::fclose(file);
  expect_ours_and_free(line);

  char* memory = nullptr;
  size_t length = 0;
  FILE* stream = open_memstream(&memory, &length);
  ASSERT_NE(stream, nullptr);
  for (int i = 0; i < 10'000; ++i) std::fprintf(stream, "%d\n", i);
  std::fclose(stream);
  expect_ours_and_free(memory);
}

// What a program that was built for jemalloc does to have free memory returned.
TEST_F(OtherNames, JemallocsPurgeReturnsMemory) {
  constexpr size_t kBlocks = 2000;
  constexpr size_t kSize = 10'000;
  auto* mallctl = find<int(const char*, void*, size_t*, void*, size_t)>("mallctl");
  ASSERT_NE(mallctl, nullptr);
  for (const char* name : {"arena.0.purge", "arena.4096.purge", "arena.12.decay"}) {
    std::vector<void*> blocks;
    for (size_t i = 0; i < kBlocks; ++i) {
      blocks.push_back(opaque(std::malloc(kSize)));
      ASSERT_NE(blocks.back(), nullptr);
      fill_pattern(blocks.back(), kSize, i);
    }
    for (void* block : blocks) std::free(block);
    const uint64_t before = returned_bytes();
    EXPECT_EQ(mallctl(name, nullptr, nullptr, nullptr, 0), 0) << name;
    EXPECT_GT(returned_bytes(), before + kBlocks * kSize / 2) << name;
  }
  for (const char* name : {"arena.purge", "arena..purge", "arena.0.purges", "arena.x.purge", "version", ""}) {
    EXPECT_EQ(mallctl(name, nullptr, nullptr, nullptr, 0), ENOENT) << name;
  }
  EXPECT_EQ(mallctl(nullptr, nullptr, nullptr, nullptr, 0), ENOENT);
}

TEST_F(OtherNames, NoneIsTheCLibrarysOwn) {
  Dl_info ours{};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(api().classify), &ours), 0);
  for (const char* name : {"malloc",
                           "free",
                           "calloc",
                           "realloc",
                           "reallocarray",
                           "memalign",
                           "aligned_alloc",
                           "posix_memalign",
                           "valloc",
                           "pvalloc",
                           "malloc_usable_size",
                           "mallinfo",
                           "mallinfo2",
                           "mallopt",
                           "malloc_trim",
                           "malloc_info",
                           "malloc_stats",
                           "_Znwm",
                           "_Znam",
                           "_ZdlPv",
                           "_ZdaPv",
                           "_ZdlPvm",
                           "_ZnwmSt11align_val_t",
                           "_ZdlPvSt11align_val_t"}) {
    Dl_info found{};
    void* address = dlsym(RTLD_DEFAULT, name);
    ASSERT_NE(dladdr(address, &found), 0) << name;
    EXPECT_STREQ(found.dli_fname, ours.dli_fname) << name;
  }
}

}  // namespace
}  // namespace hakozuna::test
