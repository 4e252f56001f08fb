#include "bump/bump.h"

#include <errno.h>
#include <string.h>

#include "common/core/diagnostics.h"
#include "common/mem/metadata.h"
#include "common/os/os.h"

namespace hakozuna::bump {

constinit thread_local Heap* this_heap = nullptr;

namespace {

constexpr size_t kReservedBytes = size_t{64} << 30;  // halved until the system agrees
constexpr size_t kCommitStep = size_t{1} << 20;
constexpr size_t kMaxBlockBytes = (size_t{1} << kMaxOrder) - sizeof(Header);

constinit os::Lock lock{os::Rank::kHeapRegistry};  // the region and the lists of heaps
Heap* idle_heaps = nullptr;
Heap* known_heaps = nullptr;
uint64_t heap_count = 0;
uint64_t idle_count = 0;

void* out_of_memory() {
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

Heap* Bump::heap_of_this_thread() {
  if (this_heap) return this_heap;
  {
    os::LockGuard guard(lock);
    Heap* heap = idle_heaps;
    if (heap) {
      idle_heaps = heap->next_idle;
      --idle_count;
    } else {
      heap = static_cast<Heap*>(mem::metadata.allocate(sizeof(Heap)));
      if (!heap) return nullptr;
      heap->next_known = known_heaps;
      known_heaps = heap;
      ++heap_count;
    }
    this_heap = heap;
  }
  // May allocate; the heap is in place by now. Without the notice its free slots are lost with the thread.
  os::call_at_thread_exit(&leave_heap, this_heap);
  return this_heap;
}

void Bump::leave_heap(void*) {
  Heap* const heap = this_heap;  // not the argument: the thread may have left that one before, by a flush
  if (!heap) return;
  this_heap = nullptr;
  os::LockGuard guard(lock);
  heap->next_idle = idle_heaps;
  idle_heaps = heap;
  ++idle_count;
}

FreeSlot* Bump::take_slot(Heap& heap, uint32_t order) {
  FreeSlot* const slot = heap.free_slots[order];
  if (!slot) return cut_slot(order);
  heap.free_slots[order] = slot->next;
  return slot;
}

FreeSlot* Bump::cut_slot(uint32_t order) {
  os::LockGuard guard(lock);
  if (base_ == 0) {
    for (size_t bytes = kReservedBytes; bytes >= kCommitStep; bytes /= 2) {
      void* const region = os::reserve(bytes, os::page_bytes());
      if (!region) continue;
      base_ = reinterpret_cast<uintptr_t>(region);
      reserved_bytes_ = bytes;
      break;
    }
    if (base_ == 0) return nullptr;
  }
  const size_t used = used_bytes_.load(std::memory_order_relaxed);
  const size_t end = used + (size_t{1} << order);
  if (end > committed_bytes_) {
    const size_t target = align_up(end, kCommitStep);
    if (target > reserved_bytes_) return nullptr;
    if (!os::commit(reinterpret_cast<void*>(base_ + committed_bytes_), target - committed_bytes_)) {
      return nullptr;
    }
    committed_bytes_ = target;
  }
  used_bytes_.store(end, std::memory_order_relaxed);
  return reinterpret_cast<FreeSlot*>(base_ + used);
}

void* Bump::allocate_slow(size_t size) noexcept {
  Heap* const heap = size <= kMaxBlockBytes ? heap_of_this_thread() : nullptr;
  if (!heap) return out_of_memory();
  const uint32_t order = order_of(size);
  FreeSlot* const slot = take_slot(*heap, order);
  return slot ? hand_out(*heap, slot, order) : out_of_memory();
}

void* Bump::allocate_zeroed(size_t size) noexcept {
  void* const block = allocate(size);
  return block ? memset(block, 0, usable_size(block)) : nullptr;
}

void* Bump::allocate_aligned(size_t alignment, size_t size) noexcept {
  if (alignment <= sizeof(Header)) return allocate(size);
  size_t padded;
  if (__builtin_add_overflow(size, alignment, &padded) || padded > kMaxBlockBytes) {
    return out_of_memory();
  }
  Heap* const heap = heap_of_this_thread();
  if (!heap) return out_of_memory();
  const uint32_t order = order_of(padded);
  FreeSlot* const slot = take_slot(*heap, order);
  if (!slot) return out_of_memory();

  slot->header.state = 0;  // the header is elsewhere
  char* const block = align_up(reinterpret_cast<char*>(&slot->header + 1), alignment);
  Header* const header = reinterpret_cast<Header*>(block) - 1;
  *header = {Header::kLive, order, static_cast<uint64_t>(block - reinterpret_cast<char*>(slot))};
  heap->add_live(usable_bytes(*header));
  return block;
}

void Bump::deallocate_slow(void* block) noexcept {
  if (!block) return;
  const Classification found = classify(block);
  if (found.verdict == Verdict::kMiss) {
    os::underlying_free(block);
  } else if (found.verdict != Verdict::kValid) {
    core::report_misuse(kName, core::misuse_of(found.verdict), "free", block, found);
  } else if (Heap* const heap = heap_of_this_thread()) {
    take_back(*heap, static_cast<Header*>(block) - 1);
  }
}

void* Bump::resize_without_copy(void* block, size_t size) noexcept {
  return size <= usable_size(block) ? block : nullptr;
}

size_t Bump::usable_size(const void* address) noexcept {
  if (!could_be_block(address)) return 0;
  const Header& header = static_cast<const Header*>(address)[-1];
  return header.state == Header::kLive ? usable_bytes(header) : 0;
}

size_t Bump::good_size(size_t size) noexcept {
  return size <= kMaxBlockBytes ? (size_t{1} << order_of(size)) - sizeof(Header) : 0;
}

Classification Bump::classify(const void* address) noexcept {
  Classification found;
  const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - base_;
  if (offset >= reserved_bytes_) return found;
  if (offset >= used_bytes_.load(std::memory_order_relaxed)) {
    found.verdict = Verdict::kMetadata;
  } else if (offset % sizeof(Header) != 0) {
    found.verdict = Verdict::kMisaligned;
  } else if (!could_be_block(address)) {
    found.verdict = Verdict::kInterior;
  } else {
    const Header& header = static_cast<const Header*>(address)[-1];
    if (header.state == Header::kLive || header.state == Header::kFreed) {
      found.verdict = header.state == Header::kLive ? Verdict::kValid : Verdict::kFreed;
      found.usable_bytes = usable_bytes(header);
    } else {
      found.verdict = Verdict::kInterior;
    }
  }
  return found;
}

void Bump::thread_flush() noexcept { leave_heap(nullptr); }

size_t Bump::trim(size_t) noexcept { return 0; }

void Bump::fork_prepare() noexcept {
  lock.lock();
  mem::metadata.lock().lock();
}

void Bump::fork_parent() noexcept {
  mem::metadata.lock().unlock();
  lock.unlock();
}

void Bump::fork_child() noexcept { fork_parent(); }

void Bump::collect_statistics(hakozuna_statistics& statistics) noexcept {
  os::LockGuard guard(lock);
  uint64_t live = 0;
  for (const Heap* heap = known_heaps; heap; heap = heap->next_known) {
    live += heap->live_bytes.load(std::memory_order_relaxed);
  }
  const size_t used = used_bytes_.load(std::memory_order_relaxed);
  statistics.reserved = reserved_bytes_ - committed_bytes_;
  statistics.metadata = mem::metadata.mapped_bytes();
  statistics.mapped = committed_bytes_ + statistics.metadata;
  statistics.live = live;
  statistics.free_in_spans = used - live;
  statistics.untouched = committed_bytes_ - used;
  statistics.threads = heap_count - idle_count;
  statistics.threads_total = heap_count;
}

bool Bump::collect_class_statistics(size_t, hakozuna_class_statistics&) noexcept { return false; }

}  // namespace hakozuna::bump
