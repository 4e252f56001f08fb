// Free runs, by the buddy system: lists by order, those with resident pages ("warm") apart from those without ("cold"). Runs that
// become free are joined with their free buddies up to a block. Under the supply's lock.
#pragma once

#include "common/mem/regions.h"

namespace hakozuna::mem {

class FreeRuns {
 public:
  constexpr explicit FreeRuns(Regions& regions) : regions_(regions) {}

  // Takes a run that nobody uses. The joined run is as old as its oldest part: otherwise memory next to a busy run would never be
  // old enough to be returned.
  void insert(ChunkId run, uint32_t order, uint32_t freed_at);

  // A run of `order`, of the smallest that is large enough; kNoChunk if there is none.
  ChunkId take(uint32_t order, bool warm);

  // A run of `order` cut from the first on the list of `from`; kNoChunk if that list is empty.
  ChunkId take_of(uint32_t from, uint32_t order, bool warm);

  // Takes a run off its list as it is.
  void remove(ChunkId run);

  // A warm run that has been free for `delay_ms`; kNoChunk if none is found.
  ChunkId find_old(uint32_t now_ms, uint64_t delay_ms);

  ChunkId first(uint32_t order, bool warm) const { return (warm ? warm_ : cold_)[order].first; }

  // Resident bytes of the warm runs.
  uint64_t warm_bytes() const { return warm_bytes_; }

 private:
  struct RunList {
    ChunkId first = kNoChunk;
    ChunkId last = kNoChunk;
  };

  RunList& list_of(const ChunkRecord& record) { return (record.warm ? warm_ : cold_)[record.order]; }
  void push_front(ChunkId run);

  Regions& regions_;
  RunList warm_[kOrders];
  RunList cold_[kOrders];
  uint64_t warm_bytes_ = 0;
};

}  // namespace hakozuna::mem
