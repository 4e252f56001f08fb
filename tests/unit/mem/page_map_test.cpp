#include "common/mem/page_map.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "unit/sanitizers.h"

namespace hakozuna::mem {
namespace {

// Addresses are only looked up, never followed.
const void* at(uintptr_t address) { return reinterpret_cast<const void*>(address); }

constexpr uintptr_t kLeafSpan = uintptr_t{1} << 32;

alignas(16) int object_a;
alignas(16) int object_b;

class PageMapTest : public testing::Test {
 protected:
  void expect(uintptr_t address, PageMap::Kind kind, const void* object) {
    const PageMap::Entry entry = map_->find(at(address));
    EXPECT_EQ(entry.kind, kind) << std::hex << address;
    EXPECT_EQ(entry.object, object) << std::hex << address;
  }
  void expect_nothing(uintptr_t address) { expect(address, PageMap::Kind::kNone, nullptr); }

  const std::unique_ptr<PageMap> map_ = std::make_unique<PageMap>();
};

TEST_F(PageMapTest, KnowsNothingAtFirst) {
  for (unsigned shift = 0; shift < 64; ++shift) expect_nothing(uintptr_t{1} << shift);
  expect_nothing(0);
  expect_nothing(~uintptr_t{0});
  EXPECT_EQ(map_->mapped_bytes(), 0u);
}

TEST_F(PageMapTest, EveryByteOfTheRangeAndNoOther) {
  const uintptr_t start = 0x7f1200000000 + 5 * kChunkBytes;
  ASSERT_TRUE(map_->set(at(start), 3 * kChunkBytes, PageMap::Kind::kLargeBlock, &object_a));
  expect_nothing(start - 1);
  for (uintptr_t offset = 0; offset < 3 * kChunkBytes; offset += 4093) {
    expect(start + offset, PageMap::Kind::kLargeBlock, &object_a);
  }
  expect(start + 3 * kChunkBytes - 1, PageMap::Kind::kLargeBlock, &object_a);
  expect_nothing(start + 3 * kChunkBytes);
}

TEST_F(PageMapTest, RangesRoundOutToGranules) {
  const uintptr_t start = 0x10000000;
  ASSERT_TRUE(map_->set(at(start), kChunkBytes + 1, PageMap::Kind::kRegion, &object_a));
  expect(start + 2 * kChunkBytes - 1, PageMap::Kind::kRegion, &object_a);
  expect_nothing(start + 2 * kChunkBytes);
}

TEST_F(PageMapTest, CrossesLeaves) {
  const uintptr_t start = 7 * kLeafSpan - 2 * kChunkBytes;
  const size_t bytes = kLeafSpan + 4 * kChunkBytes;  // the end of one leaf, a whole one, the start of a third
  ASSERT_TRUE(map_->set(at(start), bytes, PageMap::Kind::kRegion, &object_b));
  for (const uintptr_t inside : {start, 7 * kLeafSpan - 1, 7 * kLeafSpan, 8 * kLeafSpan - 1,
                                 8 * kLeafSpan, start + bytes - 1}) {
    expect(inside, PageMap::Kind::kRegion, &object_b);
  }
  expect_nothing(start - 1);
  expect_nothing(start + bytes);
  EXPECT_EQ(map_->mapped_bytes(), 3 * (kLeafSpan / kChunkBytes) * sizeof(void*));

  ASSERT_TRUE(map_->set(at(start), bytes, PageMap::Kind::kNone, nullptr));
  for (const uintptr_t inside : {start, 7 * kLeafSpan, 8 * kLeafSpan, start + bytes - 1}) {
    expect_nothing(inside);
  }
}

TEST_F(PageMapTest, EntriesAreReplacedAndClearedSingly) {
  const uintptr_t start = 0x5500000000;
  ASSERT_TRUE(map_->set(at(start), 4 * kChunkBytes, PageMap::Kind::kLargeBlock, &object_a));
  ASSERT_TRUE(map_->set(at(start + kChunkBytes), kChunkBytes, PageMap::Kind::kRegion, &object_b));
  ASSERT_TRUE(map_->set(at(start + 2 * kChunkBytes), kChunkBytes, PageMap::Kind::kNone, nullptr));
  expect(start, PageMap::Kind::kLargeBlock, &object_a);
  expect(start + kChunkBytes, PageMap::Kind::kRegion, &object_b);
  expect_nothing(start + 2 * kChunkBytes);
  expect(start + 3 * kChunkBytes, PageMap::Kind::kLargeBlock, &object_a);
}

TEST_F(PageMapTest, The48thBitIsTheLast) {
  const uintptr_t last = (uintptr_t{1} << 48) - kChunkBytes;
  ASSERT_TRUE(map_->set(at(last), kChunkBytes, PageMap::Kind::kRegion, &object_a));
  expect(last + kChunkBytes - 1, PageMap::Kind::kRegion, &object_a);
  for (const uintptr_t beyond : {uintptr_t{1} << 48, (uintptr_t{1} << 48) + last,
                                 (uintptr_t{1} << 63) + last, ~uintptr_t{0}}) {
    expect_nothing(beyond);
    EXPECT_FALSE(map_->set(at(beyond), 1, PageMap::Kind::kRegion, &object_b));
  }
  EXPECT_FALSE(map_->set(at(last), 2 * kChunkBytes, PageMap::Kind::kRegion, &object_b));
  expect(last, PageMap::Kind::kRegion, &object_a);
}

// Readers see what was there before or what is there after, and an object that was complete when it was entered.
TEST_F(PageMapTest, ReadersRaceWithWriters) {
  struct Pair {
    uint64_t first;
    uint64_t second;
  };
  constexpr int kRecords = 64;
  constexpr int kRounds = test::kSanitizer ? 300 : 3000;
  static Pair records[kRecords];
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  const auto slot = [](int i) { return static_cast<uintptr_t>(i) * kLeafSpan / 2; };
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        for (int i = 0; i < kRecords; ++i) {
          const PageMap::Entry entry = map_->find(at(slot(i)));
          if (entry.kind == PageMap::Kind::kNone) {
            wrong += entry.object != nullptr;
            continue;
          }
          const Pair* const record = static_cast<const Pair*>(entry.object);
          wrong += record != &records[i] || record->first != record->second;
        }
      }
    });
  }
  for (int i = 0; i < kRecords; ++i) {
    records[i] = {static_cast<uint64_t>(i) * 77, static_cast<uint64_t>(i) * 77};
    EXPECT_TRUE(map_->set(at(slot(i)), kChunkBytes, PageMap::Kind::kRegion, &records[i]));
  }
  for (int round = 0; round < kRounds; ++round) {
    const int i = round % kRecords;
    map_->set(at(slot(i)), kChunkBytes, PageMap::Kind::kNone, nullptr);
    map_->set(at(slot(i)), kChunkBytes, PageMap::Kind::kRegion, &records[i]);
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(PageMapTest, WritersThatMeetInALeafMakeItOnce) {
  std::vector<std::thread> writers;
  for (uintptr_t t = 0; t < 4; ++t) {
    writers.emplace_back([this, t] {
      for (uintptr_t leaf = 0; leaf < 16; ++leaf) {
        EXPECT_TRUE(map_->set(at(leaf * kLeafSpan + t * kChunkBytes), kChunkBytes,
                              PageMap::Kind::kRegion, &object_a));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  for (uintptr_t leaf = 0; leaf < 16; ++leaf) {
    for (uintptr_t t = 0; t < 4; ++t) {
      expect(leaf * kLeafSpan + t * kChunkBytes, PageMap::Kind::kRegion, &object_a);
    }
  }
  EXPECT_EQ(map_->mapped_bytes(), 16 * (kLeafSpan / kChunkBytes) * sizeof(void*));
}

}  // namespace
}  // namespace hakozuna::mem
