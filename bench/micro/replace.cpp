// A set of live blocks in which one, drawn at random, is replaced by another of a random size: what
// a long-running program does.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <vector>

#include "support/random.h"

namespace {

constexpr uint32_t kMinSize = 16;

void replace(benchmark::State& state) {
  const auto live = static_cast<uint32_t>(state.range(0));
  const auto sizes = static_cast<uint32_t>(state.range(1)) - kMinSize + 1;
  uint64_t random = random_seed(0, static_cast<uint64_t>(state.thread_index()));
  std::vector<void*> blocks(live, nullptr);
  for (void*& block : blocks) block = std::malloc(kMinSize + random_next(&random) % sizes);
  for (auto _ : state) {
    void*& block = blocks[random_next(&random) % live];
    std::free(block);
    block = std::malloc(kMinSize + random_next(&random) % sizes);
    *static_cast<volatile char*>(block) = 1;
  }
  for (void* block : blocks) std::free(block);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(replace)
    ->ArgNames({"live", "max"})
    ->Args({4096, 1024})
    ->Args({65536, 1024})
    ->Args({1024, 32768});
BENCHMARK(replace)->ArgNames({"live", "max"})->Args({4096, 1024})->Threads(2);

}  // namespace
