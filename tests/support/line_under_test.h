// The line under test, seen as any program sees it: through the symbols of the library that is
// preloaded.
//
// Without one the tests run against whatever malloc the process has, which is how they are
// developed: what needs the interface of ours is then skipped, and the rest must hold for any good
// allocator.
#pragma once

#include <string>

#include "hakozuna/hakozuna.h"

namespace hakozuna::test {

// Every function of the public header, looked up by name; null where the process has none.
struct Api {
  decltype(&hakozuna_version) version;
  decltype(&hakozuna_line_name) line_name;
  decltype(&hakozuna_classify) classify;
  decltype(&hakozuna_usable_size) usable_size;
  decltype(&hakozuna_good_size) good_size;
  decltype(&hakozuna_free_sized) free_sized;
  decltype(&hakozuna_free_aligned_sized) free_aligned_sized;
  decltype(&hakozuna_trim) trim;
  decltype(&hakozuna_thread_flush) thread_flush;
  decltype(&hakozuna_get_statistics) get_statistics;
  decltype(&hakozuna_get_class_statistics) get_class_statistics;
  decltype(&hakozuna_statistics_json) statistics_json;
  decltype(&hakozuna_print_statistics) print_statistics;
  decltype(&hakozuna_option_set) option_set;
  decltype(&hakozuna_option_get) option_get;
};

// Looks the functions up at the first call.
const Api& api();

// Is a hakozuna line loaded?
bool line_loaded();

// Its name, "" if there is none.
std::string line_name();

// The misuse a line detects exactly, at every occurrence. Its own documentation promises it; these
// tests hold it to that.
struct Detection {
  bool double_free = false;         // by the thread that owns the block
  bool remote_double_free = false;  // any mix of threads
  bool orphan_double_free = false;  // after the owner has ended
  bool interior_pointer = false;
  bool misaligned_pointer = false;
  bool tail_slack = false;
  bool metadata_pointer = false;
  bool wrong_size = false;      // sized free with a size of another class
  bool exact_classify = false;  // classify() tells a freed slot from an allocated one
};
const Detection& detection();

// Empty if the blocks of malloc, operator new, the C and the C++ library come from the line called
// `expected`; else what is wrong.
std::string problem_with_line(const std::string& expected);

// Does the identity of the statistics hold now? Only where no other thread allocates. Empty if it
// does, or if no line is loaded.
std::string problem_with_statistics();

}  // namespace hakozuna::test

// Skips a test of our own interface in a process without it.
#define REQUIRE_LINE() \
  if (!::hakozuna::test::line_loaded()) GTEST_SKIP() << "no hakozuna line is loaded"
