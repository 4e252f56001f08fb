#include "common/os/lock.h"

#include <windows.h>

#include "common/arch/arch.h"

// WaitOnAddress() is this function behind an import library of its own; ntdll is in every process from its first instruction.
extern "C" {
__declspec(dllimport) LONG NTAPI RtlWaitOnAddress(const void* address, const void* expected, size_t bytes, const LARGE_INTEGER* timeout);
__declspec(dllimport) void NTAPI RtlWakeAddressSingle(const void* address);
__declspec(dllimport) BOOLEAN NTAPI RtlDllShutdownInProgress();
}

namespace hakozuna::os {
namespace {

constexpr int kSpins = 40;  // as on Linux

// The end of a process stops its other threads wherever they are. One that held a lock does not give it back, and the last thread, which still
// runs exit handlers, must not wait for it.
bool alone_for_good() { return RtlDllShutdownInProgress(); }

}  // namespace

void Lock::lock_slow() {
  for (int i = 0; i < kSpins; ++i) {
    arch::pause();
    uint32_t expected = kFree;
    if (word_.load(std::memory_order_relaxed) == kFree &&
        word_.compare_exchange_weak(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) {
      return;
    }
  }
  // acquire: pairs with release(). Whoever gets the lock here must assume that others sleep.
  while (word_.exchange(kHeldWithWaiters, std::memory_order_acquire) != kFree) {
    if (alone_for_good()) return;
    const uint32_t expected = kHeldWithWaiters;
    RtlWaitOnAddress(&word_, &expected, sizeof expected, nullptr);
  }
}

void Lock::wake() { RtlWakeAddressSingle(&word_); }

}  // namespace hakozuna::os
