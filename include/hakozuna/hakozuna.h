/* hakozuna: the public C interface of every line.
 *
 * A program needs none of it: malloc, free and the rest are replaced by loading or linking the library. These functions are
 * for a program that wants to look inside, hand memory back at a time of its choosing, or free with a size it knows.
 *
 * Every function here may be called from any thread at any time, also before main and after exit handlers have begun. None
 * throws. Sizes are in bytes, times in milliseconds. Functions whose text does not say that they allocate do not allocate.
 */
#ifndef HAKOZUNA_HAKOZUNA_H_
#define HAKOZUNA_HAKOZUNA_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define HAKOZUNA_API /* the import library has functions of these names */
#else
#define HAKOZUNA_API __attribute__((visibility("default")))
#endif

#define HAKOZUNA_VERSION_MAJOR 0
#define HAKOZUNA_VERSION_MINOR 1
#define HAKOZUNA_VERSION_PATCH 0

/* The version of the library that is loaded, as major * 10000 + minor * 100 + patch. It may be newer than this header. */
HAKOZUNA_API int hakozuna_version(void);

/* The name of the line that serves this process: "hz8", "hz10", ... A static string. */
HAKOZUNA_API const char* hakozuna_line_name(void);

/* ---- Looking at a pointer -------------------------------------------------------------------------------------------- */

/* What the line knows about an address. Only HAKOZUNA_VALID may be given to free(). */
typedef enum hakozuna_verdict {
  HAKOZUNA_MISS = 0,       /* not memory of ours: another allocator, a stack, a static object, null */
  HAKOZUNA_VALID = 1,      /* the first byte of a block that is allocated now */
  HAKOZUNA_INTERIOR = 2,   /* inside a block slot, not at its start, at a possible block alignment (16 bytes) */
  HAKOZUNA_MISALIGNED = 3, /* inside a block slot, at an address no block can have */
  HAKOZUNA_FREED = 4,      /* the start of a slot that is not allocated: already freed, or never handed out */
  HAKOZUNA_TAIL_SLACK = 5, /* in the unused remainder of a span, where no block can be */
  HAKOZUNA_METADATA = 6    /* in our memory, but in no span: metadata or unassigned address space */
} hakozuna_verdict;

/* Classifies `address`. Takes no lock, reads no memory that is not ours. The answer is exact for a block that no other thread
 * frees or reallocates meanwhile. */
HAKOZUNA_API hakozuna_verdict hakozuna_classify(const void* address);

/* The bytes that may be used at `block`: at least what was asked for, the same for the whole life of the block. 0 for null and
 * for anything hakozuna_classify() does not call valid. */
HAKOZUNA_API size_t hakozuna_usable_size(const void* block);

/* The usable size malloc(size) would give, without allocating; 0 if no block of that size can exist. */
HAKOZUNA_API size_t hakozuna_good_size(size_t size);

/* ---- Freeing with a known size ---------------------------------------------------------------------------------------- */

/* As C23 free_sized: `size` is what was asked of malloc, calloc or realloc. Null is ignored. A size that cannot belong to the
 * block is misuse (see HAKOZUNA_ON_ERROR) in the lines that check it, and otherwise only a hint. */
HAKOZUNA_API void hakozuna_free_sized(void* block, size_t size);

/* As C23 free_aligned_sized, for blocks of aligned_alloc(alignment, size). */
HAKOZUNA_API void hakozuna_free_aligned_sized(void* block, size_t alignment, size_t size);

/* ---- Giving memory back ----------------------------------------------------------------------------------------------- */

/* Returns to the operating system all memory that holds no allocated block, the caches of all threads included, but for about
 * `keep_bytes`. A thread that is running gives up its own cache at its next allocation. Returns 1 if anything was returned, else 0. */
HAKOZUNA_API int hakozuna_trim(size_t keep_bytes);

/* Gives the calling thread's cached memory to the other threads. For a pool thread about to wait for a long time. */
HAKOZUNA_API void hakozuna_thread_flush(void);

