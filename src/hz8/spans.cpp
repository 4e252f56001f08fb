#include "hz8/spans.h"

#include "common/core/diagnostics.h"
#include "hz8/hz8.h"
#include "hz8/reclaim.h"

namespace hakozuna::hz8 {
namespace {

uint32_t merge_word(Span* span, uint32_t index, uint64_t freed, core::MisuseNotes& notes) {
  uint64_t& word = span->free_bits[index];
  if (const uint64_t twice = word & freed) [[unlikely]] {
    // The owner freed the block between the remote free and now, both unaware of each other.
    note_double_free(span, uint64_t{index} * 64 + lowest_bit(twice), notes);
  }
  word |= freed;
  return static_cast<uint32_t>(std::popcount(freed));
}

}  // namespace

void note_double_free(const Span* span, uint64_t slot, core::MisuseNotes& notes) {
  const Classification found{Verdict::kFreed, span->slot_bytes, run_of(span),
                             span->owner.load(std::memory_order_relaxed)};
  notes.add(core::Misuse::kDoubleFree, span->first_slot + slot * span->slot_bytes, found);
}

Span* find_span(const void* address) {
  mem::Region* const region = mem::chunk_supply.find_region(address);
  if (!region) return nullptr;
  const size_t offset = static_cast<size_t>(static_cast<const char*>(address) - region->base);
  Span* span = span_record(region->base, offset);
  span -= racing_read(span->head_distance);
  return racing_read(span->state) == SpanState::kNone ? nullptr : span;
}

char* run_of(const Span* span) {
  return span->first_slot - kSizeClasses[span->size_class].first_slot;
}

bool make_span(char* run, uint32_t size_class, Heap* heap) {
  const mem::SizeClass& geometry = kSizeClasses[size_class];
  mem::Region* const region = mem::chunk_supply.find_region(run);
  Span* const span = span_record(region->base, static_cast<size_t>(run - region->base));
  const uint32_t words = geometry.words();
  if (words == 1) {
    span->free_bits = &span->one_word;
    span->pending_words = nullptr;
  } else {
    uint64_t* const bitmaps = mem::bitmap_pool.allocate(2 * words);  // free words, then pending ones
    if (!bitmaps) return false;
    span->free_bits = bitmaps;
    span->pending_words = reinterpret_cast<std::atomic<uint64_t>*>(bitmaps + words);
    for (uint32_t i = 0; i < words; ++i) span->pending_words[i].store(0, std::memory_order_relaxed);
  }
  for (uint32_t i = 0; i < words; ++i) span->free_bits[i] = low_bits(geometry.slot_count - i * 64);
  span->pending.store(0, std::memory_order_relaxed);
  span->first_slot = run + kSizeClasses[size_class].first_slot;
  span->reciprocal = geometry.reciprocal;
  span->countdown = kNoEvent;
  span->slot_bytes = geometry.slot_bytes;
  span->slot_count = static_cast<uint16_t>(geometry.slot_count);
  span->size_class = static_cast<uint8_t>(size_class);
  span->order = static_cast<uint8_t>(geometry.order);
  span->idle_ticks = 0;
  // queue_next and pages_returned stay: a thread that was late with the record's token may hold it.
  span->next = nullptr;
  span->previous = nullptr;
  span->unmarked = 0;
  span->fresh = 0;
  note_returned_pages(span);
  for (uint32_t i = 1; i < 1u << geometry.order; ++i) span[i].head_distance = static_cast<uint8_t>(i);
  span->state = SpanState::kCurrent;
  // release: a thread that finds this owner (classify, a remote free) sees the record complete.
  span->owner.store(heap, std::memory_order_release);
  return true;
}

bool unmake_span(Span* span) {
  // Only with the token: nobody puts the span on a queue then, and it is on none.
  if (span->queued.exchange(true, std::memory_order_seq_cst)) return false;
  HAKOZUNA_CHECK(allocated_slots(span) == 0, "a span that is given back holds no block");
  HAKOZUNA_CHECK(span->pending.load(std::memory_order_relaxed) == 0, "a span that is given back has nothing pending");
  span->owner.store(nullptr, std::memory_order_relaxed);
  span->state = SpanState::kNone;
  for (uint32_t i = 1; i < 1u << span->order; ++i) span[i].head_distance = 0;
  if (!span->has_one_word()) mem::bitmap_pool.release(span->free_bits, 2 * span->word_count());
  span->free_bits = &span->one_word;
  span->queued.store(false, std::memory_order_seq_cst);
  return true;
}

uint32_t free_slots(const Span* span) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < span->word_count(); ++i) {
    count += static_cast<uint32_t>(std::popcount(span->free_bits[i]));
  }
  return count;
}

