#include "common/core/memory_statistics.h"

#include "common/mem/mem.h"

namespace hakozuna::core {

void add_memory_statistics(hakozuna_statistics& s) {
  const mem::ChunkSupply::Totals supply = mem::chunk_supply.totals();
  s.reserved += supply.reserved;
  s.metadata += supply.metadata + mem::metadata.mapped_bytes() + mem::page_map.mapped_bytes();
  s.mapped += supply.committed_runs + s.metadata;
  s.cached += supply.free_runs.resident;
  s.returned += supply.free_runs.returned;
  s.untouched += supply.free_runs.untouched;
  s.purge_calls += supply.purge_calls + mem::large_blocks.purge_calls();
  s.purged_bytes += supply.purged_bytes + mem::large_blocks.purged_bytes();

  s.large_live = mem::large_blocks.live_bytes();
  s.large_cached = mem::large_blocks.cached_bytes();
  const uint64_t slack = mem::large_blocks.slack_bytes();
  s.live += s.large_live;
  s.cached += s.large_cached;
  s.free_in_spans += slack;
  s.mapped += s.large_live + s.large_cached + slack;
}

}  // namespace hakozuna::core
