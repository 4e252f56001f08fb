// The options: one table gives the parser, HAKOZUNA_HELP=1, docs/options.md and the run-time interface.
//
// Values are read in the slow paths as plain relaxed atomics: `options().purge_delay_ms()`. They are parsed once, at the first use of
// options(), straight from the environment block, without allocating; before that every accessor would see the default.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hakozuna::core {

enum class OnError : uint8_t { kAbort, kReport, kIgnore };
enum class HugePages : uint8_t { kNever, kAuto, kAlways };
enum class StatsMode : uint8_t { kOff, kText, kJson };  // printed at exit

// Accessors; each names the option HAKOZUNA_<UPPER CASE NAME>.
OnError on_error();             // ON_ERROR         abort
StatsMode stats();              // STATS            off
uint64_t purge_delay_ms();      // PURGE_DELAY_MS   500      0..60000: how long free memory stays resident
uint64_t retain_bytes();        // RETAIN           1MiB     0..1TiB: free memory that is kept resident for ever
bool background();              // BACKGROUND       0        a thread that purges where no thread of the program allocates
HugePages huge_pages();         // HUGE_PAGES       never
uint64_t limit_bytes();         // LIMIT            0        soft limit of mapped bytes, 0 = none; above it allocation fails with ENOMEM
uint64_t large_cache_bytes();   // LARGE_CACHE      64MiB    0..1TiB: budget of freed large blocks kept for reuse

// Parses the environment now (idempotent, thread-safe). Called by the library's constructor and by the first slow path.
void initialise_options();

// Run-time interface: the results are the errno values of hakozuna_option_set/get.
int set_option(const char* name, const char* value);
int get_option(const char* name, char* buffer, size_t capacity);

// Writes the help text (HAKOZUNA_HELP=1) or the Markdown of docs/options.md.
void print_options_help(int fd);
void print_options_markdown(int fd);

}  // namespace hakozuna::core
