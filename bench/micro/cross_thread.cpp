// One thread allocates, another frees: the blocks pass through a ring. Both threads run the same
// number of iterations, and each iteration passes one batch, so neither is left waiting at the end.
#include <benchmark/benchmark.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdlib>

namespace {

constexpr size_t kBatch = 64;
constexpr size_t kBatches = 16;  // in the ring

struct Ring {
  std::array<std::array<void*, kBatch>, kBatches> batches;
  alignas(64) std::atomic<size_t> written{0};
  alignas(64) std::atomic<size_t> freed{0};
};

Ring ring;

void produce(size_t size) {
  const size_t position = ring.written.load(std::memory_order_relaxed);
  // Acquire pairs with the release of consume(): the slots of the oldest batch are free again.
  while (position - ring.freed.load(std::memory_order_acquire) == kBatches) sched_yield();
  for (void*& block : ring.batches[position % kBatches]) {
    block = std::malloc(size);
    *static_cast<volatile char*>(block) = 1;
  }
  // Release: the blocks are in the ring before it says so.
  ring.written.store(position + 1, std::memory_order_release);
}

void consume() {
  const size_t position = ring.freed.load(std::memory_order_relaxed);
  // Acquire pairs with the release of produce().
  while (ring.written.load(std::memory_order_acquire) == position) sched_yield();
  for (void* block : ring.batches[position % kBatches]) std::free(block);
  // Release: we have read the blocks before the producer may write others.
  ring.freed.store(position + 1, std::memory_order_release);
}

void cross_thread(benchmark::State& state) {
  const auto size = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    if (state.thread_index() == 0) {
      produce(size);
    } else {
      consume();
    }
  }
  if (state.thread_index() == 0)
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBatch));
}
BENCHMARK(cross_thread)->Arg(64)->Arg(1024)->Arg(16384)->Threads(2)->UseRealTime();

}  // namespace
