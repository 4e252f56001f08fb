// hakozuna_classify: the exact verdict for whatever address it is shown.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include "support/line_under_test.h"
#include "support/opaque.h"
#include "support/random.h"

namespace hakozuna::test {
namespace {

int static_object = 0;

TEST(Classify, LiveBlocksOfEverySizeAreValid) {
  REQUIRE_LINE();
  std::vector<void*> blocks;
  for (size_t size = 0; size <= 4'000'000; size += 1 + size / 20) {
    void* block = opaque(std::malloc(size));
    ASSERT_NE(block, nullptr);
    blocks.push_back(block);
  }
  for (void* block : blocks) EXPECT_EQ(api().classify(block), HAKOZUNA_VALID);
  for (void* block : blocks) std::free(block);
}

TEST(Classify, WhatIsNotOursIsAMiss) {
  REQUIRE_LINE();
  int local = 0;
  void* mapping = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapping, MAP_FAILED);
  const void* foreign[] = {nullptr,
                           &static_object,
                           &local,
                           mapping,
                           static_cast<char*>(mapping) + 4096,
                           reinterpret_cast<const void*>(&std::abort),
                           opaque(reinterpret_cast<const void*>(uintptr_t{16})),
                           opaque(reinterpret_cast<const void*>(UINTPTR_MAX)),
                           opaque(reinterpret_cast<const void*>(UINTPTR_MAX - 65535)),
                           opaque(reinterpret_cast<const void*>(uintptr_t{1} << 47)),
                           opaque(reinterpret_cast<const void*>((uintptr_t{1} << 47) - 4096)),
                           opaque(reinterpret_cast<const void*>(uintptr_t{1} << 63))};
  for (const void* address : foreign) EXPECT_EQ(api().classify(address), HAKOZUNA_MISS) << address;
  munmap(mapping, 65536);
  EXPECT_EQ(api().classify(mapping), HAKOZUNA_MISS);
}

TEST(Classify, NoAddressDisturbsIt) {
  REQUIRE_LINE();
  Random random(41);
  for (int i = 0; i < 1'000'000; ++i) {
    // All of the address space, and twice as often what lies near our own blocks.
    void* block = i % 4096 == 0 ? opaque(std::malloc(random.size_between(1, 1'000'000))) : nullptr;
    const uintptr_t near = reinterpret_cast<uintptr_t>(block) + random.below(1 << 21);
    const uintptr_t address = block == nullptr ? random.next() >> random.below(48) : near;
    const hakozuna_verdict verdict = api().classify(reinterpret_cast<const void*>(address));
    ASSERT_GE(verdict, HAKOZUNA_MISS);
    ASSERT_LE(verdict, HAKOZUNA_METADATA);
    std::free(block);
  }
}

class ExactClassify : public ::testing::Test {
 protected:
  void SetUp() override {
    REQUIRE_LINE();
    if (!detection().exact_classify) GTEST_SKIP() << line_name() << " does not promise it";
  }
};

TEST_F(ExactClassify, EveryByteInsideABlockIsInteriorOrMisaligned) {
  for (const size_t size :
       {size_t{16}, size_t{100}, size_t{1000}, size_t{24576}, size_t{200'000}, size_t{3'000'000}}) {
    auto* block = static_cast<char*>(opaque(std::malloc(size)));
    ASSERT_NE(block, nullptr);
    const size_t usable = api().usable_size(block);
    for (size_t offset = 1; offset < usable; offset += offset < 4096 ? 1 : 4093) {
      const hakozuna_verdict expected = offset % 16 == 0 ? HAKOZUNA_INTERIOR : HAKOZUNA_MISALIGNED;
      ASSERT_EQ(api().classify(block + offset), expected) << size << " + " << offset;
    }
    std::free(block);
  }
}

TEST_F(ExactClassify, FreedBlocksAreFreed) {
  for (size_t size = 1; size <= 400'000; size += 1 + size / 10) {
    // Neighbours stay, so that the span does.
    void* blocks[3];
    for (void*& block : blocks) block = opaque(std::malloc(size));
    std::free(blocks[1]);
    EXPECT_EQ(api().classify(opaque(blocks[1])), HAKOZUNA_FREED) << size;
    std::free(blocks[0]);
    std::free(blocks[2]);
    for (void* block : blocks) EXPECT_NE(api().classify(opaque(block)), HAKOZUNA_VALID) << size;
  }
}

TEST_F(ExactClassify, FreedLargeBlocksAreNotValid) {
  for (const size_t size : {size_t{1} << 20, size_t{5} << 20, size_t{300} << 20}) {
    void* block = opaque(std::malloc(size));
    ASSERT_NE(block, nullptr);
    std::free(block);
    EXPECT_NE(api().classify(opaque(block)), HAKOZUNA_VALID) << size;
  }
}

TEST_F(ExactClassify, SeesWhatOtherThreadsFreed) {
  std::vector<void*> blocks(1000);
  for (void*& block : blocks) block = opaque(std::malloc(200));
  std::thread([&blocks] {
    for (size_t i = 0; i < blocks.size(); i += 2) std::free(blocks[i]);
    // At once, before the owner has collected anything.
    for (size_t i = 0; i < blocks.size(); ++i) {
      ASSERT_EQ(api().classify(opaque(blocks[i])), i % 2 == 0 ? HAKOZUNA_FREED : HAKOZUNA_VALID);
    }
  }).join();
  for (size_t i = 0; i < blocks.size(); ++i) {
    ASSERT_EQ(api().classify(opaque(blocks[i])), i % 2 == 0 ? HAKOZUNA_FREED : HAKOZUNA_VALID);
  }
  for (size_t i = 1; i < blocks.size(); i += 2) std::free(blocks[i]);
}

TEST_F(ExactClassify, BlocksOutliveTheirThread) {
  std::vector<void*> blocks(500);
  std::thread([&blocks] {
    for (void*& block : blocks) block = opaque(std::malloc(700));
  }).join();
  for (void* block : blocks) ASSERT_EQ(api().classify(block), HAKOZUNA_VALID);
  for (void* block : blocks) {
    std::free(block);
    ASSERT_NE(api().classify(opaque(block)), HAKOZUNA_VALID);
  }
}

TEST_F(ExactClassify, AlignedBlocksStartWhereTheyWereHandedOut) {
  for (size_t alignment = 32; alignment <= (size_t{4} << 20); alignment *= 4) {
    for (const size_t size : {size_t{1}, size_t{1000}, size_t{100'000}}) {
      auto* block = static_cast<char*>(opaque(aligned_alloc(alignment, size)));
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(api().classify(block), HAKOZUNA_VALID);
      EXPECT_EQ(api().classify(block + 1), HAKOZUNA_MISALIGNED);
      if (api().usable_size(block) > 16) {
        EXPECT_EQ(api().classify(block + 16), HAKOZUNA_INTERIOR);
      }
      std::free(block);
      EXPECT_NE(api().classify(opaque(block)), HAKOZUNA_VALID);
    }
  }
}

}  // namespace
}  // namespace hakozuna::test
