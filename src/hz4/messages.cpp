#include "hz4/messages.h"

#include "common/core/diagnostics.h"
#include "hz4/allocation.h"
#include "hz4/exchange.h"
#include "hz4/heaps.h"
#include "hz4/orphans.h"

namespace hakozuna::hz4 {
namespace {

// Sent by threads without a heap, less what they have received. Relaxed: statistics.
constinit std::atomic<int64_t> in_flight_without_heap[mem::kClassCount];

void count_in_flight(Heap* self, uint32_t size_class, int64_t more) {
  if (self) {
    std::atomic<int64_t>& own = self->in_flight[size_class];
    own.store(own.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  } else {
    in_flight_without_heap[size_class].fetch_add(more, std::memory_order_relaxed);
  }
}

// Puts blocks into the spans of a heap. Returns those that do not belong to it any more.
Block* bring_home_to_heap(Heap* heap, Block* chain, EmptyRuns& empty) {
  Block* strangers = nullptr;
  core::MisuseNotes notes(Hz4::kName);
  os::LockGuard guard(heap->lock);
  while (Block* const block = chain) {
    chain = block->next;
    Span* const span = span_of(block);
    // relaxed: if it is this heap it stays so under the lock.
    if (span->owner.load(std::memory_order_relaxed) != heap) {
      block->next = strangers;
      strangers = block;
      continue;
    }
    const bool had_free = span->free_count != 0;
    if (!bring_home(span, block, notes)) continue;
    if (had_free && span->free_count != span->carved) continue;
    (span->state == SpanState::kFull ? heap->full : heap->partial[span->size_class()]).remove(span);
    if (span->free_count == span->carved) {
      unmake_span(span, empty);
    } else {
      place_span(heap, span);
    }
  }
  return strangers;
}

// Sorts blocks by where they go.
class Sorter {
 public:
  explicit Sorter(Heap* self) : self_(self) {}

  void add(Block* block) {
    Span* const span = span_of(block);
    const uint8_t bin = span ? racing_read(span->bin) : 0;
    if (bin == 0) [[unlikely]] {
      // Its span has been given back since, by frees of which one was too many.
      core::report_misuse(Hz4::kName, core::Misuse::kMetadataPointer, "free", block, Hz4::classify(block));
      return;
    }
    // acquire: pairs with who made it the owner's; its heap is complete.
    Group& group = group_for(span->owner.load(std::memory_order_acquire), bin);
    block->next = group.first;
    group.first = block;
    if (++group.count == batch_of(class_of_bin(bin)) && is_message(group)) send(group);
  }
  void add_all(Chain chain) {
    if (chain.count == 1) {
      add(chain.first);
    } else {
      add_all(chain.first);
    }
  }
  void add_all(Block* chain) {
    while (Block* const block = chain) {
      chain = block->next;
      add(block);
    }
  }

  // Sends everything on its way. What turns out to have another owner by then is sorted again.
  void finish() {
    for (;;) {
      for (uint32_t i = 0; i < count_; ++i) send(groups_[i]);
      count_ = 0;
      if (!strangers_) return;
      Block* const again = strangers_;
      strangers_ = nullptr;
      add_all(again);
    }
  }

 private:
  struct Group {
    Heap* owner;
    Block* first;
    uint32_t count;
    uint8_t bin;  // of a message; 0: any
  };
  static constexpr uint32_t kGroups = 32;

  bool is_message(const Group& group) const { return group.owner && group.owner != self_; }

  Group& group_for(Heap* owner, uint8_t bin) {
    if (!owner || owner == self_) bin = 0;
    for (uint32_t i = count_; i-- > 0;) {
      if (groups_[i].owner == owner && groups_[i].bin == bin) return groups_[i];
    }
    Group* group = nullptr;
    if (count_ < kGroups) {
      group = &groups_[count_++];
    } else {
      group = &groups_[next_evicted_++ % kGroups];
      send(*group);
    }
    *group = {owner, nullptr, 0, bin};
    return *group;
  }

  void send(Group& group) {
    Block* const first = group.first;
    const uint32_t count = group.count;
    group.first = nullptr;
    group.count = 0;
    if (!first) return;
    if (is_message(group)) return post(group.owner, first, count, class_of_bin(group.bin));
    Block* strangers = nullptr;
    if (group.owner) {
      EmptyRuns empty;
      strangers = bring_home_to_heap(self_, first, empty);
      release_runs(empty, self_);
    } else {
      strangers = bring_home_to_orphans(first);
    }
    while (Block* const block = strangers) {
      strangers = block->next;
      block->next = strangers_;
      strangers_ = block;
    }
  }

  void post(Heap* owner, Block* first, uint32_t count, uint32_t size_class) {
    count_in_flight(self_, size_class, count);
    Block* head = owner->inbox.load(std::memory_order_relaxed);
    do {
      first->message = pack(head, count);
      // seq_cst: orders the push before the request for attention, against attend(), which withdraws the request before it looks. Includes the
      // release that publishes the blocks; pairs with take_messages() and receive().
    } while (!owner->inbox.compare_exchange_weak(head, first, std::memory_order_seq_cst, std::memory_order_relaxed));
    if (!head) owner->request_attention();
  }

  Heap* const self_;
  Block* strangers_ = nullptr;
  uint32_t count_ = 0;
  uint32_t next_evicted_ = 0;
  Group groups_[kGroups];
};

}  // namespace

void send_home(Block* chain, Heap* self) {
  if (!chain) return;
  Sorter sorter(self);
  sorter.add_all(chain);
  sorter.finish();
}

void send_home(Chain chain, Heap* self) {
  Sorter sorter(self);
  sorter.add_all(chain);
  sorter.finish();
}

void empty_bins(Heap* heap) {
  Sorter sorter(heap);
  for (uint32_t c = 0; c < kBinnedClasses; ++c) {
    sorter.add_all(empty_bin(heap, c));
    sorter.add_all(take_reserve(heap, c));
  }
  for (uint32_t c = kBinnedClasses; c < mem::kClassCount; ++c) {
    if (Block* const block = take_held(heap, c)) sorter.add(block);
  }
  sorter.finish();
}

void receive(Heap* heap) {
  // acquire: pairs with post().
  Block* first = heap->inbox.exchange(nullptr, std::memory_order_acquire);
  if (!first) return;
  Sorter sorter(heap);
  while (first) {
    const auto [next, count] = unpack(first->message);
    const Chain chain{first, count};
    const uint32_t c = span_of(first)->size_class();
    count_in_flight(heap, c, -int64_t{chain.count});
    core::count(heap->remote_frees, chain.count);
    if (c < kBinnedClasses && !heap->heads[bin_of(c)]) {
      fill_bin(heap, c, chain);
    } else if (!(c < kBinnedClasses && put_into_reserve(heap, c, chain)) && !leave_batch(c, chain)) {
      sorter.add_all(chain);
    }
    first = next;
  }
  sorter.finish();
}

Block* take_messages(Heap* heap, Heap* self) {
  // acquire: pairs with post().
  Block* first = heap->inbox.exchange(nullptr, std::memory_order_acquire);
  Block* chain = nullptr;
  while (first) {
    const auto [next, count] = unpack(first->message);
    count_in_flight(self, span_of(first)->size_class(), -int64_t{count});
    if (self) core::count(self->remote_frees, count);
    while (Block* const block = first) {
      first = block->next;
      block->next = chain;
      chain = block;
    }
    first = next;
  }
  return chain;
}

void serve(Heap* heap, Heap* self) {
  Block* chain = take_messages(heap, self);
  for (uint32_t c = kBinnedClasses; c < mem::kClassCount; ++c) {
    if (Block* const block = take_held(heap, c)) {
      block->next = chain;
      chain = block;
    }
  }
  if (!chain) return;
  EmptyRuns empty;
  Block* const strangers = bring_home_to_heap(heap, chain, empty);
  release_runs(empty, nullptr);
  send_home(strangers, self);
}

int64_t blocks_in_flight(uint32_t size_class) {
  int64_t sum = in_flight_without_heap[size_class].load(std::memory_order_relaxed);
  const auto add = [&](const Heap* heap) { sum += heap->in_flight[size_class].load(std::memory_order_relaxed); };
  Care::registry.for_each(add);
  Care::registry.for_each_ended(add);
  return sum;
}

void forget_messages_in_flight(uint32_t size_class) {
  in_flight_without_heap[size_class].store(0, std::memory_order_relaxed);
  const auto reset = [&](Heap* heap) { heap->in_flight[size_class].store(0, std::memory_order_relaxed); };
  Care::registry.for_each(reset);
  Care::registry.for_each_ended(reset);
}

}  // namespace hakozuna::hz4
