// Blocks of other malloc zones: each goes back to the zone it came from.
//
// Zones is the system's interface to them, malloc/malloc.h in the library (underlying.cpp) and a table in the unit tests:
//
//   Zone                           opaque
//   Zone* zone_of(block)           null if no registered zone has the block
//   void free(Zone*, block)
//   void* realloc(Zone*, block, size)
//   size_t size(Zone*, block)
//   void unknown(operation, block) a block that nobody has: does not return
//
// The search asks our own zone too, which answers "not mine" for every block that gets here; so no call comes back to us.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hakozuna::os {

template <class Zones>
class ForeignBlocks {
 public:
  static void free(void* block) {
    frees_.fetch_add(1, std::memory_order_relaxed);  // statistics
    auto* const zone = Zones::zone_of(block);
    if (!zone) return Zones::unknown("free", block);
    Zones::free(zone, block);
  }

  static void* realloc(void* block, size_t size) {
    auto* const zone = Zones::zone_of(block);
    if (zone) return Zones::realloc(zone, block, size);
    Zones::unknown("realloc", block);
    return nullptr;
  }

  static size_t usable_size(const void* block) {
    auto* const zone = Zones::zone_of(block);
    return zone ? Zones::size(zone, block) : 0;
  }

  static uint64_t free_count() { return frees_.load(std::memory_order_relaxed); }

 private:
  static inline constinit std::atomic<uint64_t> frees_{0};
};

}  // namespace hakozuna::os