/* ---- Statistics -------------------------------------------------------------------------------------------------------- */

/* Bytes and counts since the process began. At every quiescent instant
 *     mapped = live + cached + free_in_spans + returned + untouched + metadata
 * holds exactly. `struct_size` is set by the library to how much of the struct it filled. */
typedef struct hakozuna_statistics {
  size_t struct_size;
  uint64_t reserved;       /* address space reserved, not backed by memory; not part of mapped */
  uint64_t mapped;         /* bytes mapped readable and writable */
  uint64_t live;           /* bytes of allocated blocks, by usable size */
  uint64_t cached;         /* bytes of empty spans and large blocks kept resident for reuse */
  uint64_t free_in_spans;  /* resident bytes of spans that hold no allocated block (free slots, slack) */
  uint64_t returned;       /* bytes given back to the operating system, address space kept */
  uint64_t untouched;      /* bytes mapped and never handed out */
  uint64_t metadata;       /* bytes of the allocator's own records */
  uint64_t large_live;     /* the part of live in blocks with a mapping of their own */
  uint64_t large_cached;   /* the part of cached in such blocks */
  uint64_t spans;          /* spans that belong to a size class now */
  uint64_t orphan_spans;   /* the part of those whose thread has ended */
  uint64_t threads;        /* threads with a heap now */
  uint64_t threads_total;  /* threads that ever had one */
  uint64_t refills;        /* slow paths taken by allocations */
  uint64_t remote_frees;   /* blocks freed by another thread than their owner and collected by now */
  uint64_t adopted_spans;  /* orphan spans taken over by a living thread */
  uint64_t purge_calls;    /* system calls that returned memory */
  uint64_t purged_bytes;   /* bytes those calls covered */
  uint64_t foreign_frees;  /* frees of pointers that were not ours, passed to the allocator underneath */
  uint64_t misuses;        /* bad frees reported (HAKOZUNA_ON_ERROR) */
  uint64_t minor_faults;   /* of the whole process, from getrusage */
  uint64_t major_faults;
} hakozuna_statistics;

/* Fills `*statistics`, writing at most `size` bytes (pass sizeof *statistics). Returns 0, or EINVAL if `statistics` is null or size
 * is smaller than struct_size itself. Takes locks: not for use in a signal handler. */
HAKOZUNA_API int hakozuna_get_statistics(hakozuna_statistics* statistics, size_t size);

/* Per size class figures. `index` counts from 0; returns 0, or ERANGE past the last class. */
typedef struct hakozuna_class_statistics {
  uint64_t size;        /* slot size of the class in bytes */
  uint64_t spans;       /* spans of the class */
  uint64_t live_slots;  /* allocated slots */
  uint64_t free_slots;  /* slots of its spans that are not allocated */
} hakozuna_class_statistics;
HAKOZUNA_API int hakozuna_get_class_statistics(size_t index, hakozuna_class_statistics* statistics);

/* Writes the statistics as one JSON object into `buffer`, always terminated if capacity > 0. Returns the length the whole text has
 * (as snprintf: a value >= capacity means it was cut). */
HAKOZUNA_API size_t hakozuna_statistics_json(char* buffer, size_t capacity);

/* Writes the human-readable table to file descriptor `fd`. Returns 0 or an errno value. */
HAKOZUNA_API int hakozuna_print_statistics(int fd);

/* ---- Options ------------------------------------------------------------------------------------------------------------ */

/* Options at run time, by the name in docs/options.md with or without the HAKOZUNA_ prefix ("PURGE_DELAY_MS"); values as text. Set
 * returns 0, ENOENT (no such option), EINVAL (not a value of it) or EPERM (can only be set in the environment, before the start).
 * Get writes the present value, terminated; returns 0, ENOENT or ERANGE (buffer too small). */
HAKOZUNA_API int hakozuna_option_set(const char* name, const char* value);
HAKOZUNA_API int hakozuna_option_get(const char* name, char* buffer, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
