// How much is mapped, and whether more may be: what HAKOZUNA_LIMIT bounds.
#pragma once

#include <atomic>
#include <cstdint>

namespace hakozuna::mem {

// Bytes mapped readable and writable for spans, large blocks and their records. Relaxed: a sum, and a limit that two threads may pass at the
// same moment by one mapping each.
inline constinit std::atomic<uint64_t> mapped_total{0};

inline void count_mapped(uint64_t bytes) { mapped_total.fetch_add(bytes, std::memory_order_relaxed); }
inline void count_unmapped(uint64_t bytes) { mapped_total.fetch_sub(bytes, std::memory_order_relaxed); }

// limit_bytes 0: no limit.
inline bool within_limit(uint64_t more_bytes, uint64_t limit_bytes) {
  return limit_bytes == 0 || mapped_total.load(std::memory_order_relaxed) + more_bytes <= limit_bytes;
}

}  // namespace hakozuna::mem
