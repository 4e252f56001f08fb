/* A C program that finds every exported name at run time and calls it, with a line preloaded.
 *
 * usage: call_every_name LIBRARY LINE    every name is LIBRARY's, works, and its blocks are ours; no C++ runtime has come in
 *        call_every_name --fail-new      operator new runs out of memory in a program that cannot throw
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hakozuna/hakozuna.h"

static int failures;
#define CHECK(condition, name)                                              \
  do {                                                                      \
    if (!(condition)) {                                                     \
      ++failures;                                                           \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, name, #condition); \
    }                                                                       \
  } while (0)

static const char* expected_line;

typedef void (*AnyFunction)(void);
static AnyFunction find(const char* name) {
  void* const address = dlsym(RTLD_DEFAULT, name);
  if (!address) {
    fprintf(stderr, "%s is not there\n", name);
    exit(1);
  }
  AnyFunction function; /* ISO C knows no conversion */
  memcpy(&function, &address, sizeof function);
  return function;
}

static hakozuna_verdict classify(const void* address) {
  return ((hakozuna_verdict(*)(const void*))find("hakozuna_classify"))(address);
}

/* ---- What is called how: one function for each signature, called with the name ------------------------------------------ */

static void use_and_free(const char* name, void* block, size_t size) {
  CHECK(block != NULL, name);
  CHECK(classify(block) == HAKOZUNA_VALID, name);
  memset(block, 0x5a, size);
  ((void (*)(void*))find("free"))(block);
}

static void call_size(const char* name) { use_and_free(name, ((void* (*)(size_t))find(name))(100), 100); }
static void call_count_size(const char* name) {
  use_and_free(name, ((void* (*)(size_t, size_t))find(name))(10, 10), 100);
}
static void call_alignment_size(const char* name) {
  void* const block = ((void* (*)(size_t, size_t))find(name))(256, 100);
  CHECK((uintptr_t)block % 256 == 0, name);
  use_and_free(name, block, 100);
}
static void call_size_alignment(const char* name) {
  void* const block = ((void* (*)(size_t, size_t))find(name))(100, 256);
  CHECK((uintptr_t)block % 256 == 0, name);
  use_and_free(name, block, 100);
}
static const char nothrow;
static void call_size_nothrow(const char* name) {
  use_and_free(name, ((void* (*)(size_t, const char*))find(name))(100, &nothrow), 100);
}
static void call_size_alignment_nothrow(const char* name) {
  void* const block = ((void* (*)(size_t, size_t, const char*))find(name))(100, 256, &nothrow);
  CHECK((uintptr_t)block % 256 == 0, name);
  use_and_free(name, block, 100);
}
static void call_result_alignment_size(const char* name) {
  void* block = NULL;
  CHECK(((int (*)(void**, size_t, size_t))find(name))(&block, 256, 100) == 0, name);
  use_and_free(name, block, 100);
}
static void call_block_size_resizing(const char* name) {
  char* const block = ((void* (*)(void*, size_t))find(name))(strdup("kept"), 5000);
  CHECK(block != NULL && strcmp(block, "kept") == 0, name);
  use_and_free(name, block, 5000);
}
static void call_block_count_size_resizing(const char* name) {
  char* const block = ((void* (*)(void*, size_t, size_t))find(name))(strdup("kept"), 50, 100);
  CHECK(block != NULL && strcmp(block, "kept") == 0, name);
  use_and_free(name, block, 5000);
}

static uint64_t foreign_frees(void) {
  hakozuna_statistics all;
  ((int (*)(hakozuna_statistics*, size_t))find("hakozuna_get_statistics"))(&all, sizeof all);
  return all.foreign_frees;
}
/* Frees a block of malloc; more arguments than the function takes do no harm. */
static void free_block(const char* name, uintptr_t second, uintptr_t third) {
  const uint64_t before = foreign_frees();
  void* const block = ((void* (*)(size_t))find("malloc"))(100);
  ((void (*)(void*, uintptr_t, uintptr_t))find(name))(block, second, third);
  ((void (*)(void*, uintptr_t, uintptr_t))find(name))(NULL, second, third);
  CHECK(foreign_frees() == before, name);
}
static void call_block(const char* name) { free_block(name, 0, 0); }
static void call_block_size(const char* name) { free_block(name, 100, 0); }
static void call_block_nothrow(const char* name) { free_block(name, (uintptr_t)&nothrow, 0); }
static void call_block_alignment(const char* name) { free_block(name, 16, 0); }
static void call_block_alignment_nothrow(const char* name) { free_block(name, 16, (uintptr_t)&nothrow); }
static void call_block_size_alignment(const char* name) { free_block(name, 100, 16); }
static void call_block_alignment_size(const char* name) { free_block(name, 16, 100); }

