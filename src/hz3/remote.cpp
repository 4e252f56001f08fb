#include "hz3/remote.h"

#include <utility>

#include "hz3/hz3.h"
#include "hz3/orphans.h"

namespace hakozuna::hz3 {
namespace {

// An outbox is sent when it holds as many blocks, or bytes: what a thread holds back of others' memory is bounded by the latter.
constexpr uint32_t kMostBlocks = 64;
constexpr size_t kMostBytes = size_t{16} << 10;

// The chain's blocks were the heap's when they were freed. Its spans may have gone to another since: it then sees to it.
void push_to_stash(Heap* owner, void* first, void* last) {
  void* head = owner->stash.load(std::memory_order_relaxed);
  do {
    next_of(last) = head;
    // seq_cst: orders the push before the looks at `serving` and at fast_limit, against end() and attend(), which change those before they look at
    // the stash. Includes the release that hands the blocks over.
  } while (!owner->stash.compare_exchange_weak(head, first, std::memory_order_seq_cst, std::memory_order_relaxed));
  if (!owner->serving.load(std::memory_order_seq_cst)) {
    forward_stash(owner);
  } else if (!head) {
    owner->request_attention_in_time();
  }
}

void push_one(Heap* owner, void* block) {
  ahead_of(block) = nullptr;
  push_to_stash(owner, block, block);
}

void send(Heap* heap, Outbox& box) {
  if (box.count == 0) return;
  void* const first = box.first;
  heap->outbox_bytes -= box.bytes;
  heap->has_sent = true;
  box.first = nullptr;
  box.count = 0;
  box.bytes = 0;
  for (void*& block : box.latest) block = nullptr;
  push_to_stash(box.owner, first, box.last);
}

}  // namespace

void free_remotely(Heap* heap, void* block, Heap* owner, size_t bytes) {
  if (heap == &no_heap) return push_one(owner, block);
  Outbox& box = heap->outboxes[owner->number % kOutboxes];
  if (box.owner != owner) {
    send(heap, box);
    box.owner = owner;
  }
  next_of(block) = box.first;
  ahead_of(block) = std::exchange(box.latest[box.count % kAhead], block);
  if (!box.first) box.last = block;
  box.first = block;
  box.bytes += bytes;
  heap->outbox_bytes += bytes;
  if (++box.count >= kMostBlocks || box.bytes >= kMostBytes) send(heap, box);
}

void send_all(Heap* heap) {
  if (heap->outbox_bytes == 0) return;
  for (Outbox& box : heap->outboxes) send(heap, box);
}

void deliver(void* block) {
  for (;;) {
    const Door* const door = door_at(block);
    if (is_closed(door)) return;  // freed twice, and its span has been given back
    if (!is_nobodys(door)) return push_one(door->heap, block);
    if (free_orphan(block, thread_heap)) return;
  }
}

void forward_stash(Heap* heap) {
  // acquire: pairs with the push. seq_cst: after `serving` was set or found false.
  void* block = heap->stash.exchange(nullptr, std::memory_order_seq_cst);
  while (block) {
    void* const next = next_of(block);
    deliver(block);
    block = next;
  }
}

}  // namespace hakozuna::hz3
