// What the heaps of all lines have in common, and the registry of them.
//
// A thread gets a heap at its first allocation and leaves it at its end; records are recycled and never given back, so that a thread that is late
// with another's heap finds a heap. heap_care.h is what is done with them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "common/base/base.h"
#include "common/mem/metadata.h"
#include "common/mem/run_cache.h"
#include "common/os/os.h"

namespace hakozuna::core {

// A line's heap derives from this.
template <class Heap>
struct ThreadHeap {
  // Makes the owner look after its heap at its next allocation. Any thread. seq_cst: after what it is to look at has been published; pairs
  // with HeapCare::attend().
  void request_attention() {
    attention_skip.store(0, std::memory_order_relaxed);
    fast_limit.store(0, std::memory_order_seq_cst);
  }

  // The same for what can wait for a few allocations of an owner that is armed: it looks anyway, but one that was busy would look late when it has
  // become slow. seq_cst: what was published before is in front of the load, so that an owner whose 0 is seen here will find it after withdrawing
  // that.
  void request_attention_in_time() {
    // An owner that allocates every 50 ms is late by a fifth of a second; one that is in a hurry is not held up at each of its allocations.
    constexpr uint32_t kFewAllocations = 4;
    if (fast_limit.load(std::memory_order_seq_cst) != 0) {
      request_attention();
    } else if (attention_skip.load(std::memory_order_relaxed) > kFewAllocations) {
      attention_skip.store(kFewAllocations, std::memory_order_relaxed);
    }
  }

  // Requests above this take the slow path: the line's largest fast size, or 0 when the heap has something to attend to. Any thread may set it
  // to 0; the owner sets it back before it looks.
  std::atomic<size_t> fast_limit{0};

  // Relaxed: hints between threads.
  // Allocations the owner serves before it looks at the clock again. Who asks for attention sets it to 0; that may be lost to a simultaneous
  // decrement, which delays the answer by as many allocations.
  std::atomic<uint32_t> attention_skip{0};
  std::atomic<bool> flush_requested{false};  // by trim: give up everything that is free
  std::atomic<uint64_t> seen_at{0};          // when the owner last looked after its heap, ms

  // Owner.
  uint32_t attention_step = 1;  // how many to skip next time
  uint32_t events = 0;          // slow events since the last look at whether to arm the timer
  uint64_t tick_due = 0;        // ms; 0: nothing to do later

  // Under the registry's lock.
  Heap* next = nullptr;
  Heap* previous = nullptr;
  bool after_exit = false;  // of a thread whose exit handler has run, or that could have none: no second one may come
  uint32_t thread_id = 0;   // its number then
  uint64_t trimmed_by = 0;  // the number of the last trim that asked it

  // Statistics; written by the owner, relaxed.
  std::atomic<uint64_t> refills{0};
  std::atomic<uint64_t> remote_frees{0};
  std::atomic<uint64_t> adopted_spans{0};

  mem::RunCache runs;
};

// Adds to a statistic that has one writer.
inline void count(std::atomic<uint64_t>& statistic, uint64_t more) {
  statistic.store(statistic.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

template <class Heap>
class HeapRegistry {
 public:
  // A heap for the calling thread, of one that has ended or a new one; null if there is no memory. `after_exit`: see there.
  Heap* take(bool after_exit) {
    {
      os::LockGuard guard(lock_);
      if (Heap* const heap = ended_.pop_front()) {
        serve(heap, after_exit);
        return heap;
      }
    }
    void* const memory = mem::metadata.allocate(sizeof(Heap));
    if (!memory) return nullptr;
    Heap* const heap = new (memory) Heap;  // not Heap{}, which would write to all of it
    os::LockGuard guard(lock_);
    serve(heap, after_exit);
    return heap;
  }

  // The calling thread's heap will not be retired by an exit handler: take_gone() finds it.
  void expect_no_exit_handler(Heap* heap) {
    os::LockGuard guard(lock_);
    set_after_exit(heap, true);
  }

  void retire(Heap* heap) {
    os::LockGuard guard(lock_);
    move_to_ended(heap);
  }

  // Calls visit(heap) for every heap that serves a thread, under the lock.
  template <class Visitor>
  void for_each(Visitor&& visit) {
    os::LockGuard guard(lock_);
    for (Heap* heap = serving_.first(); heap; heap = heap->next) visit(heap);
  }
  // Likewise for those that wait for the next thread: late pushes to their queues are possible.
  template <class Visitor>
  void for_each_ended(Visitor&& visit) {
    os::LockGuard guard(lock_);
    for (Heap* heap = ended_.first(); heap; heap = heap->next) visit(heap);
  }

  // For who forks: calls visit(heap) for every heap there is, the ended ones too. The caller has the lock.
  template <class Visitor>
  void for_each_under_lock(Visitor&& visit) {
    for (const List<Heap>* list : {&serving_, &ended_}) {
      for (Heap* heap = list->first(); heap; heap = heap->next) visit(heap);
    }
  }

  // A heap whose thread ended without notice, the caller's from now on; null if there is none.
  Heap* take_gone(const Heap* mine) {
    os::LockGuard guard(lock_);
    for (Heap* heap = serving_.first(); heap; heap = heap->next) {
      if (!heap->after_exit || heap == mine || os::thread_exists(heap->thread_id)) continue;
      heap->after_exit = false;
      return heap;
    }
    return nullptr;
  }

  bool at_most_one_serves() {
    os::LockGuard guard(lock_);
    return serving_count_ <= 1;
  }

  // In a forked child, under the lock: only `mine`, the caller's, is left. The thread has another number there.
  void retire_others(Heap* mine) {
    if (mine->after_exit) mine->thread_id = os::thread_id();
    for (Heap* heap = serving_.first(); heap;) {
      Heap* const next = heap->next;
      if (heap != mine) move_to_ended(heap);
      heap = next;
    }
  }

  struct Totals {
    uint64_t serving = 0, ever = 0;
    uint64_t refills = 0, remote_frees = 0, adopted_spans = 0;
  };
  Totals totals() {
    os::LockGuard guard(lock_);
    Totals totals{.serving = serving_count_, .ever = total_count_};
    for (const List<Heap>* list : {&serving_, &ended_}) {
      for (const Heap* heap = list->first(); heap; heap = heap->next) {
        totals.refills += heap->refills.load(std::memory_order_relaxed);
        totals.remote_frees += heap->remote_frees.load(std::memory_order_relaxed);
        totals.adopted_spans += heap->adopted_spans.load(std::memory_order_relaxed);
      }
    }
    return totals;
  }

  os::Lock& lock() { return lock_; }

 private:
  static void set_after_exit(Heap* heap, bool after_exit) {
    heap->thread_id = after_exit ? os::thread_id() : 0;
    heap->after_exit = after_exit;
  }
  void serve(Heap* heap, bool after_exit) {
    // Under the same lock: take_gone() must not see the heap with the number of its last thread, which is gone.
    set_after_exit(heap, after_exit);
    serving_.push_front(heap);
    ++serving_count_;
    ++total_count_;
  }
  void move_to_ended(Heap* heap) {
    serving_.remove(heap);
    ended_.push_front(heap);
    --serving_count_;
  }

  os::Lock lock_{os::Rank::kHeapRegistry};
  List<Heap> serving_;
  List<Heap> ended_;
  uint64_t serving_count_ = 0;
  uint64_t total_count_ = 0;
};

}  // namespace hakozuna::core