static void call_usable_size(const char* name) {
  void* const block = malloc(100);
  CHECK(((size_t(*)(void*))find(name))(block) >= 100, name);
  CHECK(((size_t(*)(void*))find(name))(NULL) == 0, name);
  free(block);
}
static void call_mallinfo(const char* name) {
  void* const block = malloc(100);
  const struct mallinfo info = ((struct mallinfo(*)(void))find(name))();
  CHECK(info.uordblks >= 100, name);
  free(block);
}
static void call_mallinfo2(const char* name) {
  void* const block = malloc(100);
  const struct mallinfo2 info = ((struct mallinfo2(*)(void))find(name))();
  CHECK(info.uordblks >= 100, name);
  free(block);
}
static void call_mallopt(const char* name) {
  CHECK(((int (*)(int, int))find(name))(M_ARENA_MAX, 1) == 1, name);
  CHECK(((int (*)(int, int))find(name))(12345, 1) == 0, name);
}
static void call_trim(const char* name) {
  const int returned = ((int (*)(size_t))find(name))(0);
  CHECK(returned == 0 || returned == 1, name);
}
static void call_mallctl(const char* name) {
  int (*const control)(const char*, void*, size_t*, void*, size_t) = (int (*)(const char*, void*, size_t*, void*, size_t))find(name);
  CHECK(control("arena.0.purge", NULL, NULL, NULL, 0) == 0, name);
  CHECK(control("arena.0", NULL, NULL, NULL, 0) == ENOENT, name);
}
static void call_malloc_info(const char* name) {
  char text[8] = "";
  FILE* const stream = fmemopen(text, sizeof text, "w");
  setvbuf(stream, NULL, _IONBF, 0);
  CHECK(((int (*)(int, FILE*))find(name))(1, stream) == EINVAL, name);
  ((int (*)(int, FILE*))find(name))(0, stream); /* the text does not fit, only its beginning does */
  fclose(stream);
  CHECK(strncmp(text, "<malloc", 7) == 0, name);
}
/* Standard error is a pipe meanwhile, as the table is longer than a screen. */
static void call_malloc_stats(const char* name) {
  int ends[2];
  char text[65536];
  const int standard_error = dup(STDERR_FILENO);
  if (pipe(ends) != 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) abort();
  dup2(ends[1], STDERR_FILENO);
  ((void (*)(void))find(name))();
  dup2(standard_error, STDERR_FILENO);
  CHECK(read(ends[0], text, sizeof text) > 0, name);
  close(ends[0]);
  close(ends[1]);
  close(standard_error);
}

static void call_version(const char* name) {
  CHECK(((int (*)(void))find(name))() ==
            HAKOZUNA_VERSION_MAJOR * 10000 + HAKOZUNA_VERSION_MINOR * 100 + HAKOZUNA_VERSION_PATCH,
        name);
}
static void call_line_name(const char* name) {
  CHECK(strcmp(((const char* (*)(void))find(name))(), expected_line) == 0, name);
}
static void call_classify(const char* name) {
  int on_the_stack = 0;
  CHECK(classify(&on_the_stack) == HAKOZUNA_MISS, name);
  CHECK(classify(NULL) == HAKOZUNA_MISS, name);
}
static void call_good_size(const char* name) {
  void* const block = malloc(1000);
  const size_t good = ((size_t(*)(size_t))find(name))(1000);
  CHECK(good == ((size_t(*)(const void*))find("hakozuna_usable_size"))(block), name);
  CHECK(((size_t(*)(size_t))find(name))(SIZE_MAX) == 0, name);
  free(block);
}
static void call_thread_flush(const char* name) {
  void* const block = malloc(100);
  ((void (*)(void))find(name))();
  CHECK(classify(block) == HAKOZUNA_VALID, name);
  free(block);
}
static void call_get_statistics(const char* name) {
  hakozuna_statistics all = {0};
  CHECK(((int (*)(hakozuna_statistics*, size_t))find(name))(&all, sizeof all) == 0, name);
  CHECK(all.struct_size == sizeof all && all.mapped >= all.live && all.minor_faults > 0, name);
}
static void call_get_class_statistics(const char* name) {
  hakozuna_class_statistics one;
  CHECK(((int (*)(size_t, hakozuna_class_statistics*))find(name))(SIZE_MAX, &one) == ERANGE, name);
}
static void call_statistics_json(const char* name) {
  char text[2];
  CHECK(((size_t(*)(char*, size_t))find(name))(text, sizeof text) > 1, name);
  CHECK(strcmp(text, "{") == 0, name);
}
static void call_print_statistics(const char* name) {
  CHECK(((int (*)(int))find(name))(-1) == EBADF, name);
}
static void call_option_set(const char* name) {
  CHECK(((int (*)(const char*, const char*))find(name))("NO_SUCH_OPTION", "1") == ENOENT, name);
}
static void call_option_get(const char* name) {
  char text[16];
  CHECK(((int (*)(const char*, char*, size_t))find(name))("NO_SUCH_OPTION", text, sizeof text) == ENOENT, name);
}

