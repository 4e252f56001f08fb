#include "hz10/spans.h"

#include "hz10/hz10.h"

namespace hakozuna::hz10 {

constinit std::atomic<size_t> span_bytes{0};

namespace {

void set_entries(char* run, uint32_t order, ChunkEntry entry) {
  mem::Region* const region = mem::chunk_supply.find_region(run);
  ChunkEntry* const first = chunk_entry(region->base, static_cast<size_t>(run - region->base));
  for (uint32_t i = 0; i < 1u << order; ++i) {
    // release: whoever finds the span by an address, without having been given a block of it, finds its record complete.
    __atomic_store(&first[i], &entry, __ATOMIC_RELEASE);
  }
}

ChunkEntry entry_for(const Span* span) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(span);
  HAKOZUNA_CHECK(address >> 48 == 0, "an address has 48 bits");
  return {bin_offset_of(span->size_class), static_cast<uint16_t>(address >> 32), static_cast<uint32_t>(address)};
}

Span* new_record(Depot& depot, uint32_t size_class) {
  if (Span* const span = depot.unused) {
    depot.unused = span->next;
    return span;
  }
  const mem::SizeClass& geometry = kSizeClasses[size_class];
  void* const memory = mem::metadata.allocate(sizeof(Span) + geometry.words() * sizeof(uint64_t));
  if (!memory) return nullptr;
  Span* const span = new (memory) Span{};
  span->reciprocal = geometry.reciprocal;
  span->slot_bytes = geometry.slot_bytes;
  span->slot_count = static_cast<uint16_t>(geometry.slot_count);
  span->size_class = static_cast<uint8_t>(size_class);
  span->order = static_cast<uint8_t>(geometry.order);
  return span;
}

// Remembers, after pages may have been returned, which free slots have to be marked resident when they are handed out.
void note_returned_pages(Span* span) {
  if (span->word_count() > 1) {
    span->unmarked = ~uint64_t{0};
    return;
  }
  for (uint64_t candidates = span->words()[0] & ~span->fresh; candidates != 0; candidates &= candidates - 1) {
    const uint64_t slot = lowest_bit(candidates);
    const uint64_t bit = uint64_t{1} << slot;
    switch (mem::chunk_supply.presence(span->first_slot + slot * span->slot_bytes, span->slot_bytes)) {
      case mem::ChunkSupply::Presence::kNone:
        span->fresh |= bit;
        [[fallthrough]];
      case mem::ChunkSupply::Presence::kPart:
        span->unmarked |= bit;
        break;
      case mem::ChunkSupply::Presence::kAll:
        break;
    }
  }
}

// Marks the pages of word `index` before slots of it are handed out.
void mark_word(Span* span, uint64_t index) {
  const uint64_t bit = uint64_t{1} << index;
  if ((span->unmarked & bit) == 0) return;
  span->unmarked &= ~bit;
  const uint64_t rest = span->slot_count - index * 64;
  mem::chunk_supply.mark_resident(span->first_slot + index * 64 * span->slot_bytes, (rest < 64 ? rest : 64) * span->slot_bytes);
}

// Of slots that have no memory yet one at most: they are not needed in advance.
uint32_t take_of_one_word(Span* span, void** end, uint32_t wanted) {
  uint32_t taken = 0;
  do {
    *--end = take_slot(span).address;
    ++taken;
  } while (taken < wanted && (span->words()[0] & ~span->unmarked) != 0);
  return taken;
}

}  // namespace

Span* find_span_elsewhere(const void* address) {
  mem::Region* const region = mem::chunk_supply.find_region(address);
  return region ? span_at(region->base, static_cast<size_t>(static_cast<const char*>(address) - region->base)) : nullptr;
}

Span* make_span(Depot& depot, char* run, uint32_t size_class) {
  Span* const span = new_record(depot, size_class);
  if (!span) return nullptr;
  const mem::SizeClass& geometry = kSizeClasses[size_class];
  const uint32_t words = span->word_count();
  // Through atomics, here and where they change: classify() of a stale pointer may look.
  span->first_slot = run + kSizeClasses[size_class].first_slot;
  for (uint32_t i = 0; i < words; ++i) span->words()[i] = low_bits(span->slot_count - i * 64);
  span->summary = low_bits(words);
  span->free_count = span->slot_count;
  span->idle_passes = 0;
  span->unmarked = 0;
  span->fresh = 0;
  note_returned_pages(span);
  depot.open.push_front(span);
  depot.dry = false;
  ++depot.spans;
  set_entries(run, geometry.order, entry_for(span));
  span_bytes.fetch_add(geometry.run_bytes(), std::memory_order_relaxed);
  return span;
}

