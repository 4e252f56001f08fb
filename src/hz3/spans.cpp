#include "hz3/spans.h"

#include "hz3/hz3.h"

namespace hakozuna::hz3 {
namespace {

// Memory that a refill takes at once: where it is new, no more than one page of it.
constexpr size_t kWarmBatchBytes = size_t{16} << 10;
constexpr uint32_t kMostBlocks = 64;

char* first_slot(const Span* span) { return span->run + span->geometry().first_slot; }

Span* record_at(const char* base, size_t offset) {
  return reinterpret_cast<Span*>(const_cast<char*>(base)) + (offset >> mem::kChunkShift);
}

// The lowest word with free bits; there is one.
uint32_t find_word(const Span* span) {
  uint32_t index = span->first_word;
  while (span->free_bits[index] == 0) ++index;
  return index;
}

// How many blocks a refill takes that starts at this slot.
uint32_t batch_of(const Span* span, const char* slot) {
  const mem::SizeClass& geometry = span->geometry();
  if (geometry.slot_bytes > kWarmBatchBytes / 2) return 1;
  const size_t rest = static_cast<size_t>(span->run + geometry.run_bytes() - slot);
  const size_t warm_bytes = rest < kWarmBatchBytes ? rest : kWarmBatchBytes;
  const bool warm = mem::chunk_supply.presence(slot, warm_bytes) == mem::ChunkSupply::Presence::kAll;
  const size_t blocks = (warm ? warm_bytes : os::page_bytes()) / geometry.slot_bytes;
  return blocks == 0 ? 1 : blocks < kMostBlocks ? static_cast<uint32_t>(blocks) : kMostBlocks;
}

}  // namespace

Position locate(const void* address, uint32_t size_class) {
  const mem::SizeClass& geometry = kSizeClasses[size_class];
  const char* base = mem::primary_base;
  size_t offset = static_cast<size_t>(static_cast<const char*>(address) - base);
  if (offset >= mem::primary_bytes) [[unlikely]] {
    base = mem::chunk_supply.find_region(address)->base;
    offset = static_cast<size_t>(static_cast<const char*>(address) - base);
  }
  // Runs are aligned to their size.
  const size_t in_run = offset & (geometry.run_bytes() - 1);
  const mem::SlotPosition position = mem::slot_position(in_run - geometry.first_slot, geometry.reciprocal);
  return {record_at(base, offset - in_run), position.slot, position.exact};
}

Span* find_span(const void* address) {
  const Door* const door = door_at(address);
  return is_closed(door) ? nullptr : locate(address, class_of_door(door)).span;
}

Span* record_of_run(const char* run) {
  const mem::Region* const region = mem::chunk_supply.find_region(run);
  return record_at(region->base, static_cast<size_t>(run - region->base));
}

bool make_span(Span* span, char* run, uint32_t size_class, Heap* heap) {
  const mem::SizeClass& geometry = kSizeClasses[size_class];
  span->run = run;
  span->size_class = static_cast<uint8_t>(size_class);
  if (!room_for_doors(run, geometry.run_bytes())) return false;
  const uint32_t words = geometry.words();
  uint64_t* const bits = words == 1 ? &span->one_word : mem::bitmap_pool.allocate(words);
  if (!bits) return false;
  for (uint32_t i = 0; i < words; ++i) bits[i] = low_bits(geometry.slot_count - i * 64);
  span->free_bits = bits;
  span->next = nullptr;
  span->previous = nullptr;
  span->free_count = static_cast<uint16_t>(geometry.slot_count);
  span->first_word = 0;
  span->state = SpanState::kPartial;
  span->idle_ticks = 0;
  set_owner(span, heap);
  return true;
}

void unmake_span(Span* span) {
  HAKOZUNA_CHECK(is_empty(span), "a span that is given back has all its blocks");
  check_span(span);
  const mem::SizeClass& geometry = span->geometry();
  set_doors(span->run, geometry.run_bytes(), &closed_door);
  span->owner.store(nullptr, std::memory_order_relaxed);
  span->state = SpanState::kNone;
  if (!span->has_one_word()) mem::bitmap_pool.release(span->free_bits, geometry.words());
  span->free_bits = &span->one_word;  // a late reader of the record finds a word
}

void set_owner(Span* span, Heap* owner) {
  span->owner.store(owner, std::memory_order_relaxed);
  Door* const doors = owner ? owner->bins.door : nobodys_doors;
  set_doors(span->run, span->geometry().run_bytes(), doors + span->size_class);
}

Taken take_blocks(Span* span, uint32_t limit) {
  const mem::SizeClass& geometry = span->geometry();
  const size_t slot_bytes = geometry.slot_bytes;
  uint32_t index = find_word(span);
  const auto address_of = [&](uint64_t slot) { return first_slot(span) + slot * slot_bytes; };

  Taken taken;
  char* const lowest = address_of(index * 64 + lowest_bit(span->free_bits[index]));
  taken.first = lowest;
  taken.zeroed = mem::chunk_supply.presence(lowest, slot_bytes) == mem::ChunkSupply::Presence::kNone;
  const uint32_t batch = batch_of(span, lowest);
  if (limit > batch) limit = batch;
  if (limit > span->free_count) limit = span->free_count;

  void** link = &taken.rest;
  for (uint32_t left = limit; left != 0;) {
    uint64_t bits = span->free_bits[index];
    if (bits == 0) {
      ++index;
      continue;
    }
    char* const start = address_of(index * 64 + lowest_bit(bits));
    char* block = start;
    // Marked before they are written to: nobody returns pages of a span whose lock we hold.
    uint64_t chosen = bits;
    for (uint32_t i = 0; i < left && chosen != 0; ++i) chosen &= chosen - 1;
    chosen ^= bits;
    char* const end = address_of(index * 64 + 64 - static_cast<uint64_t>(std::countl_zero(chosen)));
    mem::chunk_supply.mark_resident(start, static_cast<size_t>(end - start));
    for (uint64_t rest = chosen; rest != 0; rest &= rest - 1) {
      block = address_of(index * 64 + lowest_bit(rest));
      --left;
      if (block == taken.first) continue;
      *link = block;
      link = &next_of(block);
    }
    span->free_bits[index] = bits & ~chosen;
  }
  *link = nullptr;
  taken.rest_count = limit - 1;
  span->first_word = static_cast<uint8_t>(index);
  span->free_count = static_cast<uint16_t>(span->free_count - limit);
  span->idle_ticks = 0;
  return taken;
}

Put put_block(Span* span, void* block) {
  const mem::SizeClass& geometry = span->geometry();
  const size_t in_run = static_cast<size_t>(static_cast<char*>(block) - span->run);
  const mem::SlotPosition at = mem::slot_position(in_run - geometry.first_slot, geometry.reciprocal);
  if (!at.exact) [[unlikely]] {
    if (in_run < geometry.first_slot) return Put::kTailSlack;
    return is_aligned(in_run, mem::kMinAlignment) ? Put::kInterior : Put::kMisaligned;
  }
  uint64_t& word = span->free_bits[at.slot / 64];
  if (arch::test_and_set_bit(word, at.slot % 64)) [[unlikely]] return Put::kFreed;
  if (at.slot / 64 < span->first_word) span->first_word = static_cast<uint8_t>(at.slot / 64);
  ++span->free_count;
  span->idle_ticks = 0;
  return Put::kDone;
}

core::Misuse misuse_of(Put wrong) {
  switch (wrong) {
    case Put::kInterior:
      return core::Misuse::kInteriorPointer;
    case Put::kMisaligned:
      return core::Misuse::kMisalignedPointer;
    case Put::kTailSlack:
      return core::Misuse::kTailSlack;
    case Put::kFreed:
    case Put::kDone:
      break;
  }
  return core::Misuse::kDoubleFree;
}

Verdict verdict_inside(const Position& at, const void* address) {
  if (static_cast<const char*>(address) < first_slot(at.span)) return Verdict::kTailSlack;
  return is_aligned(reinterpret_cast<uintptr_t>(address), mem::kMinAlignment) ? Verdict::kInterior : Verdict::kMisaligned;
}

size_t discard_free_pages(Span* span) {
  check_span(span);
  const mem::SizeClass& geometry = span->geometry();
  size_t bytes = 0;
  for (uint32_t slot = 0; slot < geometry.slot_count;) {
    if (!is_free(span, slot)) {
      ++slot;
      continue;
    }
    const uint32_t first = slot;
    while (slot < geometry.slot_count && is_free(span, slot)) ++slot;
    char* const start = first == 0 ? span->run : first_slot(span) + size_t{first} * geometry.slot_bytes;
    char* const end = first_slot(span) + size_t{slot} * geometry.slot_bytes;
    bytes += mem::chunk_supply.discard(start, static_cast<size_t>(end - start));
  }
  return bytes;
}

void check_span([[maybe_unused]] const Span* span) {
#if defined(HAKOZUNA_CHECKED) && HAKOZUNA_CHECKED
  const mem::SizeClass& geometry = span->geometry();
  uint32_t count = 0;
  for (uint32_t i = 0; i < geometry.words(); ++i) {
    const uint64_t word = span->free_bits[i];
    HAKOZUNA_CHECK((word & ~low_bits(geometry.slot_count - i * 64)) == 0, "free bits are bits of slots");
    HAKOZUNA_CHECK(word == 0 || i >= span->first_word, "no word below first_word has a free bit");
    count += static_cast<uint32_t>(std::popcount(word));
  }
  HAKOZUNA_CHECK(count == span->free_count, "free_count counts the free bits");
  for (uint32_t slot = 0; slot < geometry.slot_count; ++slot) {
    if (is_free(span, slot)) continue;
    HAKOZUNA_CHECK(mem::chunk_supply.presence(span->run + geometry.first_slot + size_t{slot} * geometry.slot_bytes,
                                              geometry.slot_bytes) == mem::ChunkSupply::Presence::kAll,
                   "the pages of a block that is out of its span are resident");
  }
#endif
}

}  // namespace hakozuna::hz3