static const struct {
  const char* name;
  void (*call)(const char* name);
} calls[] = {
    {"malloc", call_size},
    {"free", call_block},
    {"calloc", call_count_size},
    {"realloc", call_block_size_resizing},
    {"aligned_alloc", call_alignment_size},
    {"posix_memalign", call_result_alignment_size},
    {"free_sized", call_block_size},
    {"free_aligned_sized", call_block_alignment_size},
    {"reallocarray", call_block_count_size_resizing},
    {"reallocf", call_block_size_resizing},
    {"memalign", call_alignment_size},
    {"valloc", call_size},
    {"pvalloc", call_size},
    {"cfree", call_block},
    {"malloc_usable_size", call_usable_size},
    {"mallinfo", call_mallinfo},
    {"mallinfo2", call_mallinfo2},
    {"mallopt", call_mallopt},
    {"malloc_trim", call_trim},
    {"malloc_info", call_malloc_info},
    {"mallctl", call_mallctl},
    {"malloc_stats", call_malloc_stats},
    {"__libc_malloc", call_size},
    {"__libc_free", call_block},
    {"__libc_calloc", call_count_size},
    {"__libc_realloc", call_block_size_resizing},
    {"__libc_reallocarray", call_block_count_size_resizing},
    {"__libc_memalign", call_alignment_size},
    {"__libc_valloc", call_size},
    {"__libc_pvalloc", call_size},
    {"__libc_mallinfo", call_mallinfo},
    {"__libc_mallopt", call_mallopt},
    {"__posix_memalign", call_result_alignment_size},
    {"_Znwm", call_size},
    {"_ZnwmRKSt9nothrow_t", call_size_nothrow},
    {"_ZnwmSt11align_val_t", call_size_alignment},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t", call_size_alignment_nothrow},
    {"_Znam", call_size},
    {"_ZnamRKSt9nothrow_t", call_size_nothrow},
    {"_ZnamSt11align_val_t", call_size_alignment},
    {"_ZnamSt11align_val_tRKSt9nothrow_t", call_size_alignment_nothrow},
    {"_ZdlPv", call_block},
    {"_ZdlPvRKSt9nothrow_t", call_block_nothrow},
    {"_ZdlPvm", call_block_size},
    {"_ZdlPvSt11align_val_t", call_block_alignment},
    {"_ZdlPvSt11align_val_tRKSt9nothrow_t", call_block_alignment_nothrow},
    {"_ZdlPvmSt11align_val_t", call_block_size_alignment},
    {"_ZdaPv", call_block},
    {"_ZdaPvRKSt9nothrow_t", call_block_nothrow},
    {"_ZdaPvm", call_block_size},
    {"_ZdaPvSt11align_val_t", call_block_alignment},
    {"_ZdaPvSt11align_val_tRKSt9nothrow_t", call_block_alignment_nothrow},
    {"_ZdaPvmSt11align_val_t", call_block_size_alignment},
    {"hakozuna_version", call_version},
    {"hakozuna_line_name", call_line_name},
    {"hakozuna_classify", call_classify},
    {"hakozuna_usable_size", call_usable_size},
    {"hakozuna_good_size", call_good_size},
    {"hakozuna_free_sized", call_block_size},
    {"hakozuna_free_aligned_sized", call_block_alignment_size},
    {"hakozuna_trim", call_trim},
    {"hakozuna_thread_flush", call_thread_flush},
    {"hakozuna_get_statistics", call_get_statistics},
    {"hakozuna_get_class_statistics", call_get_class_statistics},
    {"hakozuna_statistics_json", call_statistics_json},
    {"hakozuna_print_statistics", call_print_statistics},
    {"hakozuna_option_set", call_option_set},
    {"hakozuna_option_get", call_option_get},
};

static const char* const every_name[] = {
#define X(name) #name,
#include "every_name.inc"
#undef X
};

static void call_by_name(const char* name, const char* library) {
  Dl_info found;
  CHECK(dladdr(dlsym(RTLD_DEFAULT, name), &found) != 0 && strcmp(found.dli_fname, library) == 0, name);
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) {
    if (strcmp(calls[i].name, name) == 0) {
      calls[i].call(name);
      return;
    }
  }
  fprintf(stderr, "%s: this test does not know how to call it\n", name);
  ++failures;
}

static int note_cxx_runtime(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  (void)data;
  CHECK(!strstr(info->dlpi_name, "libstdc++") && !strstr(info->dlpi_name, "libc++"), info->dlpi_name);
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--fail-new") == 0) {
    ((void* (*)(size_t))find("_Znwm"))(PTRDIFF_MAX);
    return 0; /* the operator must not have returned */
  }
  if (argc != 3) return 2;
  expected_line = argv[2];
  const size_t count = sizeof every_name / sizeof every_name[0];
  for (size_t i = 0; i < count; ++i) call_by_name(every_name[i], argv[1]);

  /* Without memory and without a runtime to ask. */
  CHECK(((void* (*)(size_t, const char*))find("_ZnwmRKSt9nothrow_t"))(PTRDIFF_MAX, &nothrow) == NULL, "nothrow");
  dl_iterate_phdr(note_cxx_runtime, NULL);
  printf("%zu names, %d failures\n", count, failures);
  return failures != 0;
}
