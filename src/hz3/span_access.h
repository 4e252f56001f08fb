// Exclusive access to the spans of a heap: its lock, and what is better done after the lock is released.
#pragma once

#include "hz3/hz3.h"
#include "hz3/spans.h"

namespace hakozuna::hz3 {

// What is done at the end of the scope, without the lock: spans that became empty go back, blocks that turned out to be another heap's go to
// that, and misuse that was met is reported (a handler of the program may allocate).
class SpanAccess {
 public:
  explicit SpanAccess(Heap* heap) : heap_(heap) { heap->lock.lock(); }
  ~SpanAccess();
  SpanAccess(const SpanAccess&) = delete;
  SpanAccess& operator=(const SpanAccess&) = delete;

  Heap* heap() const { return heap_; }

  // Puts a block of the heap into its span. False if it is none: it is dropped, and reported.
  bool put(void* block, uint32_t size_class);

  // The same for the blocks of a bin, the youngest first, until `keep` are left. Owner.
  void empty_bin(uint32_t size_class, uint32_t keep);

  // Sorts what others sent, at most `budget` blocks: into the bins as far as they have room, if the caller is the owner, else into the spans.
  void collect(uint32_t budget, bool into_bins);

  // Takes blocks for an allocation; `first` is null if there is no memory. Owner.
  Taken refill(uint32_t size_class);

  // Gives up all spans: they become orphans, or go back.
  void orphan_all();

  // Returns pages of partial spans that were not used for `idle_ticks` calls of this, and their bytes. Clears `dirty` if all were.
  size_t discard_idle_pages(uint8_t idle_ticks);

 private:
  Span* adopt(uint32_t size_class);
  Span* carve(uint32_t size_class);
  void note(Put what, void* block, const Span* span);

  Heap* const heap_;
  Span* empty_ = nullptr;       // no spans any more, linked through `next`
  void* elsewhere_ = nullptr;   // blocks of other heaps
  core::MisuseNotes notes_{Hz3::kName};
};

}  // namespace hakozuna::hz3
