// A chunk supply of its own for each test.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "common/mem/chunk_supply.h"
#include "common/os/os.h"

namespace hakozuna::mem {

inline constexpr size_t kLineRecordBytes = 128;
inline constexpr uint64_t kNoLimit = 0;
inline constexpr uint64_t kRetainNothing = 0;
inline constexpr uint64_t kRetainAll = UINT64_MAX;

class SupplyTest : public testing::Test {
 protected:
  SupplyTest() { EXPECT_TRUE(supply_.initialise(kLineRecordBytes)); }

  // The supply never gives address space back; a test program of many supplies must.
  ~SupplyTest() override {
    char* const run = supply_.allocate_run(0, kNoLimit);
    if (Region* const region = run ? supply_.find_region(run) : nullptr) {
      os::unmap(region->base, region->bytes);
    }
  }

  char* allocate(uint32_t order) {
    char* const run = supply_.allocate_run(order, kNoLimit);
    EXPECT_NE(run, nullptr);
    return run;
  }
  // As a line does that hands out the whole run.
  char* allocate_and_write(uint32_t order, char value = 1) {
    char* const run = allocate(order);
    supply_.mark_resident(run, bytes_of(order));
    for (size_t i = 0; i < bytes_of(order); i += os::page_bytes()) run[i] = value;
    return run;
  }
  bool release(char* run, uint32_t order, uint64_t now = 0, uint64_t retain = kRetainAll) {
    return supply_.release_run(run, order, now, retain);
  }

  static size_t bytes_of(uint32_t order) { return kChunkBytes << order; }

  const std::unique_ptr<ChunkSupply> owner_ = std::make_unique<ChunkSupply>();
  ChunkSupply& supply_ = *owner_;
};

}  // namespace hakozuna::mem
