// bench_micro: Google Benchmark over malloc and free. The allocator to measure is preloaded;
// run_micro.py compares several.
#include <benchmark/benchmark.h>

#include "support/malloc_provider.h"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("served_by", malloc_provider_json());
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
