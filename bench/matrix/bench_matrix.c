// bench_matrix: one allocation workload, through plain malloc and free. It knows no allocator; the
// one to measure is preloaded.
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "fail.h"
#include "options.h"
#include "process_status.h"
#include "support/malloc_provider.h"
#include "workload.h"

// Formatted on the stack and written at once: stdio would take its buffer from the allocator under
// test between two runs.
static void print_result(const struct Options* options, uint64_t run, const struct Result* result) {
  char line[8192];
  // The kernel's peak is kept less exactly than the present size; it cannot be below what was seen.
  const uint64_t peak = peak_resident_bytes();
  const uint64_t peak_rss = peak > result->post_rss ? peak : result->post_rss;
  const double operations = (double)options->threads * (double)options->iterations;
  const int length = snprintf(
      line, sizeof line,
      "{\"run\": %" PRIu64 ", \"threads\": %" PRIu64 ", \"iters\": %" PRIu64
      ", \"min_size\": %" PRIu64 ", \"max_size\": %" PRIu64 ", \"remote_pct\": %" PRIu64
      ", \"interleaved\": %" PRIu64 ", \"live_window\": %" PRIu64
      ", \"ops_per_s\": %.3f, \"wall_ms\": %.4f, \"work_ms\": %.4f, \"tail_ms\": %.4f"
      ", \"post_rss\": %" PRIu64 ", \"peak_rss\": %" PRIu64 ", \"minor_faults\": %" PRIu64
      ", \"served_by\": \"%s\"}\n",
      run, options->threads, options->iterations, options->min_size, options->max_size,
      options->remote_percent, options->interleaved, options->live_window,
      operations / (result->wall_ms * 1e-3), result->wall_ms, result->work_ms, result->tail_ms,
      result->post_rss, peak_rss, result->minor_faults, malloc_provider_json());
  if (write(STDOUT_FILENO, line, (size_t)length) != length) fail("the result cannot be written");
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv);
  for (uint64_t i = 0; i < options.runs; ++i) {
    const uint64_t run = options.first_run + i;
    const struct Result result = run_workload(&options, run);
    print_result(&options, run, &result);
  }
  return 0;
}
