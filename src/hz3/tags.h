// Tags: whose a pointer is, and how large, by one load.
//
// A tag is a 32-bit word for each 64 KiB chunk: the number of the heap that owns the span the chunk is part of, and the span's class. The tags of the primary
// region lie packed in a table of their own, 4 KiB for each 64 MiB in use; elsewhere a tag stands in the chunk's record.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/mem/regions.h"
#include "common/os/lock.h"

namespace hakozuna::hz3 {

struct Heap;

inline constexpr uint32_t kTagClassBits = 8;
inline constexpr uint32_t kTagClasses = 1u << kTagClassBits;

// Tags without a class: of an address in no span of ours, of orphans, and of a thread without a heap, which is in no table.
inline constexpr uint32_t kNotOurs = 0;
inline constexpr uint32_t kNobody = 1u << kTagClassBits;
inline constexpr uint32_t kNoHeap = UINT32_MAX << kTagClassBits;

constexpr uint32_t class_of_tag(uint32_t tag) { return tag & (kTagClasses - 1); }
constexpr uint32_t owner_of_tag(uint32_t tag) { return tag & ~(kTagClasses - 1); }

// By chunk of the primary region. Constant once there are blocks, like mem::primary_base. Entries are written under the lock of who owns the span, with
// release: who reads a heap's tag (acquire) finds the heap. The fast path reads relaxed: its own heap's tag was written by its own thread.
[[gnu::visibility("hidden")]] extern std::atomic<uint32_t>* tag_table;

// The tag at any address: kNotOurs where there is no span.
uint32_t tag_of(const void* address);

// Reserves the table for the primary region. False without address space. Idempotent, thread-safe.
bool initialise_tags();

// Sets the tags of a run's chunks. room_for_tags() comes before a run's first tag; it is false without memory.
bool room_for_tags(const char* run, size_t run_bytes);
void set_tags(const char* run, size_t run_bytes, uint32_t tag);

os::Lock& tag_lock();
uint64_t tag_table_mapped_bytes();

// The heaps by number. Numbers are dense and belong to the record, which is used again and never given back: so many threads as ever were at once.

// Gives a new record its tag, under the heap registry's lock. False without memory.
bool number_heap(Heap* heap);

// The heap a tag names; null for kNobody.
Heap* heap_of_tag(uint32_t tag);

// How many numbers were given, and the heap of each: for walks over all heaps, whether they serve or not.
uint32_t heap_count();
Heap* heap_by_index(uint32_t index);

template <class Visitor>
void for_each_heap(Visitor&& visit) {
  for (uint32_t i = 0; i < heap_count(); ++i) {
    visit(heap_by_index(i));
  }
}

}  // namespace hakozuna::hz3
