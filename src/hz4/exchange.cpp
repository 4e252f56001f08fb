#include "hz4/exchange.h"

#include "hz4/messages.h"

namespace hakozuna::hz4 {
namespace {

// A shelf has room for what a thread leaves that has emptied a long inbox: other threads need it, or the same one in a moment. Age bounds it, not
// size: what is not needed goes home.
constexpr uint32_t kMaxBatches = 1024;

// Blocks that are sent home in one go: a thread does that in passing.
constexpr uint32_t kHomeAtOnce = 16384;

struct alignas(arch::kCacheLineBytes) Shelf {
  os::Lock lock{os::Rank::kExchange};
  std::atomic<uint32_t> count{0};  // of batches; changed under the lock, read without to pass by quickly, relaxed
  uint32_t surplus = 0;            // the least count since the last look
  uint32_t due = 0;                // what was surplus at the last look and has not gone home yet
  uint64_t blocks = 0;
  uint64_t batches[kMaxBatches] = {};  // pack(first, count): the blocks themselves are not touched. The latest last
};
constinit std::array<Shelf, mem::kClassCount> shelves;

// When the surplus was last looked at, ms. Relaxed: a thread that looks at the same time looks twice.
constinit std::atomic<uint64_t> looked_at{0};

Chain pop(Shelf& shelf) {
  const uint32_t count = shelf.count.load(std::memory_order_relaxed) - 1;
  shelf.count.store(count, std::memory_order_relaxed);
  if (shelf.surplus > count) shelf.surplus = count;
  const Chain batch = unpack(shelf.batches[count]);
  shelf.blocks -= batch.count;
  return batch;
}

// What is on its way home of a shelf.
constexpr uint32_t kHomeBatches = 64;
struct Departure {
  uint32_t count = 0;
  Chain batches[kHomeBatches];
};

void depart(Shelf& shelf, uint32_t most, Departure& departure) {
  while (departure.count < most && shelf.count.load(std::memory_order_relaxed) != 0) {
    departure.batches[departure.count++] = pop(shelf);
  }
}

uint32_t send_home(const Departure& departure, Heap* self) {
  uint32_t blocks = 0;
  for (uint32_t i = 0; i < departure.count; ++i) {
    send_home(departure.batches[i], self);
    blocks += departure.batches[i].count;
  }
  return blocks;
}

}  // namespace

bool leave_batch(uint32_t size_class, Chain batch) {
  Shelf& shelf = shelves[size_class];
  if (shelf.count.load(std::memory_order_relaxed) == kMaxBatches) return false;
  os::LockGuard guard(shelf.lock);
  const uint32_t count = shelf.count.load(std::memory_order_relaxed);
  if (count == kMaxBatches) return false;
  shelf.batches[count] = pack(batch.first, batch.count);
  shelf.blocks += batch.count;
  shelf.count.store(count + 1, std::memory_order_relaxed);
  return true;
}

Chain take_batch(uint32_t size_class) {
  Shelf& shelf = shelves[size_class];
  if (shelf.count.load(std::memory_order_relaxed) == 0) return {};
  os::LockGuard guard(shelf.lock);
  return shelf.count.load(std::memory_order_relaxed) != 0 ? pop(shelf) : Chain{};
}

bool send_surplus_home(Heap* self, uint64_t now_ms, uint64_t delay_ms) {
  const bool look = now_ms >= looked_at.load(std::memory_order_relaxed) + delay_ms;
  if (look) looked_at.store(now_ms, std::memory_order_relaxed);
  bool more = false;
  uint32_t blocks = 0;
  for (Shelf& shelf : shelves) {
    if (shelf.count.load(std::memory_order_relaxed) == 0) continue;
    more = true;
    for (bool first = look;; first = false) {
      Departure departure;
      {
        os::LockGuard guard(shelf.lock);
        if (first) shelf.due = shelf.surplus;
        if (blocks < kHomeAtOnce) depart(shelf, shelf.due < kHomeBatches ? shelf.due : kHomeBatches, departure);
        shelf.due -= departure.count;
        if (first) shelf.surplus = shelf.count.load(std::memory_order_relaxed);
      }
      if (departure.count == 0) break;
      blocks += send_home(departure, self);
    }
  }
  return more;
}

void empty_exchange(Heap* self) {
  for (Shelf& shelf : shelves) {
    while (shelf.count.load(std::memory_order_relaxed) != 0) {
      Departure departure;
      {
        os::LockGuard guard(shelf.lock);
        depart(shelf, kHomeBatches, departure);
      }
      send_home(departure, self);
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
