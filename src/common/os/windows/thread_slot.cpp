#include "common/os/windows/thread_slot.h"

#include <windows.h>

namespace hakozuna::os {
namespace {

constexpr DWORD kSlotsInBlock = 64;  // those above are behind a pointer that a thread may not have yet

bool all_slots = true;

}  // namespace

size_t allocate_thread_slot() {
  const DWORD slot = TlsAlloc();
  if (slot < kSlotsInBlock) return slot;
  all_slots = false;
  return 0;
}

bool have_all_thread_slots() { return all_slots; }

}  // namespace hakozuna::os
