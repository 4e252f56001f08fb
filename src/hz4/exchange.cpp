#include "hz4/exchange.h"

#include "hz4/messages.h"

namespace hakozuna::hz4 {
namespace {

// A shelf has room for what a thread leaves that has emptied a long inbox: other threads need it, or the same one in a moment. The number of batches
// is bounded as well, for the sake of the thread that sends them home.
constexpr size_t kShelfBytes = size_t{16} << 20;
constexpr uint32_t kMaxBatches = 1024;

// Batches that are sent home in one go: a thread does that in passing.
constexpr uint32_t kHomeAtOnce = 4096;

constexpr auto kCapacities = [] {
  std::array<uint16_t, mem::kClassCount> table{};
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    const size_t count = kShelfBytes / (kBatches[c] * mem::slot_bytes_of(c));
    table[c] = static_cast<uint16_t>(count > kMaxBatches ? kMaxBatches : count);
  }
  return table;
}();

struct alignas(arch::kCacheLineBytes) Shelf {
  os::Lock lock{os::Rank::kExchange};
  std::atomic<uint32_t> count{0};  // of batches; changed under the lock, read without to pass by quickly, relaxed
  uint32_t surplus = 0;            // the least count since the last look
  uint32_t due = 0;                // what was surplus at the last look and has not gone home yet
  Block* first = nullptr;          // the batch that was left last
  uint64_t blocks = 0;
};
constinit std::array<Shelf, mem::kClassCount> shelves;

// When the surplus was last looked at, ms. Relaxed: a thread that looks at the same time looks twice.
constinit std::atomic<uint64_t> looked_at{0};

Chain pop(Shelf& shelf) {
  const uint32_t count = shelf.count.load(std::memory_order_relaxed) - 1;
  shelf.count.store(count, std::memory_order_relaxed);
  if (shelf.surplus > count) shelf.surplus = count;
  const Chain batch{shelf.first, count_of(shelf.first->message)};
  shelf.first = next_of(shelf.first->message);
  shelf.blocks -= batch.count;
  return batch;
}

// Takes up to `most` batches off a shelf as one list, linked by their messages.
Block* take_batches(Shelf& shelf, uint32_t most) {
  Block* taken = nullptr;
  for (uint32_t i = 0; i < most && shelf.first; ++i) {
    const Chain batch = pop(shelf);
    batch.first->message = pack(taken, batch.count);
    taken = batch.first;
  }
  return taken;
}

// Takes what is due to go home, as far as `at_once` allows. `look`: what has been surplus since the last look is due now.
Block* take_surplus(Shelf& shelf, bool look, uint32_t& at_once) {
  os::LockGuard guard(shelf.lock);
  if (look) shelf.due = shelf.surplus;
  const uint32_t most = shelf.due < at_once ? shelf.due : at_once;
  Block* const taken = take_batches(shelf, most);
  at_once -= most;
  shelf.due -= most;
  if (look) shelf.surplus = shelf.count.load(std::memory_order_relaxed);
  return taken;
}

void send_batches_home(Block* batches, Heap* self) {
  while (Block* const first = batches) {
    batches = next_of(first->message);
    send_home(first, self);
  }
}

}  // namespace

bool leave_batch(uint32_t size_class, Chain batch) {
  Shelf& shelf = shelves[size_class];
  if (shelf.count.load(std::memory_order_relaxed) >= kCapacities[size_class]) return false;
  os::LockGuard guard(shelf.lock);
  batch.first->message = pack(shelf.first, batch.count);
  shelf.first = batch.first;
  shelf.blocks += batch.count;
  shelf.count.store(shelf.count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return true;
}

Chain take_batch(uint32_t size_class) {
  Shelf& shelf = shelves[size_class];
  if (shelf.count.load(std::memory_order_relaxed) == 0) return {};
  os::LockGuard guard(shelf.lock);
  return shelf.first ? pop(shelf) : Chain{};
}

bool send_surplus_home(Heap* self, uint64_t now_ms, uint64_t delay_ms) {
  const bool look = now_ms >= looked_at.load(std::memory_order_relaxed) + delay_ms;
  if (look) looked_at.store(now_ms, std::memory_order_relaxed);
  bool more = false;
  uint32_t at_once = kHomeAtOnce;
  for (Shelf& shelf : shelves) {
    if (shelf.count.load(std::memory_order_relaxed) == 0) continue;
    more = true;
    send_batches_home(take_surplus(shelf, look, at_once), self);
  }
  return more;
}

void send_share_home(Heap* self, uint64_t parts) {
  for (Shelf& shelf : shelves) {
    const uint32_t count = shelf.count.load(std::memory_order_relaxed);
    for (uint32_t rest = static_cast<uint32_t>(divide_up(count, parts)); rest != 0;) {
      const uint32_t at_once = rest < kHomeAtOnce ? rest : kHomeAtOnce;
      rest -= at_once;
      Block* batches = nullptr;
      {
        os::LockGuard guard(shelf.lock);
        batches = take_batches(shelf, at_once);
      }
      send_batches_home(batches, self);
    }
  }
}

uint64_t blocks_on_shelf(uint32_t size_class) {
  Shelf& shelf = shelves[size_class];
  os::LockGuard guard(shelf.lock);
  return shelf.blocks;
}

os::Lock& shelf_lock(uint32_t size_class) { return shelves[size_class].lock; }

}  // namespace hakozuna::hz4
