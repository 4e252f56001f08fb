// The usable size of any block there is in the process: ours, or of the allocator underneath.
#pragma once

#include "common/api/api.h"
#include "common/os/underlying.h"

namespace hakozuna::api {

// 0 for null and for what is in our memory and no live block.
inline size_t any_usable_size(const void* block) {
  const size_t bytes = ServedLine::usable_size(block);
  if (bytes != 0 || !block) [[likely]] return bytes;
  const bool foreign = ServedLine::classify(block).verdict == Verdict::kMiss;
  return foreign ? os::underlying_usable_size(block) : 0;
}

}  // namespace hakozuna::api
