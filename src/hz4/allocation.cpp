#include "hz4/allocation.h"

#include <string.h>

#include "common/core/large.h"
#include "common/core/options.h"
#include "hz4/exchange.h"
#include "hz4/heaps.h"
#include "hz4/messages.h"
#include "hz4/orphans.h"

namespace hakozuna::hz4 {
namespace {

// Slow events between looks at the clock.
constexpr uint32_t kEventsPerLook = 64;

// Takes blocks of the heap's spans that have come home, or of an orphan's.
Chain take_from_spans(Heap* heap, uint32_t size_class) {
  os::LockGuard guard(heap->lock);
  List<Span>& partial = heap->partial[size_class];
  Span* span = partial.first();
  if ((!span || span->free_count == 0) && adopt_orphan(heap, size_class)) span = partial.first();
  if (!span || span->free_count == 0) return {};
  const Chain chain = take_free(span);
  partial.remove(span);
  place_span(heap, span);
  return chain;
}

// Up to a batch of blocks that were in use before; empty if there are none. The bin is empty.
Chain find_warm(Heap* heap, uint32_t size_class) {
  if (size_class < kBinnedClasses) {
    heap->in_demand[size_class] = true;
    if (heap->reserves[size_class].first) return take_reserve(heap, size_class);
  }
  if (has_messages(heap)) {
    receive(heap);
    if (const Chain chain = empty_bin(heap, size_class); chain.first) return chain;
    if (Block* const block = take_held(heap, size_class)) return {block, 1};
  }
  const Chain batch = take_batch(size_class);
  return batch.first ? batch : take_from_spans(heap, size_class);
}

// Takes blocks that were never handed out: one of a page and more, of smaller ones up to a page, of which all but the first go to the bin. Null if
// the system has no memory.
Slot carve(Heap* heap, uint32_t size_class) {
  const mem::SizeClass& geometry = kSizeClasses[size_class];
  os::LockGuard guard(heap->lock);
  Span* span = heap->partial[size_class].last();
  if (!span || span->carved == geometry.slot_count) {
    char* const run = heap->runs.take(geometry.order, core::limit_bytes());
    if (!run) return {};
    span = make_span(run, size_class, heap);
    heap->class_growth.note(run, size_class, kSizeClasses[size_class].order);
  } else {
    heap->partial[size_class].remove(span);
  }
  const Slot slot = carve_one(span);
  const uint32_t most = bin_capacity(size_class);
  const size_t page_bytes = os::page_bytes();
  Chain rest;
  Block** end = &rest.first;
  for (size_t bytes = geometry.slot_bytes * 2; bytes <= page_bytes && span->carved < geometry.slot_count && rest.count < most;
       bytes += geometry.slot_bytes) {
    Block* const block = static_cast<Block*>(carve_one(span).address);
    *end = block;
    end = &block->next;
    ++rest.count;
  }
  *end = nullptr;
  if (rest.first) fill_bin(heap, size_class, rest);
  place_span(heap, span);
  return slot;
}

// A block of find_warm(), if that has any; the others go to the bin.
Block* allocate_warm(Heap* heap, uint32_t size_class) {
  const Chain chain = find_warm(heap, size_class);
  if (chain.first && chain.count > 1) fill_bin(heap, size_class, {chain.first->next, chain.count - 1});
  return chain.first;
}

// The bin is empty.
[[gnu::noinline]] Slot allocate_refilled(Heap* heap, uint32_t size_class) {
  if (Block* const block = take_held(heap, size_class)) return {block};
  core::count(heap->refills, 1);
  count_event(heap, kEventsPerLook);
  if (Block* const block = allocate_warm(heap, size_class)) return {block};
  const Slot slot = carve(heap, size_class);
  if (slot.address) return slot;
  // Before failing, everything that could be of use.
  Care::flush(heap);
  mem::large_blocks.purge(UINT64_MAX, 0);
  if (Block* const block = allocate_warm(heap, size_class)) return {block};
  return carve(heap, size_class);
}

inline Slot allocate_block(Heap* heap, uint32_t size_class) {
  if (void* const block = take(heap, bin_of(size_class))) [[likely]] return {block};
  return allocate_refilled(heap, size_class);
}

inline uint32_t class_of_request(size_t size) { return size <= mem::kSmallLimit ? mem::small_class_of(size) : mem::class_of(size); }

void* allocate_large(Heap* heap, size_t size, size_t alignment, bool zeroed) {
  count_event(heap, kEventsPerLook);
  return core::allocate_large(size, alignment, zeroed);
}

// The heap, having attended to what waits for it; null without memory.
Heap* attentive_heap() {
  Heap* const heap = own_heap();
  if (heap && Care::must_attend(heap)) Care::attend(heap);
  return heap;
}

[[gnu::noinline]] void* allocate_with_attention(size_t size) {
  Heap* const heap = attentive_heap();
  if (!heap) return core::out_of_memory();
  if (size > mem::kMaxSlotBytes) return allocate_large(heap, size, 1, /*zeroed=*/false);
  void* const block = allocate_block(heap, class_of_request(size)).address;
  return block ? block : core::out_of_memory();
}

}  // namespace

void place_span(Heap* heap, Span* span) {
  const uint32_t c = span->size_class();
  if (span->free_count != 0) {
    span->state = SpanState::kPartial;
    heap->partial[c].push_front(span);
  } else if (span->carved != kSizeClasses[c].slot_count) {
    span->state = SpanState::kPartial;
    heap->partial[c].push_back(span);
  } else {
    span->state = SpanState::kFull;
    heap->full.push_front(span);
  }
}

void fill_bin(Heap* heap, uint32_t size_class, Chain chain) {
  HAKOZUNA_CHECK(!heap->heads[bin_of(size_class)], "a bin is filled when it is empty");
  HAKOZUNA_CHECK(chain.count <= bin_capacity(size_class), "a bin holds a batch");
  heap->heads[bin_of(size_class)] = chain.first;
  heap->rooms[bin_of(size_class)] = bin_capacity(size_class) - chain.count;
}

Chain empty_bin(Heap* heap, uint32_t size_class) {
  if (size_class >= kBinnedClasses) return {};
  const uint32_t bin = bin_of(size_class);
  const Chain chain{heap->heads[bin], bin_capacity(size_class) - heap->rooms[bin]};
  heap->heads[bin] = nullptr;
  heap->rooms[bin] = bin_capacity(size_class);
  return chain;
}

Block* take_held(Heap* heap, uint32_t size_class) {
  if (size_class < kBinnedClasses) return nullptr;
  std::atomic<Block*>& held = heap->held[size_class - kBinnedClasses];
  if (!held.load(std::memory_order_relaxed)) return nullptr;
  // acquire: pairs with hold().
  return held.exchange(nullptr, std::memory_order_acquire);
}

Block* hold(Heap* heap, uint32_t size_class, Block* block) {
  // release: pairs with take_held() by another thread; acquire: the other way round.
  return heap->held[size_class - kBinnedClasses].exchange(block, std::memory_order_acq_rel);
}

bool put_into_reserve(Heap* heap, uint32_t size_class, Chain chain) {
  if (heap->reserves[size_class].first) return false;
  const size_t bytes = heap->reserve_bytes + chain.count * mem::slot_bytes_of(size_class);
  if (bytes > kMaxReserveBytes) return false;
  heap->reserve_bytes = bytes;
  heap->reserves[size_class] = chain;
  return true;
}

Chain take_reserve(Heap* heap, uint32_t size_class) {
  const Chain chain = heap->reserves[size_class];
  heap->reserve_bytes -= chain.count * mem::slot_bytes_of(size_class);
  heap->reserves[size_class] = {};
  return chain;
}

void* allocate_slow(size_t size) noexcept {
  Heap* const heap = thread_heap;
  if (size <= mem::kMaxSlotBytes && !Care::must_attend(heap)) [[likely]] {
    // Of a medium class, or the bin is empty, or the clock need not be looked at yet.
    void* const block = allocate_block(heap, class_of_request(size)).address;
    return block ? block : core::out_of_memory();
  }
  return allocate_with_attention(size);
}

void* Hz4::allocate_zeroed(size_t size) noexcept {
  if (size <= mem::kSmallLimit) {
    void* const block = allocate(size);
    // The whole block: the usable size is zero too.
    if (block) memset(block, 0, mem::slot_bytes_of(mem::class_of(size)));
    return block;
  }
  Heap* const heap = attentive_heap();
  if (!heap) return core::out_of_memory();
  if (size > mem::kMaxSlotBytes) return allocate_large(heap, size, 1, /*zeroed=*/true);
  const uint32_t size_class = mem::class_of(size);
  const Slot slot = allocate_block(heap, size_class);
  if (!slot.address) return core::out_of_memory();
  const size_t bytes = mem::slot_bytes_of(size_class);
  memset(slot.address, 0, slot.dirty < bytes ? slot.dirty : bytes);
  return slot.address;
}

void* Hz4::allocate_aligned(size_t alignment, size_t size) noexcept {
  if (alignment <= mem::kMinAlignment) return allocate(size);
  Heap* const heap = attentive_heap();
  if (!heap) return core::out_of_memory();
  const uint32_t size_class = mem::aligned_class_of(alignment, size, kSizeClasses);
  if (size_class == mem::kClassCount) return allocate_large(heap, size, alignment, /*zeroed=*/false);
  void* const block = allocate_block(heap, size_class).address;
  return block ? block : core::out_of_memory();
}

void* Hz4::resize_without_copy(void* block, size_t size) noexcept {
  if (const Span* const span = find_span(block)) return size <= mem::slot_bytes_of(span->size_class()) ? block : nullptr;
  if (size <= mem::kMaxSlotBytes) return nullptr;  // a shrink that leaves the large blocks
  mem::LargeBlock* const large = mem::large_blocks.find(block);
  return large ? core::resize_large(large, size) : nullptr;
}

}  // namespace hakozuna::hz4
