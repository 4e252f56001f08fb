// A slot of TlsAlloc(). The first 64 lie in the thread's environment block, which gs points to; the key is the distance there. Those above are
// behind a pointer that a thread may not have yet. The system sets the slots of a new thread to 0.
#include "common/os/thread_slot.h"

#include <stdlib.h>
#include <unistd.h>
#include <windows.h>

#include "common/base/text.h"
#include "common/os/windows/last_error.h"
#include "common/os/windows/thread_slots.h"

namespace hakozuna::os {
namespace {

constexpr DWORD kSlotsInBlock = 64;
constexpr ThreadSlotKey kFirstSlot = 0x1480;  // bytes
constexpr int kVariables = 3;                 // at most: the heap, the exit handler's mark, in a checked build the ranks held

// Of two threads that race here the loser gives its own back.
ThreadSlotKey key_of(std::atomic<ThreadSlotKey>& known) {
  ThreadSlotKey key = known.load(std::memory_order_relaxed);
  if (key != 0) return key;
  const DWORD slot = TlsAlloc();
  if (slot >= kSlotsInBlock) {
    write_all(STDERR_FILENO, "hakozuna: the process has no thread-local slot left\n");
    abort();
  }
  const ThreadSlotKey mine = kFirstSlot + slot * sizeof(uintptr_t);
  // relaxed: the key is all there is to know, and the word is 0 in every thread.
  if (known.compare_exchange_strong(key, mine, std::memory_order_relaxed)) return mine;
  TlsFree(slot);
  return key;
}

}  // namespace

bool has_thread_slots() {
  DWORD slots[kVariables];
  bool enough = true;
  for (DWORD& slot : slots) {
    slot = TlsAlloc();
    if (slot >= kSlotsInBlock) enough = false;
  }
  for (const DWORD slot : slots) {
    if (slot != TLS_OUT_OF_INDEXES) TlsFree(slot);
  }
  return enough;
}

void write_thread_slot(std::atomic<ThreadSlotKey>& key, void (*)(void*), uintptr_t word) {
  PreserveLastError preserve;
  TlsSetValue(static_cast<DWORD>((key_of(key) - kFirstSlot) / sizeof(uintptr_t)), reinterpret_cast<void*>(word));
}

}  // namespace hakozuna::os
