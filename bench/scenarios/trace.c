#include "trace.h"

#include <stdbool.h>

#include "support/random.h"

enum {
  kRandomCalls = 200000,
  kCycles = 390,
  kCycleBlocks = 512,
  kReallocProbes = 32,  // how many slots are tried to find a block to reallocate
  kWindow = 4,          // buffers a workload has in use at a time
};

enum { kJsonBytes = 64 << 10, kMirBytes = 256 << 10, kVmBytes = 2 << 20 };

struct Writer {
  struct Call* calls;
  size_t count;
  uint64_t random;
  bool live[kSlots];
};

static void add(struct Writer* writer, enum CallKind kind, uint32_t slot, uint64_t size) {
  writer->calls[writer->count++] = (struct Call){kind, slot, size};
  writer->live[slot] = kind != kFree;
}

static uint32_t draw(struct Writer* writer, uint32_t bound) {
  return random_next(&writer->random) % bound;
}

static void free_all(struct Writer* writer) {
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    if (writer->live[slot]) add(writer, kFree, slot, 0);
  }
}

// ---- Latency: random, alternating, cycles
// ------------------------------------------------------------------------------

#define PICK(writer, table) (table)[draw((writer), sizeof(table) / sizeof((table)[0]))]

// Mostly small, as programs are.
static uint64_t random_size(struct Writer* writer, size_t call) {
  static const uint32_t small[] = {8, 16, 24, 32, 40, 64, 96, 128, 256, 400, 504, 512};
  static const uint32_t medium[] = {513, 520, 600, 768, 1024, 2048, 4096};
  static const uint32_t large[] = {8192, 16384, 32768, 65536};
  (void)call;
  const uint32_t percent = draw(writer, 100);
  if (percent < 55) return PICK(writer, small);
  if (percent < 85) return PICK(writer, medium);
  return PICK(writer, large);
}

static uint64_t alternating_size(struct Writer* writer, size_t call) {
  return call % 2 == 1 ? 8192 + draw(writer, 57344) : 8 + draw(writer, 504);
}

typedef uint64_t (*SizeRule)(struct Writer* writer, size_t call);

static bool add_realloc(struct Writer* writer, uint64_t size) {
  for (int probe = 0; probe < kReallocProbes; ++probe) {
    const uint32_t slot = draw(writer, kSlots);
    if (!writer->live[slot]) continue;
    add(writer, kRealloc, slot, size);
    return true;
  }
  return false;
}

// Every call goes to a slot drawn at random: an empty one is filled, a full one freed; every
// `realloc_interval`th reallocates.
static size_t write_slots(struct Call* calls, uint64_t random, SizeRule size_of,
                          size_t realloc_interval) {
  struct Writer writer = {.calls = calls, .random = random};
  for (size_t call = 0; call < kRandomCalls; ++call) {
    if (call % realloc_interval == 0 && add_realloc(&writer, size_of(&writer, call))) continue;
    const uint32_t slot = draw(&writer, kSlots);
    if (writer.live[slot]) {
      add(&writer, kFree, slot, 0);
    } else {
      add(&writer, kMalloc, slot, size_of(&writer, call));
    }
  }
  free_all(&writer);
  return writer.count;
}

static size_t write_random(struct Call* calls, uint64_t random) {
  return write_slots(calls, random, random_size, 17);
}

static size_t write_alternating(struct Call* calls, uint64_t random) {
  return write_slots(calls, random, alternating_size, 23);
}

static size_t write_cycles(struct Call* calls, uint64_t random) {
  struct Writer writer = {.calls = calls, .random = random};
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    for (uint32_t slot = 0; slot < kCycleBlocks; ++slot)
      add(&writer, kMalloc, slot, 16 + draw(&writer, 2048));
    free_all(&writer);
  }
  return writer.count;
}

// ---- Workloads: buffers in use for a short time
// ---------------------------------------------------------------------------

static uint64_t json_size(struct Writer* writer, size_t call) {
  (void)writer, (void)call;
  return kJsonBytes;
}

static uint64_t mir_size(struct Writer* writer, size_t call) {
  (void)writer, (void)call;
  return kMirBytes;
}

static uint64_t vm_size(struct Writer* writer, size_t call) {
  (void)writer, (void)call;
  return kVmBytes;
}

static uint64_t mixed_size(struct Writer* writer, size_t call) {
  (void)call;
  const uint32_t percent = draw(writer, 100);
  return percent < 60 ? kJsonBytes : percent < 90 ? kMirBytes : kVmBytes;
}

// Each new buffer takes the place of the oldest of the window.
static size_t write_window(struct Call* calls, uint64_t random, SizeRule size_of, size_t buffers) {
  struct Writer writer = {.calls = calls, .random = random};
  for (size_t buffer = 0; buffer < buffers; ++buffer) {
    const uint32_t slot = (uint32_t)(buffer % kWindow);
    if (writer.live[slot]) add(&writer, kFree, slot, 0);
    add(&writer, kMalloc, slot, size_of(&writer, buffer));
  }
  free_all(&writer);
  return writer.count;
}

enum { kJsonBuffers = 20000, kMirBuffers = 5000, kMixedBuffers = 5000, kVmBuffers = 1000 };

static size_t write_json(struct Call* calls, uint64_t random) {
  return write_window(calls, random, json_size, kJsonBuffers);
}

static size_t write_mir(struct Call* calls, uint64_t random) {
  return write_window(calls, random, mir_size, kMirBuffers);
}

static size_t write_mixed(struct Call* calls, uint64_t random) {
  return write_window(calls, random, mixed_size, kMixedBuffers);
}

static size_t write_vm(struct Call* calls, uint64_t random) {
  return write_window(calls, random, vm_size, kVmBuffers);
}

const struct Scenario kScenarios[] = {
    {"random", kTouchEnds, kRandomCalls + kSlots, write_random},
    {"alternating", kTouchEnds, kRandomCalls + kSlots, write_alternating},
    {"cycles", kTouchEnds, 2 * kCycles* kCycleBlocks, write_cycles},
    {"json", kTouchPages, 2 * kJsonBuffers, write_json},
    {"mir", kTouchPages, 2 * kMirBuffers, write_mir},
    {"mixed", kTouchPages, 2 * kMixedBuffers, write_mixed},
    {"vm", kTouchPages, 2 * kVmBuffers, write_vm},
};
const size_t kScenarioCount = sizeof kScenarios / sizeof kScenarios[0];
