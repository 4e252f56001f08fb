// Doors: whose a pointer is and where it goes, by one load.
//
// For each 64 KiB chunk of the primary region a table names a door: that of the heap that owns the span the chunk is part of, for the span's class. Behind
// the door, at a distance that is the same for all, is the heap's bin of that class; on it stands whose thread may go in. Chunks of no span have the closed door,
// orphans those of nobody: no thread may go in there. Chunks of other regions have their door in their record, for the slow path.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/mem/regions.h"
#include "common/os/lock.h"

namespace hakozuna::hz3 {

struct Heap;

struct Door {
  std::atomic<uintptr_t> thread{0};  // arch::thread_pointer() of the thread that may go in, 0 if none. Relaxed: equal to our own only if we wrote it
  Heap* heap = nullptr;              // whose door; constant once the door is in a table. Null for nobody's
};

// The table, and the bytes of the primary region it covers: from the start on, as much as was ever in use. The table is constant once there are blocks; what it
// covers grows before there are blocks there. Entries are written under the lock of who owns the span, with release: who reads one (acquire) finds the heap.
[[gnu::visibility("hidden")]] extern std::atomic<Door*>* door_table;
[[gnu::visibility("hidden")]] extern std::atomic<size_t> doors_cover;

[[gnu::visibility("hidden")]] extern Door closed_door;
[[gnu::visibility("hidden")]] extern Door nobodys_doors[mem::kClassCount];

inline bool is_closed(const Door* door) { return door == &closed_door; }
inline bool is_nobodys(const Door* door) { return door->heap == nullptr; }  // of a door that is not closed

// The class of a door that is not closed.
uint32_t class_of_door(const Door* door);

// The door at any address; the closed one where there is no span.
Door* door_at(const void* address);

// Reserves the table. False without address space. Idempotent, thread-safe.
bool initialise_doors();

// Sets the doors of a run's chunks. room_for_doors() comes before a run's first door; it is false without memory.
bool room_for_doors(const char* run, size_t run_bytes);
void set_doors(const char* run, size_t run_bytes, Door* door);

os::Lock& door_table_lock();
uint64_t door_table_mapped_bytes();

}  // namespace hakozuna::hz3
