#include "common/os/process.h"

#include <windows.h>

#include <psapi.h>
#include <string.h>

namespace hakozuna::os {

// A process with more rights than who started it gets its environment from the system.
bool has_borrowed_privileges() { return false; }

// Ours only. Asked of the system and not of a C runtime, of which a process may have several. The copy it makes is kept: it is asked for once.
char** environment() {
  constexpr size_t kMost = 64;  // there are some 20 options
  static char* entries[kMost + 1];
  char* entry = GetEnvironmentStringsA();
  size_t count = 0;
  for (; entry && *entry && count < kMost; entry += strlen(entry) + 1) {
    if (strncmp(entry, "HAKOZUNA_", 9) == 0) entries[count++] = entry;
  }
  entries[count] = nullptr;
  return entries;
}

const char* environment_file() { return nullptr; }

PageFaults page_faults() {
  PROCESS_MEMORY_COUNTERS counters;
  if (!K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)) return {};
  return {counters.PageFaultCount, 0};  // in one number there
}

}  // namespace hakozuna::os
