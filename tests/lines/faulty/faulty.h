// A line with one planted fault: README.md.
#pragma once

#include <cstddef>

#include "bump/bump.h"

namespace hakozuna::faulty {

// What is wrong. The environment variable HAKOZUNA_TEST_FAULT names it; without it nothing is.
enum class Fault {
  kNone,
  kOverlap,          // blocks share bytes
  kTwice,            // a block is handed out while it is in use
  kAlignment,        // aligned blocks are not
  kUsableTooLarge,   // usable size is more than the block holds
  kUsableTooSmall,   // usable size is less than was asked for
  kDirtyCalloc,      // the end of a zeroed block is not zero
  kResize,           // a resized block has lost its contents
  kLeak,             // a free is forgotten
  kIdentity,         // the statistics do not add up
  kErrno,            // memory is out without ENOMEM
  kFreeErrno,        // free changes errno
  kZeroSize,         // malloc(0) is not unique
  kGoodSize,         // another size than is given
};

Fault planted() noexcept;

class Faulty : public bump::Bump {
 public:
  static constexpr const char* kName = "faulty";

  static void* allocate(size_t size) noexcept;
  static void* allocate_zeroed(size_t size) noexcept;
  static void* allocate_aligned(size_t alignment, size_t size) noexcept;
  static void deallocate(void* block) noexcept;
  static void deallocate_sized(void* block, size_t) noexcept { deallocate(block); }
  static void* resize_without_copy(void* block, size_t size) noexcept;
  static size_t usable_size(const void* address) noexcept;
  static size_t good_size(size_t size) noexcept;
  static void collect_statistics(hakozuna_statistics& statistics) noexcept;
};

}  // namespace hakozuna::faulty
