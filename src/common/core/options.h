// The options as the rest of the project reads them. option_table.h says what each is.
//
// They are parsed once, by the library's constructor or the first slow path, whichever comes first;
// before that every accessor gives the default. An accessor is one relaxed load.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hakozuna::core {

enum class OnError : uint8_t { kAbort, kReport, kIgnore };
enum class HugePages : uint8_t { kNever, kAuto, kAlways };
enum class StatsMode : uint8_t { kOff, kText, kJson };  // printed at exit

OnError on_error();
StatsMode stats();
uint64_t purge_delay_ms();  // how long free memory stays resident
uint64_t retain_bytes();    // free memory that stays resident for ever
bool background();          // a thread purges where none of the program allocates
HugePages huge_pages();
uint64_t limit_bytes();        // of mapped memory, 0 = none; above it allocation fails with ENOMEM
uint64_t large_cache_bytes();  // freed large blocks kept for reuse

// Parses the environment, says what is wrong with it, and prints the help if HAKOZUNA_HELP asks for
// it. Idempotent, thread-safe, and waits for nobody: when it returns in any thread, the values are
// there. Preserves errno.
void initialise_options();

// Run-time interface: the results are the errno values of hakozuna_option_set/get.
int set_option(const char* name, const char* value);
int get_option(const char* name, char* buffer, size_t capacity);

// Writes the help (HAKOZUNA_HELP=1) or the Markdown of docs/options.md.
void print_options_help(int fd);
void print_options_markdown(int fd);

}  // namespace hakozuna::core
