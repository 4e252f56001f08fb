#include "hz10/depots.h"

#include <string.h>

#include "common/core/diagnostics.h"
#include "common/core/heap_care.h"
#include "common/core/options.h"
#include "hz10/hz10.h"

namespace hakozuna::hz10 {

constinit Depot depots[mem::kClassCount];

namespace {

// Blocks given back while the lock is held once: some hundred nanoseconds.
constexpr uint32_t kPutAtOnce = 64;

// Runs of spans that became empty, to be passed on when the lock is given back.
struct Emptied {
  char* runs[kPutAtOnce];
  uint32_t count = 0;
};

void pass_on(Heap* heap, uint32_t order, const Emptied& emptied) {
  for (uint32_t i = 0; i < emptied.count; ++i) {
    if (heap) {
      heap->runs.put(emptied.runs[i], order, core::retain_bytes());
    } else {
      core::release_run(emptied.runs[i], order);
    }
  }
}

// A run with memory, if the class is likely to need one and is growing; else null. Without the lock, which others need meanwhile, so that what is
// looked at may change.
char* prepare_run(const Depot& depot, Heap* heap, uint32_t size_class) {
  if (size_class >= mem::kSmallClassCount || racing_read(depot.spans) < kGrowingSpans) return nullptr;
  if (!racing_read(depot.dry) || racing_read(depot.stash_count) != 0) return nullptr;
  const uint32_t order = kSizeClasses[size_class].order;
  char* const run = heap->runs.take(order, core::limit_bytes());
  if (run) mem::chunk_supply.populate(run, order);
  return run;
}

// The span to take from, made if there is none, of the prepared run if there is one; null when the system has no memory. With the lock held:
// others that want this class now find slots in the new span.
Span* open_span(Depot& depot, Heap* heap, uint32_t size_class, char*& prepared) {
  if (Span* const span = depot.open.first()) return span;
  char* const run = prepared ? prepared : heap->runs.take(kSizeClasses[size_class].order, core::limit_bytes());
  prepared = nullptr;
  if (!run) return nullptr;
  Span* const span = make_span(depot, run, size_class);
  if (!span) prepared = run;
  return span;
}

void close_if_full(Depot& depot, Span* span) {
  if (span->free_count != 0) return;
  depot.open.remove(span);
  depot.dry = depot.open.empty();
}

// False if it is no block in use of the class.
bool put_block(Depot& depot, uint32_t size_class, void* block, Emptied& emptied) {
  Span* const span = find_span(block);
  if (!span || span->size_class != size_class) return false;
  const mem::SlotPosition at = position_in(span, block);
  if (!at.exact) return false;
  uint64_t& word = span->words()[at.slot / 64];
  uint64_t bits = word;
  if (arch::test_and_set_bit(bits, at.slot % 64)) return false;
  word = bits;
  span->summary |= uint64_t{1} << (at.slot / 64);
  span->idle_passes = 0;
  if (span->free_count++ == 0) {
    depot.open.push_back(span);
    depot.dry = false;
  } else if (span->free_count == span->slot_count && depot.open.first() != depot.open.last()) {
    emptied.runs[emptied.count++] = unmake_span(depot, span);
  }
  return true;
}

uint32_t take_of_spans(Depot& depot, Heap* heap, uint32_t size_class, void** end, uint32_t wanted, char*& run) {
  uint32_t taken = 0;
  for (Span* span = open_span(depot, heap, size_class, run); span; span = depot.open.first()) {
    taken += take_slots(span, end - taken, wanted - taken);
    close_if_full(depot, span);
    // A span that stays open has no more slots with memory.
    if (taken == wanted || span->free_count != 0) break;
  }
  return taken;
}

// Makes the stash larger for `wanted` blocks if it may be. Returns for how many there is room.
uint32_t room_in_stash(Depot& depot, uint32_t size_class, uint32_t wanted) {
  const uint32_t largest = kStashCapacities[size_class];
  uint32_t capacity = depot.stash_capacity;
  if (depot.stash_count + wanted > capacity && capacity < largest) {
    while (capacity < depot.stash_count + wanted && capacity < largest) capacity = capacity == 0 ? kFirstStash : 2 * capacity;
    if (capacity > largest) capacity = largest;
    if (void** const larger = static_cast<void**>(mem::metadata.allocate(capacity * sizeof(void*)))) {
      if (depot.stash_count != 0) memcpy(larger, depot.stash, depot.stash_count * sizeof(void*));
      depot.stash = larger;
      depot.stash_capacity = capacity;
    }
  }
  return depot.stash_capacity - depot.stash_count;
}

// Takes up to `wanted` blocks of the stash.
uint32_t take_stashed(Depot& depot, void** end, uint32_t wanted) {
  const uint32_t taken = wanted < depot.stash_count ? wanted : depot.stash_count;
  if (taken == 0) return 0;
  depot.stash_count -= taken;
  if (depot.stash_count < depot.stash_low) depot.stash_low = depot.stash_count;
  memcpy(end - taken, depot.stash + depot.stash_count, taken * sizeof(void*));
  return taken;
}

// Gives up to `most` blocks of the stash to the spans, the oldest ones.
void empty_stash(uint32_t size_class, uint32_t most) {
  Depot& depot = depots[size_class];
  for (uint32_t done = 0; done < most;) {
    void* blocks[kPutAtOnce];
    uint32_t some = most - done < kPutAtOnce ? most - done : kPutAtOnce;
    {
      os::LockGuard guard(depot.lock);
      if (some > depot.stash_count) some = depot.stash_count;
      if (some == 0) return;
      depot.stash_count -= some;
      if (depot.stash_count < depot.stash_low) depot.stash_low = depot.stash_count;
      memcpy(blocks, depot.stash, some * sizeof(void*));
      memmove(depot.stash, depot.stash + some, depot.stash_count * sizeof(void*));
    }
    put_in_spans(nullptr, size_class, blocks, some);
    done += some;
  }
}

void report(const void* block) {
  Classification found = Hz10::classify(block);
  // A block that is in use now by somebody else, of another class: the span has been given back since the block was freed first.
  if (found.verdict == Verdict::kValid || found.verdict == Verdict::kMiss) found.verdict = Verdict::kFreed;
  core::report_misuse(Hz10::kName, core::misuse_of(found.verdict), "free", block, found);
}

}  // namespace

uint32_t take_blocks(Heap* heap, uint32_t size_class, void** end, uint32_t wanted) {
  Depot& depot = depots[size_class];
  char* run = prepare_run(depot, heap, size_class);
  uint32_t taken = 0;
  {
    os::LockGuard guard(depot.lock);
    taken = take_stashed(depot, end, wanted);
    if (taken == 0) taken = take_of_spans(depot, heap, size_class, end, wanted, run);
  }
  if (run) heap->runs.put(run, kSizeClasses[size_class].order, core::retain_bytes());
  return taken;
}

Slot take_block(Heap* heap, uint32_t size_class) {
  Depot& depot = depots[size_class];
  char* run = nullptr;
  Slot slot{};
  {
    os::LockGuard guard(depot.lock);
    if (take_stashed(depot, &slot.address + 1, 1) != 0) return slot;
    if (Span* const span = open_span(depot, heap, size_class, run)) {
      slot = take_slot(span);
      close_if_full(depot, span);
    }
  }
  if (run) heap->runs.put(run, kSizeClasses[size_class].order, core::retain_bytes());
  return slot;
}

void put_blocks(Heap* heap, uint32_t size_class, void* const* blocks, uint32_t count) {
  Depot& depot = depots[size_class];
  uint32_t stashed = 0;
  {
    os::LockGuard guard(depot.lock);
    const uint32_t room = room_in_stash(depot, size_class, count);
    stashed = count < room ? count : room;
    if (stashed != 0) memcpy(depot.stash + depot.stash_count, blocks, stashed * sizeof(void*));
    depot.stash_count += stashed;
  }
  if (stashed < count) put_in_spans(heap, size_class, blocks + stashed, count - stashed);
}

void put_in_spans(Heap* heap, uint32_t size_class, void* const* blocks, uint32_t count) {
  Depot& depot = depots[size_class];
  while (count != 0) {
    Emptied emptied;
    const uint32_t some = count < kPutAtOnce ? count : kPutAtOnce;
    uint32_t done = 0;
    {
      os::LockGuard guard(depot.lock);
      while (done < some && put_block(depot, size_class, blocks[done], emptied)) ++done;
    }
    pass_on(heap, kSizeClasses[size_class].order, emptied);
    if (done < some) report(blocks[done++]);  // without the lock: a handler of the program may allocate
    blocks += done;
    count -= done;
  }
}

void release_empty_spans() {
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    empty_stash(c, UINT32_MAX);
    Emptied emptied;
    {
      os::LockGuard guard(depots[c].lock);
      for (Span* span = depots[c].open.first(); span && emptied.count < kPutAtOnce;) {
        Span* const next = span->next;
        if (span->free_count == span->slot_count) emptied.runs[emptied.count++] = unmake_span(depots[c], span);
        span = next;
      }
    }
    pass_on(nullptr, kSizeClasses[c].order, emptied);
  }
}

size_t return_free_pages(uint8_t passes, bool& more) {
  size_t bytes = 0;
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    empty_stash(c, passes == 0 ? UINT32_MAX : racing_read(depots[c].stash_low));
    Emptied emptied;
    {
      os::LockGuard guard(depots[c].lock);
      depots[c].stash_low = depots[c].stash_count;
      more |= depots[c].stash_count != 0;
      for (Span* span = depots[c].open.first(); span;) {
        Span* const next = span->next;
        if (span->idle_passes == kNothingToReturn) {
        } else if (span->idle_passes < passes) {
          ++span->idle_passes;
          more = true;
        } else if (span->free_count == span->slot_count && emptied.count < kPutAtOnce) {
          emptied.runs[emptied.count++] = unmake_span(depots[c], span);
        } else {
          bytes += discard_free_pages(span);
          span->idle_passes = kNothingToReturn;
        }
        span = next;
      }
    }
    pass_on(nullptr, kSizeClasses[c].order, emptied);
  }
  return bytes;
}

}  // namespace hakozuna::hz10
