#include "common/os/thread.h"

#include <windows.h>

#include <atomic>

#include "common/os/windows/last_error.h"

namespace hakozuna::os {
namespace {

// A fiber-local value is the one thing whose end the system announces to any kind of module without the module's own entry point. It is called
// before modules are told that the thread detaches, so allocations after it are common. A program's fibers have values of their own: the notice
// comes when the fiber ends that the thread was running when it first allocated, and goes to the thread that ends it.
constexpr uint64_t kNone = UINT64_MAX;
std::atomic<uint64_t> exit_index{kNone};

// Allocates the index once; of two threads that race here the loser frees its own.
uint64_t index_or_none(void (*handler)(void*)) {
  uint64_t known = exit_index.load(std::memory_order_acquire);  // pairs with the release below
  if (known != kNone) return known;
  const DWORD mine = FlsAlloc(handler);
  if (mine == FLS_OUT_OF_INDEXES) return kNone;
  if (exit_index.compare_exchange_strong(known, mine, std::memory_order_acq_rel)) return mine;
  FlsFree(mine);
  return known;
}

}  // namespace

bool call_at_thread_exit(void (*handler)(void*), void* argument) {
  PreserveLastError preserve;
  const uint64_t index = index_or_none(handler);
  return index != kNone && FlsSetValue(static_cast<DWORD>(index), argument);
}

uint32_t thread_id() { return GetCurrentThreadId(); }

bool thread_exists(uint32_t thread_id) {
  PreserveLastError preserve;
  const HANDLE thread = OpenThread(SYNCHRONIZE, FALSE, thread_id);
  if (!thread) return GetLastError() != ERROR_INVALID_PARAMETER;
  const bool ended = WaitForSingleObject(thread, 0) == WAIT_OBJECT_0;
  CloseHandle(thread);
  return !ended;
}

bool start_own_thread(void (*body)()) {
  constexpr size_t kStackBytes = size_t{256} << 10;  // purging takes a few KiB; a page is touched at a time
  PreserveLastError preserve;
  const HANDLE thread = CreateThread(
      nullptr, kStackBytes,
      [](void* argument) -> DWORD {
        reinterpret_cast<void (*)()>(argument)();
        return 0;
      },
      reinterpret_cast<void*>(body), STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr);
  if (!thread) return false;
  CloseHandle(thread);
  return true;
}

void sleep_milliseconds(uint64_t milliseconds) { Sleep(static_cast<DWORD>(milliseconds)); }

void yield() {
  PreserveLastError preserve;
  SwitchToThread();
}

}  // namespace hakozuna::os
