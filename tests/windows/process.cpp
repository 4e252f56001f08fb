// The part of support/process.h that is not about children.
#include "support/process.h"

#include <windows.h>

#include <psapi.h>

namespace hakozuna::test {

size_t resident_bytes() {
  PROCESS_MEMORY_COUNTERS counters;
  return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? counters.WorkingSetSize : 0;
}

void sleep_ms(unsigned milliseconds) { Sleep(milliseconds); }

double seconds_now() {
  LARGE_INTEGER ticks;
  LARGE_INTEGER ticks_a_second;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&ticks_a_second);
  return static_cast<double>(ticks.QuadPart) / static_cast<double>(ticks_a_second.QuadPart);
}

}  // namespace hakozuna::test
