#include "common/mem/metadata.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "common/arch/arch.h"
#include "common/base/bits.h"
#include "support/pattern.h"
#include "support/random.h"

namespace hakozuna::mem {
namespace {

struct Record {
  char* start;
  size_t bytes;
};

void expect_apart(std::vector<Record> records) {
  std::sort(records.begin(), records.end(),
            [](const Record& a, const Record& b) { return a.start < b.start; });
  for (size_t i = 1; i < records.size(); ++i) {
    ASSERT_LE(records[i - 1].start + records[i - 1].bytes, records[i].start);
  }
}

TEST(Metadata, RecordsAreZeroAlignedAndApart) {
  const auto metadata = std::make_unique<Metadata>();
  test::Random random(1);
  std::vector<Record> records;
  uint64_t total = 0;
  for (int i = 0; i < 3000; ++i) {
    const size_t bytes = random.size_between(1, 20000);
    auto* const record = static_cast<char*>(metadata->allocate(bytes));
    ASSERT_NE(record, nullptr);
    ASSERT_TRUE(is_aligned(reinterpret_cast<uintptr_t>(record), arch::kCacheLineBytes));
    ASSERT_TRUE(test::is_zero(record, bytes));
    std::memset(record, 0xee, bytes);
    records.push_back({record, bytes});
    total += bytes;
  }
  expect_apart(records);
  EXPECT_GE(metadata->mapped_bytes(), total);
}

TEST(Metadata, ARecordMayFillAnArena) {
  const auto metadata = std::make_unique<Metadata>();
  EXPECT_EQ(metadata->mapped_bytes(), 0u);
  constexpr size_t kArena = size_t{1} << 20;
  void* const record = metadata->allocate(kArena);
  ASSERT_NE(record, nullptr);
  std::memset(record, 1, kArena);
  EXPECT_EQ(metadata->mapped_bytes(), kArena);
  EXPECT_NE(metadata->allocate(1), nullptr);
  EXPECT_EQ(metadata->mapped_bytes(), 2 * kArena);
}

TEST(Metadata, ThreadsGetDifferentRecords) {
  const auto metadata = std::make_unique<Metadata>();
  constexpr size_t kThreads = 4;
  std::vector<Record> records[kThreads];
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      test::Random random(t);
      for (int i = 0; i < 2000; ++i) {
        const size_t bytes = random.between(1, 700);
        auto* const record = static_cast<char*>(metadata->allocate(bytes));
        std::memset(record, static_cast<int>(t), bytes);
        records[t].push_back({record, bytes});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<Record> all;
  for (const std::vector<Record>& some : records) all.insert(all.end(), some.begin(), some.end());
  expect_apart(all);
}

}  // namespace
}  // namespace hakozuna::mem
