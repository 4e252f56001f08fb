#include "common/os/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "common/base/bits.h"
#include "support/pattern.h"
#include "unit/core/child_process.h"
#include "unit/os/resident_pages.h"
#include "unit/sanitizers.h"

namespace hakozuna::os {
namespace {

using test::resident_pages;

constexpr size_t kBytes = size_t{1} << 20;

// Whether reading (writing) a byte ends a process.
bool can_read(const void* address) {
  return test::run_in_child([address] {
           static_cast<void>(*static_cast<const volatile char*>(address));
         }).exit_code == 0;
}
bool can_write(void* address) {
  return test::run_in_child([address] { *static_cast<volatile char*>(address) = 1; }).exit_code ==
         0;
}

// The line `name:` of /proc/self/smaps for the mapping that begins at `address`, in KiB; -1 if there is none.
long smaps_field(const void* address, const std::string& name) {
  std::ostringstream wanted;
  wanted << std::hex << reinterpret_cast<uintptr_t>(address) << "-";
  std::ifstream smaps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    const size_t colon = line.find(':');
    if (line.starts_with(wanted.str())) {
      inside = true;
    } else if (inside && line.starts_with(name + ":")) {
      return std::stol(line.substr(colon + 1));
    } else if (inside && line.find('-') < line.find(' ')) {
      return -1;  // the next mapping
    }
  }
  return -1;
}

// Linux maps its one page of zeros for who only reads. Kernels exist (of some virtual machines) that give a page of its own to him, too.
bool reading_takes_no_memory() {
  void* const plain = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool is_zero = test::is_zero(static_cast<char*>(plain), kBytes);
  const long anonymous = smaps_field(plain, "Anonymous");
  munmap(plain, kBytes);
  return is_zero && anonymous == 0;
}

TEST(Memory, PageSizeIsTheSystems) {
  EXPECT_EQ(page_bytes(), static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_TRUE(is_power_of_two(page_bytes()));
}

TEST(Memory, AlignmentIsKept) {
  for (size_t alignment = page_bytes(); alignment <= size_t{1} << 32; alignment *= 4) {
    for (const size_t bytes : {page_bytes(), 3 * page_bytes(), kBytes}) {
      void* const reserved = reserve(bytes, alignment);
      void* const mapped = map(bytes, alignment);
      ASSERT_NE(reserved, nullptr);
      ASSERT_NE(mapped, nullptr);
      EXPECT_TRUE(is_aligned(reinterpret_cast<uintptr_t>(reserved), alignment));
      EXPECT_TRUE(is_aligned(reinterpret_cast<uintptr_t>(mapped), alignment));
      EXPECT_TRUE(test::is_mapped(reserved, bytes));
      std::memset(mapped, 1, bytes);
      unmap(reserved, bytes);
      unmap(mapped, bytes);
      EXPECT_FALSE(test::is_mapped(mapped, bytes));
    }
  }
}

TEST(Memory, WhatCannotBeHadIsNull) {
  errno = 0;
  EXPECT_EQ(reserve(size_t{1} << 60, page_bytes()), nullptr);
  EXPECT_EQ(map(size_t{1} << 60, page_bytes()), nullptr);
  EXPECT_EQ(map(page_bytes(), size_t{1} << 63), nullptr);
  EXPECT_EQ(reserve(~(page_bytes() - 1), size_t{1} << 63), nullptr) << "sum of size and alignment";
  EXPECT_EQ(errno, 0) << "belongs to the program";
}

TEST(Memory, ReservedSpaceHasNoAccessUntilCommitted) {
  char* const start = static_cast<char*>(reserve(kBytes, page_bytes()));
  ASSERT_NE(start, nullptr);
  EXPECT_FALSE(can_read(start));
  ASSERT_TRUE(commit(start, kBytes / 2));
  EXPECT_EQ(resident_pages(start, kBytes), 0u) << "takes memory when touched";
  EXPECT_TRUE(can_write(start + kBytes / 2 - 1));
  EXPECT_FALSE(can_read(start + kBytes / 2));
  EXPECT_TRUE(test::is_zero(start, kBytes / 2));
  unmap(start, kBytes);
}

TEST(Memory, PopulatedSpaceIsResidentAndZero) {
  char* const start = static_cast<char*>(map(kBytes, page_bytes()));
  ASSERT_NE(start, nullptr);
  errno = 0;
  if (populate(start, kBytes / 2)) {  // not every system can
    EXPECT_EQ(resident_pages(start, kBytes), kBytes / 2 / page_bytes());
  } else {
    EXPECT_EQ(resident_pages(start, kBytes), 0u);
  }
  EXPECT_TRUE(test::is_zero(start, kBytes / 2));
  unmap(start, kBytes);
  EXPECT_FALSE(populate(start, kBytes / 2));
  EXPECT_EQ(errno, 0) << "belongs to the program";
}

TEST(Memory, CommitOfWhatIsNotMappedFails) {
  char* const start = static_cast<char*>(reserve(kBytes, page_bytes()));
  ASSERT_NE(start, nullptr);
  unmap(start, kBytes);
  errno = 0;
  EXPECT_FALSE(commit(start, kBytes));
  EXPECT_FALSE(make_readable(start, kBytes));
  EXPECT_EQ(errno, 0);
}

TEST(Memory, ReadableSpaceIsZeroAndTakesNoMemory) {
  char* const start = static_cast<char*>(reserve(kBytes, page_bytes()));
  ASSERT_NE(start, nullptr);
  ASSERT_TRUE(make_readable(start, kBytes));
  EXPECT_TRUE(test::is_zero(start, kBytes));
  EXPECT_FALSE(can_write(start));
  if (reading_takes_no_memory()) {
    EXPECT_EQ(smaps_field(start, "Anonymous"), 0);
  }
  ASSERT_TRUE(commit(start, kBytes));
  std::memset(start, 1, kBytes);
  EXPECT_EQ(resident_pages(start, kBytes), kBytes / page_bytes());
  unmap(start, kBytes);
}

TEST(Memory, DiscardGivesThePagesBackAtOnceAndTheyReadAsZero) {
  // With a page without access on either side: the kernel shows neighbours of one kind as one mapping.
  char* const reserved = static_cast<char*>(reserve(kBytes + 2 * page_bytes(), page_bytes()));
  ASSERT_NE(reserved, nullptr);
  char* const start = reserved + page_bytes();
  ASSERT_TRUE(commit(start, kBytes));
  hint_huge_pages(start, kBytes, HugePageHint::kNever);
  test::fill_pattern(start, kBytes, 5);
  ASSERT_EQ(resident_pages(start, kBytes), kBytes / page_bytes());

  const size_t part = kBytes / 4;
  discard(start + part, part);
  EXPECT_EQ(resident_pages(start + part, part), 0u);
  EXPECT_EQ(resident_pages(start, kBytes), (kBytes - part) / page_bytes());
  EXPECT_EQ(smaps_field(start, "Rss"), static_cast<long>((kBytes - part) / 1024));
  EXPECT_TRUE(test::is_zero(start + part, part));
  EXPECT_TRUE(test::has_pattern(start, part, 5)) << "the neighbours keep their contents";
  unmap(reserved, kBytes + 2 * page_bytes());
}

TEST(Memory, DiscardOfLockedMemoryZeroesIt) {
  char* const start = static_cast<char*>(map(4 * page_bytes(), page_bytes()));
  ASSERT_NE(start, nullptr);
  if (mlock(start, 4 * page_bytes()) != 0) GTEST_SKIP() << "no memory may be locked here";
  std::memset(start, 7, 4 * page_bytes());
  errno = 0;
  discard(start + page_bytes(), 2 * page_bytes());
  EXPECT_EQ(errno, 0);
  EXPECT_TRUE(test::is_zero(start + page_bytes(), 2 * page_bytes()));
  EXPECT_EQ(start[0], 7);
  EXPECT_EQ(start[3 * page_bytes()], 7);
  unmap(start, 4 * page_bytes());
}

TEST(Memory, PagesMoveWithTheirContentsAndTheRestIsZero) {
  const size_t alignment = size_t{1} << 16;
  char* const block = static_cast<char*>(map(kBytes, alignment));
  ASSERT_NE(block, nullptr);
  test::fill_pattern(block, kBytes, 6);
  // Something behind it, so that it must move.
  void* const obstacle = mmap(block + kBytes, page_bytes(), PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  EXPECT_EQ(resize_in_place(block, kBytes, 3 * kBytes), Resized::kNoRoom);
  EXPECT_TRUE(test::has_pattern(block, kBytes, 6));
  char* const target = static_cast<char*>(reserve(3 * kBytes, alignment));
  ASSERT_NE(target, nullptr);
  ASSERT_TRUE(move_pages(block, kBytes, target, 3 * kBytes));
  EXPECT_TRUE(test::has_pattern(target, kBytes, 6));
  EXPECT_TRUE(test::is_zero(target + kBytes, 2 * kBytes));
  EXPECT_FALSE(test::is_mapped(block, kBytes)) << "the old place is free";
  if (obstacle != MAP_FAILED) munmap(obstacle, page_bytes());
  unmap(target, 3 * kBytes);
}

TEST(Memory, GrowsInPlaceWhereThereIsRoom) {
  char* const start = static_cast<char*>(map(4 * kBytes, size_t{1} << 16));
  ASSERT_NE(start, nullptr);
  test::fill_pattern(start, kBytes, 7);
  unmap(start + kBytes, 3 * kBytes);
  ASSERT_EQ(resize_in_place(start, kBytes, 2 * kBytes), Resized::kDone);
  EXPECT_TRUE(test::has_pattern(start, kBytes, 7));
  EXPECT_TRUE(test::is_zero(start + kBytes, kBytes));
  unmap(start, 2 * kBytes);
}

TEST(Memory, ShrinksInPlace) {
  char* const start = static_cast<char*>(map(4 * kBytes, page_bytes()));
  ASSERT_NE(start, nullptr);
  test::fill_pattern(start, 4 * kBytes, 8);
  ASSERT_EQ(resize_in_place(start, 4 * kBytes, kBytes), Resized::kDone);
  EXPECT_TRUE(test::has_pattern(start, kBytes, 8));
  EXPECT_FALSE(test::is_mapped(start + kBytes, 3 * kBytes));
  unmap(start, kBytes);
}

TEST(Memory, GrowthThatFailsChangesNothing) {
  char* const start = static_cast<char*>(map(kBytes, page_bytes()));
  ASSERT_NE(start, nullptr);
  test::fill_pattern(start, kBytes, 9);
  errno = 0;
  EXPECT_NE(resize_in_place(start, kBytes, size_t{1} << 60), Resized::kDone);
  EXPECT_EQ(errno, 0);
  EXPECT_TRUE(test::has_pattern(start, kBytes, 9));
  unmap(start, kBytes);
}

// Its pages are in two mappings of the kernel's then, which can be neither grown nor moved as one.
TEST(Memory, WhatTheProgramProtectedInPartIsLeftAlone) {
  char* const start = static_cast<char*>(map(kBytes, page_bytes()));
  ASSERT_NE(start, nullptr);
  test::fill_pattern(start, kBytes, 10);
  ASSERT_EQ(mprotect(start, page_bytes(), PROT_READ), 0);
  EXPECT_EQ(resize_in_place(start, kBytes, 2 * kBytes), Resized::kRefused);
  EXPECT_TRUE(test::has_pattern(start, kBytes, 10));
  unmap(start, kBytes);
}

TEST(Memory, LimitsAreTheSystems) {
  EXPECT_EQ(physical_memory_bytes(), static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes());
  if (test::kSanitizer) return;
  const test::Ending ending = test::run_in_child([] {
    const rlimit limit = {size_t{3} << 30, RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(1);
    if (address_space_limit_bytes() != size_t{3} << 30) _exit(2);
  });
  EXPECT_EQ(ending.exit_code, 0);
}

}  // namespace
}  // namespace hakozuna::os