char* unmake_span(Depot& depot, Span* span) {
  check_span(span);
  HAKOZUNA_CHECK(span->free_count == span->slot_count, "a span that is given back holds no block");
  char* const run = run_of(span);
  set_entries(run, span->order, {});
  span_bytes.fetch_sub(run_bytes(span), std::memory_order_relaxed);
  depot.open.remove(span);
  depot.dry = depot.open.empty();
  --depot.spans;
  span->next = depot.unused;
  depot.unused = span;
  return run;
}

uint32_t take_slots(Span* span, void** end, uint32_t wanted) {
  span->idle_passes = 0;
  uint32_t taken = 0;
  if (span->word_count() == 1) {
    taken = take_of_one_word(span, end, wanted);
  } else {
    while (taken < wanted && span->summary != 0) {
      const uint64_t index = lowest_bit(span->summary);
      mark_word(span, index);
      const uint64_t slot_bytes = span->slot_bytes;
      char* const start = span->first_slot + index * 64 * slot_bytes;
      uint64_t bits = span->words()[index];
      do {
        *--end = start + lowest_bit(bits) * slot_bytes;
        ++taken;
        bits &= bits - 1;
      } while (bits != 0 && taken < wanted);
      span->words()[index] = bits;
      if (bits == 0) span->summary &= span->summary - 1;
    }
    span->free_count = static_cast<uint16_t>(span->free_count - taken);
  }
  return taken;
}

// Warm slots first. What is known to be zero is tracked by slot.
Slot take_slot(Span* span) {
  const uint64_t bits = span->words()[0];
  const uint64_t warm = bits & ~span->unmarked;
  const uint64_t index = lowest_bit(warm ? warm : bits);
  const uint64_t bit = uint64_t{1} << index;
  span->idle_passes = 0;
  span->words()[0] = bits & ~bit;
  span->summary = (bits & ~bit) != 0;
  --span->free_count;
  char* const slot = span->first_slot + index * span->slot_bytes;
  if (warm) return {slot, false};
  const bool zeroed = (span->fresh & bit) != 0;
  span->unmarked &= ~bit;
  span->fresh &= ~bit;
  mem::chunk_supply.mark_resident(slot, span->slot_bytes);
  return {slot, zeroed};
}

size_t discard_free_pages(Span* span) {
  check_span(span);
  const auto is_set = [span](uint32_t slot) { return ((span->words()[slot / 64] >> (slot % 64)) & 1) != 0; };
  char* const run = run_of(span);
  size_t bytes = 0;
  for (uint32_t slot = 0; slot < span->slot_count;) {
    if (!is_set(slot)) {
      ++slot;
      continue;
    }
    const uint32_t first = slot;
    while (slot < span->slot_count && is_set(slot)) ++slot;
    char* const start = first == 0 ? run : span->first_slot + size_t{first} * span->slot_bytes;
    char* const end = slot == span->slot_count ? run + run_bytes(span) : span->first_slot + size_t{slot} * span->slot_bytes;
    bytes += mem::chunk_supply.discard(start, static_cast<size_t>(end - start));
  }
  if (bytes != 0) note_returned_pages(span);
  return bytes;
}

void check_span([[maybe_unused]] const Span* span) {
#if defined(HAKOZUNA_CHECKED) && HAKOZUNA_CHECKED
  const mem::SizeClass& geometry = kSizeClasses[span->size_class];
  HAKOZUNA_CHECK(span->slot_bytes == geometry.slot_bytes && span->slot_count == geometry.slot_count,
                 "a span has the geometry of its class");
  uint32_t count = 0;
  for (uint32_t i = 0; i < span->word_count(); ++i) {
    const uint64_t word = span->words()[i];
    count += static_cast<uint32_t>(std::popcount(word));
    HAKOZUNA_CHECK((word & ~low_bits(span->slot_count - i * 64)) == 0, "free bits are bits of slots");
    HAKOZUNA_CHECK((word != 0) == (((span->summary >> i) & 1) != 0), "the summary says which words are not 0");
  }
  HAKOZUNA_CHECK(count == span->free_count, "free bits are counted");
  HAKOZUNA_CHECK((span->fresh & ~span->unmarked) == 0, "a fresh slot is unmarked");
  HAKOZUNA_CHECK(span->word_count() > 1 || (span->unmarked & ~span->words()[0]) == 0, "an unmarked slot is free");
  for (uint32_t slot = 0; slot < span->slot_count; ++slot) {
    if ((span->words()[slot / 64] >> (slot % 64)) & 1) continue;
    HAKOZUNA_CHECK(mem::chunk_supply.presence(span->first_slot + size_t{slot} * span->slot_bytes, span->slot_bytes) ==
                       mem::ChunkSupply::Presence::kAll,
                   "the pages of a slot in use are resident");
  }
#endif
}

}  // namespace hakozuna::hz10
