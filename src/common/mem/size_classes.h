// Size classes, computed at compile time.
//
// 16..128 bytes in steps of 16, then eight classes an octave up to 512 KiB: a block is at most 12.5 % larger than asked for (or 15
// bytes). Every size is a multiple of 16, and the sizes at an octave's end are powers of two, so that any alignment has a class.
//
// The slots of a class live in runs of 2^order chunks (64 KiB each). Slots end where the run ends and the remainder lies in front:
// a slot is then aligned to the largest power of two that divides its size, and a pointer into the remainder has a negative
// offset from the first slot, which the division below recognises without a test of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/base/bits.h"

namespace hakozuna::mem {

inline constexpr size_t kChunkShift = 16;
inline constexpr size_t kChunkBytes = size_t{1} << kChunkShift;

inline constexpr size_t kMinAlignment = 16;   // of every block, bytes: alignof(max_align_t)
inline constexpr size_t kLinearLimit = 128;   // classes step by kMinAlignment up to here
inline constexpr size_t kStepsPerOctave = 8;  // 12.5 %; 4 steps cost 6 % more memory on redis-like sizes
inline constexpr size_t kMaxSlotBytes = size_t{512} << 10;
inline constexpr size_t kSmallLimit = 4096;   // classes up to here are looked up in a table

inline constexpr uint32_t kLinearClasses = kLinearLimit / kMinAlignment;
inline constexpr uint32_t kClassCount =
    kLinearClasses + kStepsPerOctave * (log2_floor(kMaxSlotBytes) - log2_floor(kLinearLimit));

// The class of a request; size in 0..kMaxSlotBytes.
constexpr uint32_t class_of(size_t size) {
  if (size <= kLinearLimit) {
    return size == 0 ? 0 : static_cast<uint32_t>((size - 1) / kMinAlignment);
  }
  const uint64_t last = size - 1;
  const uint32_t octave = log2_floor(last);
  const uint32_t step = static_cast<uint32_t>(last >> (octave - log2_floor(kStepsPerOctave))) &
                        (kStepsPerOctave - 1);
  return kLinearClasses + (octave - log2_floor(kLinearLimit)) * kStepsPerOctave + step;
}

constexpr size_t slot_bytes_of(uint32_t size_class) {
  if (size_class < kLinearClasses) return (size_class + 1) * kMinAlignment;
  const uint32_t index = size_class - kLinearClasses;
  const size_t octave = kLinearLimit << (index / kStepsPerOctave);
  return octave + octave / kStepsPerOctave * (index % kStepsPerOctave + 1);
}

// How a line lays out the slots of its classes in runs.
struct RunLayout {
  // Slots of a run at the least, where they are not larger than a chunk. Larger slots have at least four, so that a run is at most 2 MiB.
  uint32_t least_slots = 4;
  // The first class whose slots are shifted: they begin kShift before a page boundary, and end as much before their run does. Sizes grow by a page at
  // most up to 64 KiB, so the end of a block is nearly always on the page on which the next block begins, and a block of which few pages are used takes
  // one page less. Not the powers of two, which serve who asks for alignment, nor where the remainder has no room for it. What lies behind the last slot
  // is one byte that looks like a slot's first: who looks a slot up compares it with their number.
  uint32_t shifted_from = kClassCount;
};
inline constexpr size_t kShift = 64;

// Runs have 2^order chunks, at most this.
inline constexpr uint32_t kMaxRunOrder = log2_floor(4 * kMaxSlotBytes / kChunkBytes);

// What the slow paths read of a class.
struct SizeClass {
  uint64_t reciprocal;   // ceil(2^64 / slot_bytes)
  uint32_t slot_bytes;
  uint32_t slot_count;
  uint32_t first_slot;   // offset of slot 0 in the run, bytes: less than slot_bytes
  uint32_t order;        // the run has 2^order chunks
  constexpr size_t run_bytes() const { return kChunkBytes << order; }
  constexpr uint32_t words() const { return static_cast<uint32_t>(divide_up(slot_count, 64)); }
  constexpr bool is_shifted() const { return first_slot + size_t{slot_count} * slot_bytes != run_bytes(); }
};

constexpr SizeClass make_size_class(uint32_t index, RunLayout layout) {
  SizeClass size_class{};
  size_class.slot_bytes = static_cast<uint32_t>(slot_bytes_of(index));
  const size_t slots = size_class.slot_bytes <= kChunkBytes ? layout.least_slots : 4;
  while (size_class.run_bytes() < slots * size_class.slot_bytes) ++size_class.order;
  size_class.slot_count = static_cast<uint32_t>(size_class.run_bytes() / size_class.slot_bytes);
  size_class.first_slot =
      static_cast<uint32_t>(size_class.run_bytes() - size_t{size_class.slot_count} * size_class.slot_bytes);
  if (index >= layout.shifted_from && !is_power_of_two(size_class.slot_bytes) && size_class.first_slot >= kShift) {
    size_class.first_slot -= kShift;
  }
  size_class.reciprocal = ~uint64_t{0} / size_class.slot_bytes + 1;
  return size_class;
}

using SizeClasses = std::array<SizeClass, kClassCount>;
constexpr SizeClasses make_size_classes(RunLayout layout) {
  SizeClasses table{};
  for (uint32_t i = 0; i < kClassCount; ++i) table[i] = make_size_class(i, layout);
  return table;
}

// Class by size for size <= kSmallLimit: entry (size + 15) / 16.
inline constexpr auto kSmallClassTable = [] {
  std::array<uint8_t, kSmallLimit / kMinAlignment + 1> table{};
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint8_t>(class_of(i * kMinAlignment));
  return table;
}();
// The same as class_of() for size <= kSmallLimit, in four instructions.
inline uint32_t small_class_of(size_t size) {
  return kSmallClassTable[(size + kMinAlignment - 1) / kMinAlignment];
}
inline constexpr uint32_t kSmallClassCount = class_of(kSmallLimit) + 1;

// The slot an offset (pointer minus first slot) belongs to, and whether it is the slot's first byte.
//
// With M = ceil(2^64/d) and offset < 2^32, the high half of offset * M is the quotient and the low half is below M exactly if the
// remainder is 0 (D. Lemire, O. Kaser, N. Kurz, Faster remainder by direct computation, 2019). For an offset -k with
// 0 < k <= d - 1 the low half is 2^64 - kM >= M, hence "not exact": the remainder in front of the slots needs no test.
struct SlotPosition {
  uint64_t slot;
  bool exact;
};
constexpr SlotPosition slot_position(uint64_t offset, uint64_t reciprocal) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(offset) * reciprocal;
  return {static_cast<uint64_t>(product >> 64), static_cast<uint64_t>(product) < reciprocal};
}

// The smallest class of a line whose slots are all aligned to `alignment` and hold `size`; kClassCount if none does.
constexpr uint32_t aligned_class_of(size_t alignment, size_t size, const SizeClasses& classes) {
  if (size > kMaxSlotBytes || alignment > kMaxSlotBytes) return kClassCount;
  uint32_t c = class_of(size < alignment ? alignment : size);
  while (c < kClassCount && !(is_aligned(classes[c].slot_bytes, alignment) && (alignment <= kShift || !classes[c].is_shifted()))) ++c;
  return c;
}

static_assert(kClassCount <= 256, "classes fit a byte");
static_assert(slot_bytes_of(kClassCount - 1) == kMaxSlotBytes);
static_assert(kSmallClassCount == 48);

}  // namespace hakozuna::mem
