#include "hz4/spans.h"

#include "hz4/heaps.h"

namespace hakozuna::hz4 {

Span* find_span(const void* address) {
  mem::Region* const region = mem::chunk_supply.find_region(address);
  if (!region) return nullptr;
  Span* const span = span_record(region->base, static_cast<size_t>(static_cast<const char*>(address) - region->base));
  if (racing_read(span->bin) == 0) return nullptr;
  return span - racing_read(span->head_distance);
}

Span* span_of(const Block* block) {
  const size_t offset = static_cast<size_t>(reinterpret_cast<const char*>(block) - mem::primary_base);
  if (offset >= mem::primary_bytes) [[unlikely]] return find_span(block);
  Span* const span = span_record(mem::primary_base, offset);
  return span - racing_read(span->head_distance);
}

Position position_in(const Span* span, uint32_t size_class, const void* address) {
  const char* const first = racing_read(span->run) + kSizeClasses[size_class].first_slot;
  const mem::SlotPosition at = mem::slot_position(
      static_cast<size_t>(static_cast<const char*>(address) - first), kSizeClasses[size_class].reciprocal);
  return {at.slot, at.exact};
}

Span* make_span(char* run, uint32_t size_class, Heap* heap) {
  mem::Region* const region = mem::chunk_supply.find_region(run);
  Span* const span = span_record(region->base, static_cast<size_t>(run - region->base));
  span->state = SpanState::kNone;
  span->carved = 0;
  span->free_count = 0;
  span->run = run;
  span->free = nullptr;
  span->next = nullptr;
  span->previous = nullptr;
  // release: who finds this owner sees the record complete.
  span->owner.store(heap, std::memory_order_release);
  const uint32_t chunks = 1u << kSizeClasses[size_class].order;
  for (uint32_t i = 0; i < chunks; ++i) {
    span[i].head_distance = static_cast<uint8_t>(i);
    span[i].bin = static_cast<uint8_t>(bin_of(size_class));
  }
  return span;
}

void unmake_span(Span* span, EmptyRuns& empty) {
  check_span(span);
  HAKOZUNA_CHECK(span->out() == 0, "a span that is given back has all its blocks");
  const uint32_t order = kSizeClasses[span->size_class()].order;
  for (uint32_t i = 0; i < 1u << order; ++i) {
    span[i].bin = 0;
    span[i].head_distance = 0;
  }
  span->owner.store(nullptr, std::memory_order_relaxed);
  span->state = SpanState::kNone;
  span->free = nullptr;
  span->free_count = 0;
  span->carved = order;  // for release_runs()
  span->next = empty.first;
  empty.first = span;
}

void release_runs(EmptyRuns& empty, Heap* heap) {
  while (Span* const span = empty.first) {
    empty.first = span->next;
    char* const run = span->run;
    const uint32_t order = span->carved;
    span->next = nullptr;
    if (heap) {
      heap->runs.put(run, order, core::retain_bytes());
    } else {
      core::release_run(run, order);
    }
  }
}

Chain take_free(Span* span) {
  const uint32_t most = batch_of(span->size_class());
  Chain chain{span->free, span->free_count};
  if (chain.count <= most) {
    span->free = nullptr;
    span->free_count = 0;
    return chain;
  }
  Block* last = chain.first;
  for (uint32_t i = 1; i < most; ++i) last = last->next;
  span->free = last->next;
  span->free_count -= most;
  last->next = nullptr;
  return {chain.first, most};
}

Slot carve_one(Span* span) {
  const uint32_t size_class = span->size_class();
  const size_t bytes = kSizeClasses[size_class].slot_bytes;
  char* const address = span->run + kSizeClasses[size_class].first_slot + span->carved * bytes;
  ++span->carved;
  // Its first page is likely to be the last one of the block before.
  const size_t first_page = align_up(reinterpret_cast<uintptr_t>(address), os::page_bytes()) - reinterpret_cast<uintptr_t>(address);
  size_t dirty = bytes;
  if (first_page < bytes &&
      mem::chunk_supply.presence(address + first_page, bytes - first_page) == mem::ChunkSupply::Presence::kNone) {
    dirty = first_page;
  }
  mem::chunk_supply.mark_resident(address, bytes);
  return {address, dirty};
}

bool bring_home(Span* span, Block* block, core::MisuseNotes& notes) {
  const Position at = position_in(span, span->size_class(), block);
  if (!at.exact || at.slot >= span->carved || span->out() == 0) [[unlikely]] {
    const Classification found = Hz4::classify(block);
    notes.add(at.exact ? core::Misuse::kDoubleFree : core::misuse_of(found.verdict), block, found);
    return false;
  }
  block->next = span->free;
  span->free = block;
  ++span->free_count;
  return true;
}

void check_span([[maybe_unused]] const Span* span) {
#if defined(HAKOZUNA_CHECKED) && HAKOZUNA_CHECKED
  HAKOZUNA_CHECK(span->carved <= kSizeClasses[span->size_class()].slot_count, "no more is carved than there is");
  uint32_t count = 0;
  for (const Block* block = span->free; block; block = block->next) {
    HAKOZUNA_CHECK(span_of(block) == span, "a free block is in its span");
    HAKOZUNA_CHECK(++count <= span->free_count, "free_count is the length of the list");
  }
  HAKOZUNA_CHECK(count == span->free_count, "free_count is the length of the list");
#endif
}

}  // namespace hakozuna::hz4
