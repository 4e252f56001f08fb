// One block allocated and freed at once: the fastest path an allocator has.
#include <benchmark/benchmark.h>

#include <cstdlib>

namespace {

void pair(benchmark::State& state) {
  const auto size = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    void* block = std::malloc(size);
    benchmark::DoNotOptimize(block);
    std::free(block);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(pair)->RangeMultiplier(8)->Range(8, 4 << 20);
BENCHMARK(pair)->Arg(64)->Arg(4096)->Threads(2);

}  // namespace
