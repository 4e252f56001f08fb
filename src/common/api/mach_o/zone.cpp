#include "common/api/mach_o/zone.h"

#include <mach/mach.h>
#include <malloc/malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/api/api.h"
#include "common/api/mach_o/zone_functions.h"
#include "common/api/mach_o/zone_promotion.h"
#include "common/api/statistics.h"
#include "common/core/diagnostics.h"
#include "common/os/memory.h"

namespace hakozuna::api {
namespace {

struct Front {
  static void* resize(void* block, size_t size) { return ::realloc(block, size); }
  static size_t page_bytes() { return os::page_bytes(); }
  static void statistics(hakozuna_statistics& all) { ServedLine::collect_statistics(all); }
};

using Functions = ZoneFunctions<ServedLine, Front>;

struct SystemZones {
  static void append(malloc_zone_t* zone) { malloc_zone_register(zone); }
  static void remove(malloc_zone_t* zone) { malloc_zone_unregister(zone); }
  // malloc_default_zone() answers with one that stands for whichever is first.
  static malloc_zone_t* first() {
    vm_address_t* zones = nullptr;
    unsigned count = 0;
    if (malloc_get_all_zones(mach_task_self(), nullptr, &zones, &count) != KERN_SUCCESS || count == 0) return nullptr;
    return reinterpret_cast<malloc_zone_t*>(zones[0]);
  }
  static malloc_zone_t* purgeable() { return malloc_default_purgeable_zone(); }
};

// The system's types around Functions. The first argument is our only zone.

void fill_statistics(malloc_statistics_t* statistics) {
  const Functions::Statistics all = Functions::statistics();
  // How many blocks there are, and the most there were, are not counted.
  *statistics = {.blocks_in_use = 0,
                 .size_in_use = all.bytes_in_use,
                 .max_size_in_use = all.bytes_in_use,
                 .size_allocated = all.bytes_mapped};
}

constinit malloc_introspection_t introspection = {
    // Tools that walk another process's heap find no block of ours: our records cannot be read through `reader` piece by piece.
    .enumerator = [](task_t, void*, unsigned, vm_address_t, memory_reader_t, vm_range_recorder_t) -> kern_return_t {
      return KERN_SUCCESS;
    },
    .good_size = [](malloc_zone_t*, size_t size) { return Functions::good_size(size); },
    .check = [](malloc_zone_t*) -> boolean_t { return true; },  // a checked build verifies its invariants as it goes
    .print = [](malloc_zone_t*, boolean_t) { print_statistics_table(STDERR_FILENO); },
    .log = [](malloc_zone_t*, void*) {},
    .force_lock = [](malloc_zone_t*) { Functions::lock(); },
    .force_unlock = [](malloc_zone_t*) { Functions::unlock(); },
    .statistics = [](malloc_zone_t*, malloc_statistics_t* statistics) { fill_statistics(statistics); },
    .zone_locked = [](malloc_zone_t*) -> boolean_t { return Functions::is_locked(); },
    .enable_discharge_checking = [](malloc_zone_t*) -> boolean_t { return false; },
    .disable_discharge_checking = [](malloc_zone_t*) {},
    .discharge = [](malloc_zone_t*, void*) {},
    .enumerate_discharged_pointers = [](malloc_zone_t*, void (^)(void*, void*)) {},
    .reinit_lock = [](malloc_zone_t*) { Functions::reset_lock_in_child(); },
    // The statistics are those of this process: of another one nothing is said.
    .print_task = [](task_t, unsigned, vm_address_t, memory_reader_t, print_task_printer_t) {},
    .task_statistics =
        [](task_t, vm_address_t, memory_reader_t, malloc_statistics_t* statistics) { *statistics = {}; },
};

constexpr unsigned kVersion = 12;  // what the structure above goes up to: the system reads no field of a later one

constinit malloc_zone_t zone = {
    .reserved1 = nullptr,
    .reserved2 = nullptr,
    .size = [](malloc_zone_t*, const void* block) { return Functions::size(block); },
    .malloc = [](malloc_zone_t*, size_t size) { return Functions::allocate(size); },
    .calloc = [](malloc_zone_t*, size_t count, size_t size) { return Functions::allocate_zeroed(count, size); },
    .valloc = [](malloc_zone_t*, size_t size) { return Functions::allocate_pages(size); },
    .free = [](malloc_zone_t*, void* block) { Functions::deallocate(block); },
    .realloc = [](malloc_zone_t*, void* block, size_t size) { return Functions::resize(block, size); },
    .destroy = [](malloc_zone_t*) {},  // the blocks of the whole program are not given up
    .zone_name = ServedLine::kName,
    .batch_malloc = [](malloc_zone_t*, size_t size, void** blocks,
                       unsigned count) { return Functions::allocate_batch(size, blocks, count); },
    .batch_free = [](malloc_zone_t*, void** blocks, unsigned count) { Functions::deallocate_batch(blocks, count); },
    .introspect = &introspection,
    .version = kVersion,
    .memalign = [](malloc_zone_t*, size_t alignment,
                   size_t size) { return Functions::allocate_aligned(alignment, size); },
    .free_definite_size = [](malloc_zone_t*, void* block, size_t size) { Functions::deallocate_sized(block, size); },
    .pressure_relief = [](malloc_zone_t*, size_t goal) { return Functions::relieve_pressure(goal); },
    .claimed_address = [](malloc_zone_t*, void* address) -> boolean_t { return Functions::claims(address); },
};

}  // namespace

void register_zone() {
  if (!promote_to_default<SystemZones>(&zone)) {
    core::warn("not the default malloc zone: what the program takes from zones by name comes from the system");
  }
}

}  // namespace hakozuna::api
