#include "common/core/large.h"

#include <errno.h>

#include "common/core/diagnostics.h"
#include "common/core/options.h"
#include "common/mem/mem.h"
#include "common/os/os.h"

namespace hakozuna::core {
namespace {

mem::LargeBlocks::Policy policy(size_t bytes) {
  // Smaller blocks would round their memory up to huge pages.
  constexpr size_t kHugeFrom = size_t{8} << 20;
  const HugePages huge = huge_pages();
  return {limit_bytes(), huge == HugePages::kAlways || (huge == HugePages::kAuto && bytes >= kHugeFrom)};
}

}  // namespace

void* out_of_memory() {
  errno = ENOMEM;
  return nullptr;
}

void* allocate_large(size_t size, size_t alignment, bool zeroed) {
  mem::chunk_supply.unsettle();
  void* const block = mem::large_blocks.allocate(size, alignment, zeroed, policy(size));
  return block ? block : out_of_memory();
}

void deallocate_large(const char* line_name, mem::LargeBlock* large, void* address, const char* operation) {
  if (address != large->start) {
    const Classification found = classify_large(large, address);
    report_misuse(line_name, misuse_of(found.verdict), operation, address, found);
    return;
  }
  bool purge_scheduled = false;
  const uint64_t cache_bytes = mem::chunk_supply.settled() ? 0 : large_cache_bytes();
  if (!mem::large_blocks.release(large, os::coarse_milliseconds(), cache_bytes, purge_scheduled)) {
    report_misuse(line_name, Misuse::kDoubleFree, operation, address, classify_large(large, address));
    return;
  }
  if (purge_scheduled) mem::request_purge();
}

void* resize_large(mem::LargeBlock* large, size_t size) {
  return mem::large_blocks.resize(large, size, policy(size));
}

Classification classify_large(const mem::LargeBlock* large, const void* address) {
  Classification result;
  result.span = large->start;
  result.usable_bytes = large->usable;
  // acquire: pairs with the store that made it live.
  const bool live = large->state.load(std::memory_order_acquire) == mem::LargeBlock::State::kLive;
  const bool aligned = is_aligned(reinterpret_cast<uintptr_t>(address), mem::kMinAlignment);
  result.verdict = !live                      ? Verdict::kFreed
                   : address == large->start  ? Verdict::kValid
                   : aligned                  ? Verdict::kInterior
                                              : Verdict::kMisaligned;
  return result;
}

}  // namespace hakozuna::core
