// Many blocks allocated, then all freed, in the order of allocation or against it.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>

namespace {

constexpr size_t kBlocks = 1024;

void batch(benchmark::State& state, bool newest_first) {
  static thread_local std::array<void*, kBlocks> blocks;
  const auto size = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    for (void*& block : blocks) {
      block = std::malloc(size);
      *static_cast<volatile char*>(block) = 1;
    }
    for (size_t i = 0; i < kBlocks; ++i) std::free(blocks[newest_first ? kBlocks - 1 - i : i]);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBlocks));
}
BENCHMARK_CAPTURE(batch, oldest_first, false)->Arg(16)->Arg(64)->Arg(512)->Arg(4096);
BENCHMARK_CAPTURE(batch, newest_first, true)->Arg(16)->Arg(64)->Arg(512)->Arg(4096);

}  // namespace
