#include "hz3/tags.h"

#include "common/mem/mem.h"
#include "common/os/os.h"
#include "hz3/layout.h"

namespace hakozuna::hz3 {

constinit std::atomic<uint32_t>* tag_table = nullptr;

namespace {

// Made writable at a time: the tags of 1 GiB of the region. A multiple of every page size.
constexpr size_t kTableStep = size_t{64} << 10;

constinit os::Lock table_lock{os::Rank::kTags};     // making the table, and making more of it writable
constinit std::atomic<bool> table_ready{false};     // release after tag_table is set
constinit std::atomic<size_t> table_committed{0};  // writable bytes from the start on

size_t table_bytes() { return align_up((mem::primary_bytes >> mem::kChunkShift) * sizeof(uint32_t), kTableStep); }

Span* record_of(const void* address) {
  mem::Region* const region = mem::chunk_supply.find_region(address);
  if (!region) return nullptr;
  const size_t offset = static_cast<size_t>(static_cast<const char*>(address) - region->base);
  return reinterpret_cast<Span*>(region->base) + (offset >> mem::kChunkShift);
}

// Number 0 is no heap's, 1 is kNobody's.
constexpr uint32_t kFirstNumber = 2;
constexpr uint32_t kLeafHeaps = 1024;
constexpr uint32_t kLeaves = (1u << (32 - kTagClassBits)) / kLeafHeaps;

struct Leaf {
  std::atomic<Heap*> heaps[kLeafHeaps];  // release after the heap has its tag, acquire
};

// release when the leaf is complete, acquire.
constinit std::atomic<Leaf*> leaves[kLeaves] = {};
constinit std::atomic<uint32_t> given{0};  // under the registry's lock; release after the entry, acquire

std::atomic<Heap*>* entry(uint32_t index) {
  Leaf* const leaf = leaves[index / kLeafHeaps].load(std::memory_order_acquire);
  return leaf ? &leaf->heaps[index % kLeafHeaps] : nullptr;
}

}  // namespace

uint32_t tag_of(const void* address) {
  const size_t offset = static_cast<size_t>(static_cast<const char*>(address) - mem::primary_base);
  // acquire: pairs with set_tags().
  if (offset < mem::primary_bytes) {
    return tag_table ? tag_table[offset >> mem::kChunkShift].load(std::memory_order_acquire) : kNotOurs;
  }
  const Span* const record = record_of(address);
  return record ? record->tag.load(std::memory_order_acquire) : kNotOurs;
}

bool initialise_tags() {
  // acquire: pairs with the release below, after which the table is constant.
  if (table_ready.load(std::memory_order_acquire)) return true;
  if (!mem::chunk_supply.initialise(sizeof(Span))) return false;
  os::LockGuard guard(table_lock);
  if (tag_table) return true;
  const size_t bytes = table_bytes();
  void* const table = os::reserve(bytes, kTableStep);
  if (!table) return false;
  // All of it reads as zero from the start, so that any pointer into the region can be looked up.
  if (!os::make_readable(table, bytes)) {
    os::unmap(table, bytes);
    return false;
  }
  os::hint_huge_pages(table, bytes, os::HugePageHint::kNever);
  tag_table = static_cast<std::atomic<uint32_t>*>(table);
  table_ready.store(true, std::memory_order_release);
  return true;
}

bool room_for_tags(const char* run, size_t run_bytes) {
  const size_t offset = static_cast<size_t>(run - mem::primary_base);
  if (offset >= mem::primary_bytes) return true;
  const size_t needed = align_up(((offset + run_bytes) >> mem::kChunkShift) * sizeof(uint32_t), kTableStep);
  // acquire: pairs with the release below.
  if (needed <= table_committed.load(std::memory_order_acquire)) return true;
  os::LockGuard guard(table_lock);
  const size_t committed = table_committed.load(std::memory_order_relaxed);
  if (needed <= committed) return true;
  if (!os::commit(reinterpret_cast<char*>(tag_table) + committed, needed - committed)) return false;
  mem::count_mapped(needed - committed);
  table_committed.store(needed, std::memory_order_release);
  return true;
}

void set_tags(const char* run, size_t run_bytes, uint32_t tag) {
  const size_t chunks = run_bytes >> mem::kChunkShift;
  const size_t offset = static_cast<size_t>(run - mem::primary_base);
  if (offset < mem::primary_bytes) {
    std::atomic<uint32_t>* const first = tag_table + (offset >> mem::kChunkShift);
    for (size_t i = 0; i < chunks; ++i) first[i].store(tag, std::memory_order_release);
    return;
  }
  Span* const first = record_of(run);
  for (size_t i = 0; i < chunks; ++i) first[i].tag.store(tag, std::memory_order_release);
}

os::Lock& tag_lock() { return table_lock; }

uint64_t tag_table_mapped_bytes() { return table_committed.load(std::memory_order_relaxed); }

bool number_heap(Heap* heap) {
  const uint32_t index = given.load(std::memory_order_relaxed);
  if (index >= kLeaves * kLeafHeaps - kFirstNumber - 1) return false;
  std::atomic<Leaf*>& leaf = leaves[index / kLeafHeaps];
  if (!leaf.load(std::memory_order_relaxed)) {
    void* const memory = mem::metadata.allocate(sizeof(Leaf));
    if (!memory) return false;
    leaf.store(static_cast<Leaf*>(memory), std::memory_order_release);
  }
  heap->tag = (index + kFirstNumber) << kTagClassBits;
  entry(index)->store(heap, std::memory_order_release);
  given.store(index + 1, std::memory_order_release);
  return true;
}

Heap* heap_of_tag(uint32_t tag) {
  const uint32_t number = tag >> kTagClassBits;
  return number < kFirstNumber ? nullptr : heap_by_index(number - kFirstNumber);
}

uint32_t heap_count() { return given.load(std::memory_order_acquire); }

Heap* heap_by_index(uint32_t index) {
  std::atomic<Heap*>* const slot = entry(index);
  return slot ? slot->load(std::memory_order_acquire) : nullptr;
}

}  // namespace hakozuna::hz3
