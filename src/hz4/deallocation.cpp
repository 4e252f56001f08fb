// The slow paths of deallocation, and what an address is.
#include "common/core/diagnostics.h"
#include "common/core/large.h"
#include "common/core/thread_exit.h"
#include "hz4/allocation.h"
#include "hz4/exchange.h"
#include "hz4/heaps.h"
#include "hz4/messages.h"

namespace hakozuna::hz4 {
namespace {

// Slow events between looks at the clock.
constexpr uint32_t kEventsPerLook = 16;

void report(core::Misuse misuse, const void* address) {
  core::report_misuse(Hz4::kName, misuse, "free", address, Hz4::classify(address));
}

// Gives blocks away: to whoever needs some next, or home.
void give_away(Heap* heap, uint32_t size_class, Chain chain) {
  if (!leave_batch(size_class, chain)) send_home(chain, heap);
}

// Puts a block into a full bin, or where blocks of its class are held: what is in it becomes the reserve, and what was the reserve is given away.
void put_into_full_bin(Heap* heap, uint32_t size_class, Block* block) {
  const uint32_t bin = bin_of(size_class);
  if (size_class >= kBinnedClasses) {
    if (Block* const older = hold(heap, size_class, block)) give_away(heap, size_class, {older, 1});
    return;
  }
  block->next = nullptr;
  const Chain older = heap->reserves[size_class].first ? take_reserve(heap, size_class) : Chain{};
  const Chain full = empty_bin(heap, size_class);
  heap->heads[bin] = block;
  heap->rooms[bin] = bin_capacity(size_class) - 1;
  if (older.first) give_away(heap, size_class, older);
  // A thread that frees and does not allocate needs no reserve.
  if (!heap->in_demand[size_class] || !put_into_reserve(heap, size_class, full)) give_away(heap, size_class, full);
  heap->in_demand[size_class] = false;
}

void deallocate_block(Span* span, void* address) {
  const Position at = position_in(span, span->size_class(), address);
  if (!at.exact || at.slot >= racing_read(span->carved)) {  // never handed out, or no block
    return report(core::misuse_of(Hz4::classify(address).verdict), address);
  }
  Block* const block = static_cast<Block*>(address);
  // A thread whose exit handler has run would leave a heap behind that nobody is told about.
  Heap* const heap = core::exit_handler_has_run ? thread_heap : own_heap();
  if (!heap || heap == &no_heap) {
    return send_home(Chain{block, 1}, nullptr);
  }
  const uint32_t size_class = span->size_class();
  const uint32_t bin = bin_of(size_class);
  if (heap->heads[bin] == block) return report(core::Misuse::kDoubleFree, address);
  if (heap->rooms[bin] == 0) {
    put_into_full_bin(heap, size_class, block);
    count_event(heap, kEventsPerLook);
    return;
  }
  block->next = heap->heads[bin];
  heap->heads[bin] = block;
  --heap->rooms[bin];
}

}  // namespace

void deallocate_slow(void* block) noexcept {
  if (!block) return;
  if (Span* const span = find_span(block)) return deallocate_block(span, block);
  if (mem::LargeBlock* const large = mem::large_blocks.find(block)) {
    core::deallocate_large(Hz4::kName, large, block, "free");
    count_event(thread_heap, kEventsPerLook);
  } else if (mem::chunk_supply.in_reserved_space(block)) {
    report(core::Misuse::kMetadataPointer, block);
  } else {
    os::underlying_free(block);
  }
}

Classification Hz4::classify(const void* address) noexcept {
  Classification result;
  const Span* const span = find_span(address);
  if (!span) {
    if (const mem::LargeBlock* const large = mem::large_blocks.find(address)) return core::classify_large(large, address);
    result.verdict = mem::chunk_supply.in_reserved_space(address) ? Verdict::kMetadata : Verdict::kMiss;
    return result;
  }
  const uint32_t bin = racing_read(span->bin);
  if (bin == 0) {  // given back this very moment
    result.verdict = Verdict::kMetadata;
    return result;
  }
  const mem::SizeClass& geometry = kSizeClasses[class_of_bin(bin)];
  const Position at = position_in(span, class_of_bin(bin), address);
  const char* const run = racing_read(span->run);
  result.span = run;
  result.usable_bytes = geometry.slot_bytes;
  result.owner = span->owner.load(std::memory_order_relaxed);
  if (at.slot >= geometry.slot_count) {  // before the first block, a negative offset, or after the last one
    result.verdict = Verdict::kTailSlack;
  } else if (at.exact) {
    // Free blocks look like others, but for those that were never handed out and the one that this thread freed last.
    const bool is_free = at.slot >= racing_read(span->carved) || thread_heap->heads[bin] == address;
    result.verdict = is_free ? Verdict::kFreed : Verdict::kValid;
  } else {
    result.verdict = is_aligned(reinterpret_cast<uintptr_t>(address), mem::kMinAlignment) ? Verdict::kInterior
                                                                                           : Verdict::kMisaligned;
  }
  return result;
}

size_t Hz4::usable_size(const void* address) noexcept {
  const Classification found = classify(address);
  return found.verdict == Verdict::kValid ? found.usable_bytes : 0;
}

size_t Hz4::good_size(size_t size) noexcept {
  return size <= mem::kMaxSlotBytes ? mem::slot_bytes_of(mem::class_of(size))
                                    : mem::LargeBlocks::mapping_bytes(size);
}

}  // namespace hakozuna::hz4
