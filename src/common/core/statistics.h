// The statistics as text: three forms of one content. They know no line: what one has to say is in
// the struct and in a function that gives the figures of a size class.
//
// Each writes as snprintf: at most `capacity` bytes with the terminator, and the result is the
// length of the whole text. Nothing is allocated.
#pragma once

#include <cstddef>

#include "hakozuna/hakozuna.h"

namespace hakozuna::core {

// The figures of the size class `index`; false past the last one.
using ClassStatistics = bool (*)(size_t index, hakozuna_class_statistics& statistics) noexcept;

// Whether mapped = live + cached + free_in_spans + returned + untouched + metadata.
bool identity_holds(const hakozuna_statistics& statistics);

// One line: an object with the version, the line's name, whether the identity holds, every field of
// the struct under its name, and the size classes as an array.
size_t write_statistics_json(char* buffer, size_t capacity, const char* line_name,
                             const hakozuna_statistics& statistics, ClassStatistics classes);

// For people.
size_t write_statistics_table(char* buffer, size_t capacity, const char* line_name,
                              const hakozuna_statistics& statistics, ClassStatistics classes);

// What malloc_info() gives, in glibc's shape: one heap, whose sizes are those of the free slots.
size_t write_malloc_info_xml(char* buffer, size_t capacity, const char* line_name,
                             const hakozuna_statistics& statistics, ClassStatistics classes);

}  // namespace hakozuna::core
