#include "hz4/exchange.h"

#include "hz4/messages.h"

namespace hakozuna::hz4 {
namespace {

// Bytes of a shelf, and batches: what a thread leaves that has just emptied a long inbox, until others, or it, need it.
constexpr size_t kShelfBytes = size_t{1} << 20;
constexpr uint32_t kMinBatches = 4;
constexpr uint32_t kMaxBatches = 32;

constexpr auto kCapacities = [] {
  std::array<uint8_t, mem::kClassCount> table{};
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    const size_t count = kShelfBytes / (kBatches[c] * mem::slot_bytes_of(c));
    table[c] = static_cast<uint8_t>(count < kMinBatches ? kMinBatches : count > kMaxBatches ? kMaxBatches : count);
  }
  return table;
}();

struct alignas(arch::kCacheLineBytes) Shelf {
  os::Lock lock{os::Rank::kExchange};
  std::atomic<uint32_t> count{0};  // under the lock; read without to pass by quickly, relaxed
  uint32_t surplus = 0;            // the least count since the last look
  Chain batches[kMaxBatches] = {};
};
constinit std::array<Shelf, mem::kClassCount> shelves;

// Takes the oldest `most` batches of a shelf, and starts to look for the least count anew.
uint32_t take_oldest(Shelf& shelf, bool all, Chain* taken) {
  os::LockGuard guard(shelf.lock);
  const uint32_t before = shelf.count.load(std::memory_order_relaxed);
  const uint32_t count = all ? before : shelf.surplus;
  for (uint32_t i = 0; i < count; ++i) taken[i] = shelf.batches[i];
  for (uint32_t i = count; i < before; ++i) shelf.batches[i - count] = shelf.batches[i];
  shelf.count.store(before - count, std::memory_order_relaxed);
  shelf.surplus = before - count;
  return count;
}

bool send_shelves_home(Heap* self, bool all) {
  bool some_stay = false;
  for (Shelf& shelf : shelves) {
    if (shelf.count.load(std::memory_order_relaxed) == 0) continue;
    Chain taken[kMaxBatches];
    const uint32_t count = take_oldest(shelf, all, taken);
    for (uint32_t i = 0; i < count; ++i) send_home(taken[i].first, self);
    some_stay = true;
  }
  return some_stay;
}

}  // namespace

bool leave_batch(uint32_t size_class, Chain batch) {
  Shelf& shelf = shelves[size_class];
  if (shelf.count.load(std::memory_order_relaxed) >= kCapacities[size_class]) return false;
  os::LockGuard guard(shelf.lock);
  const uint32_t count = shelf.count.load(std::memory_order_relaxed);
  if (count >= kCapacities[size_class]) return false;
  shelf.batches[count] = batch;
  shelf.count.store(count + 1, std::memory_order_relaxed);
  return true;
}

Chain take_batch(uint32_t size_class) {
  Shelf& shelf = shelves[size_class];
  if (shelf.count.load(std::memory_order_relaxed) == 0) return {};
  os::LockGuard guard(shelf.lock);
  const uint32_t count = shelf.count.load(std::memory_order_relaxed);
  if (count == 0) return {};
  shelf.count.store(count - 1, std::memory_order_relaxed);
  if (shelf.surplus >= count) shelf.surplus = count - 1;
  return shelf.batches[count - 1];
}

bool send_surplus_home(Heap* self) { return send_shelves_home(self, /*all=*/false); }

void empty_exchange(Heap* self) { send_shelves_home(self, /*all=*/true); }

uint64_t blocks_on_shelf(uint32_t size_class) {
  Shelf& shelf = shelves[size_class];
  os::LockGuard guard(shelf.lock);
  uint64_t blocks = 0;
  for (uint32_t i = 0; i < shelf.count.load(std::memory_order_relaxed); ++i) blocks += shelf.batches[i].count;
  return blocks;
}

os::Lock& shelf_lock(uint32_t size_class) { return shelves[size_class].lock; }

}  // namespace hakozuna::hz4