uint32_t pending_slots(const Span* span) {
  if (span->has_one_word()) {
    return static_cast<uint32_t>(std::popcount(span->pending.load(std::memory_order_relaxed)));
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < span->word_count(); ++i) {
    count += static_cast<uint32_t>(std::popcount(span->pending_words[i].load(std::memory_order_relaxed)));
  }
  return count;
}

uint32_t collect_pending(Span* span, core::MisuseNotes& notes) {
  uint64_t mask = span->pending.exchange(0, std::memory_order_seq_cst);
  if (span->has_one_word()) return merge_word(span, 0, mask, notes);
  uint32_t count = 0;
  for (; mask != 0; mask &= mask - 1) {
    const uint32_t index = lowest_bit(mask);
    count += merge_word(span, index, span->pending_words[index].exchange(0, std::memory_order_seq_cst), notes);
  }
  return count;
}

bool is_pending(const Span* span, uint64_t slot) {
  const std::atomic<uint64_t>& word = span->has_one_word() ? span->pending : span->pending_words[slot / 64];
  return (word.load(std::memory_order_relaxed) >> (slot % 64)) & 1;
}

void mark_live_slots(const Span* span) {
  uint64_t live = low_bits(span->slot_count) & ~*span->free_bits & ~span->pending.load(std::memory_order_relaxed);
  while (live != 0) {
    const uint64_t first = lowest_bit(live);
    const uint32_t count = static_cast<uint32_t>(std::countr_one(live >> first));
    mem::chunk_supply.mark_resident(span->first_slot + first * span->slot_bytes, size_t{count} * span->slot_bytes);
    live &= ~(low_bits(count) << first);
  }
}

void check_span([[maybe_unused]] const Span* span) {
#if defined(HAKOZUNA_CHECKED) && HAKOZUNA_CHECKED
  const mem::SizeClass& geometry = kSizeClasses[span->size_class];
  HAKOZUNA_CHECK(span->slot_bytes == geometry.slot_bytes && span->slot_count == geometry.slot_count,
                 "a span has the geometry of its class");
  for (uint32_t i = 0; i < span->word_count(); ++i) {
    HAKOZUNA_CHECK((span->free_bits[i] & ~low_bits(span->slot_count - i * 64)) == 0, "free bits are bits of slots");
  }
  HAKOZUNA_CHECK((span->fresh & ~span->unmarked) == 0, "a fresh slot is unmarked");
  HAKOZUNA_CHECK(span->size_class < mem::kSmallClassCount || (span->unmarked & ~span->free_bits[0]) == 0,
                 "an unmarked slot is free");
  for (uint32_t slot = 0; slot < span->slot_count; ++slot) {
    if (is_free(span, slot)) continue;
    // Another thread may free the block meanwhile and a third return its pages, or one that took a pending slot is about to mark them. One that
    // returns pending pages holds the bits meanwhile, and may wait in the system for a fork: about a second is enough.
    const auto holds = [&] {
      return mem::chunk_supply.presence(span->first_slot + size_t{slot} * span->slot_bytes, span->slot_bytes) ==
                 mem::ChunkSupply::Presence::kAll ||
             is_pending(span, slot);
    };
    bool resident = holds();
    for (int attempt = 0; !resident && attempt < 1'000'000; ++attempt) {
      os::yield();
      resident = holds();
    }
    HAKOZUNA_CHECK(resident, "the pages of a live block are resident");
  }
#endif
}

}  // namespace hakozuna::hz8
