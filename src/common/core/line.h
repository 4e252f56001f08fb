// What an allocator line is to the rest of the project.
//
// A line is a class with static members only: it is chosen when its library is built and there is one in a process. The front
// door, the tests and the benches are written against this concept and know no line by name.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "hakozuna/hakozuna.h"

namespace hakozuna {

// What classify() answers; the values are those of the public hakozuna_verdict.
enum class Verdict : uint8_t {
  kMiss = HAKOZUNA_MISS,
  kValid = HAKOZUNA_VALID,
  kInterior = HAKOZUNA_INTERIOR,
  kMisaligned = HAKOZUNA_MISALIGNED,
  kFreed = HAKOZUNA_FREED,
  kTailSlack = HAKOZUNA_TAIL_SLACK,
  kMetadata = HAKOZUNA_METADATA,
};

struct Classification {
  Verdict verdict = Verdict::kMiss;
  uint64_t usable_bytes = 0;   // slot or block size; 0 if unknown
  const void* span = nullptr;  // first byte of the span or large block, null if there is none
  const void* owner = nullptr; // an opaque identity of the owning thread's heap, null if none
};

// size, alignment: bytes. On failure the allocating functions return nullptr and have set errno to ENOMEM. Alignment is a power of
// two, any size. A size above PTRDIFF_MAX fails like any other that cannot be had; the front door checks nothing before a call
// that the line would find out anyway. `allocate(0)` gives a unique block.
//
// deallocate() accepts null, forwards a pointer that is not ours to the allocator underneath, reports misuse (core/diagnostics.h)
// and preserves errno.
//
// resize_without_copy() returns a block with the same contents that holds `size`, either `block` itself or the same pages at another
// address, or nullptr if that cannot be done (errno untouched, block unchanged). `block` is a valid block of ours, size > 0.
//
// usable_size() is 0 for anything that is not a valid block of ours. good_size() is the usable size allocate(size) would give, 0 if none.
//
// purge() returns what has been free for HAKOZUNA_PURGE_DELAY_MS, as slow paths do in passing: for a thread that does nothing else.
//
// fork_prepare() takes every lock of the line and the layers below it that uses locks of its own, fork_parent()/fork_child() release or
// re-create them; the front door registers them.
template <class L>
concept Line = requires(void* block, const void* address, size_t size, hakozuna_statistics& statistics,
                        hakozuna_class_statistics& class_statistics) {
  { L::kName } -> std::convertible_to<const char*>;
  { L::allocate(size) } noexcept -> std::same_as<void*>;
  { L::allocate_zeroed(size) } noexcept -> std::same_as<void*>;
  { L::allocate_aligned(/*alignment=*/size, size) } noexcept -> std::same_as<void*>;
  { L::deallocate(block) } noexcept -> std::same_as<void>;
  { L::deallocate_sized(block, size) } noexcept -> std::same_as<void>;
  { L::resize_without_copy(block, size) } noexcept -> std::same_as<void*>;
  { L::usable_size(address) } noexcept -> std::same_as<size_t>;
  { L::good_size(size) } noexcept -> std::same_as<size_t>;
  { L::classify(address) } noexcept -> std::same_as<Classification>;
  { L::thread_flush() } noexcept -> std::same_as<void>;
  { L::purge() } noexcept -> std::same_as<void>;
  { L::trim(/*keep_bytes=*/size) } noexcept -> std::same_as<size_t>;  // bytes returned to the OS
  { L::fork_prepare() } noexcept -> std::same_as<void>;
  { L::fork_parent() } noexcept -> std::same_as<void>;
  { L::fork_child() } noexcept -> std::same_as<void>;
  { L::collect_statistics(statistics) } noexcept -> std::same_as<void>;
  { L::collect_class_statistics(size, class_statistics) } noexcept -> std::same_as<bool>;
};

}  // namespace hakozuna
