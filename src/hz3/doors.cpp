#include "hz3/doors.h"

#include "common/mem/mem.h"
#include "common/os/os.h"
#include "hz3/layout.h"

namespace hakozuna::hz3 {

constinit std::atomic<Door*>* door_table = nullptr;
constinit std::atomic<size_t> doors_cover{0};
constinit Door closed_door;
constinit Door nobodys_doors[mem::kClassCount] = {};

namespace {

constinit os::Lock table_lock{os::Rank::kDoors};     // making the table, and covering more
constinit std::atomic<bool> table_ready{false};      // release after door_table is set, acquire

size_t table_bytes() {
  return align_up((mem::primary_bytes >> mem::kChunkShift) * sizeof(Door*), os::page_bytes());
}

Span* record_of(const void* address) {
  mem::Region* const region = mem::chunk_supply.find_region(address);
  if (!region) return nullptr;
  const size_t offset = static_cast<size_t>(static_cast<const char*>(address) - region->base);
  return reinterpret_cast<Span*>(region->base) + (offset >> mem::kChunkShift);
}

}  // namespace

os::Lock& door_table_lock() { return table_lock; }

uint32_t class_of_door(const Door* door) {
  const Door* const first = door->heap ? door->heap->bins.door : nobodys_doors;
  return static_cast<uint32_t>(door - first);
}

Door* door_at(const void* address) {
  const size_t offset = static_cast<size_t>(static_cast<const char*>(address) - mem::primary_base);
  // acquire: pairs with room_for_doors() and set_doors().
  if (offset < doors_cover.load(std::memory_order_acquire)) {
    return door_table[offset >> mem::kChunkShift].load(std::memory_order_acquire);
  }
  if (offset < mem::primary_bytes) return &closed_door;
  const Span* const record = record_of(address);
  Door* const door = record ? record->door.load(std::memory_order_acquire) : nullptr;
  return door ? door : &closed_door;
}

bool initialise_doors() {
  if (table_ready.load(std::memory_order_acquire)) return true;
  if (!mem::chunk_supply.initialise(sizeof(Span))) return false;
  os::LockGuard guard(table_lock);
  if (door_table) return true;
  void* const table = os::reserve(table_bytes(), os::page_bytes());
  if (!table) return false;
  os::hint_huge_pages(table, table_bytes(), os::HugePageHint::kNever);
  door_table = static_cast<std::atomic<Door*>*>(table);
  table_ready.store(true, std::memory_order_release);
  return true;
}

bool room_for_doors(const char* run, size_t run_bytes) {
  const size_t offset = static_cast<size_t>(run - mem::primary_base);
  if (offset >= mem::primary_bytes) return true;
  const size_t needed = offset + run_bytes;
  if (needed <= doors_cover.load(std::memory_order_acquire)) return true;
  os::LockGuard guard(table_lock);
  const size_t first = doors_cover.load(std::memory_order_relaxed) >> mem::kChunkShift;
  const size_t end = align_up((needed >> mem::kChunkShift) * sizeof(Door*), os::page_bytes()) / sizeof(Door*);
  if (end <= first) return true;
  const size_t bytes = (end - first) * sizeof(Door*);
  if (!os::commit(door_table + first, bytes)) return false;
  mem::count_mapped(bytes);
  for (size_t i = first; i < end; ++i) door_table[i].store(&closed_door, std::memory_order_relaxed);
  doors_cover.store(end << mem::kChunkShift, std::memory_order_release);
  return true;
}

void set_doors(const char* run, size_t run_bytes, Door* door) {
  const size_t chunks = run_bytes >> mem::kChunkShift;
  const size_t offset = static_cast<size_t>(run - mem::primary_base);
  if (offset < mem::primary_bytes) {
    std::atomic<Door*>* const first = door_table + (offset >> mem::kChunkShift);
    for (size_t i = 0; i < chunks; ++i) first[i].store(door, std::memory_order_release);
    return;
  }
  Span* const first = record_of(run);
  for (size_t i = 0; i < chunks; ++i) first[i].door.store(door, std::memory_order_release);
}

uint64_t door_table_mapped_bytes() {
  return (doors_cover.load(std::memory_order_relaxed) >> mem::kChunkShift) * sizeof(Door*);
}

}  // namespace hakozuna::hz3
