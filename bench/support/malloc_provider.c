#include "malloc_provider.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

static const char* malloc_provider(void) {
  Dl_info info;
  void* function = dlsym(RTLD_DEFAULT, "malloc");
  if (!function || !dladdr(function, &info) || !info.dli_fname) return "unknown";
  return info.dli_fname;
}

const char* malloc_provider_json(void) {
  static char escaped[4096];
  enum { kLongestEscape = sizeof "\\u0000" };
  size_t length = 0;
  for (const char* next = malloc_provider(); *next != '\0'; ++next) {
    const unsigned char byte = (unsigned char)*next;
    if (length + kLongestEscape >= sizeof escaped) break;
    if (byte == '"' || byte == '\\') {
      escaped[length++] = '\\';
      escaped[length++] = (char)byte;
    } else if (byte < 0x20) {
      length += (size_t)snprintf(escaped + length, sizeof escaped - length, "\\u%04x", byte);
    } else {
      escaped[length++] = (char)byte;
    }
  }
  escaped[length] = '\0';
  return escaped;
}
