// The line's statistics, complete, and in the three forms that core/statistics.h gives them.
#pragma once

#include <stdio.h>

#include <cstddef>

#include "hakozuna/hakozuna.h"

namespace hakozuna::api {

// The line's figures and those of the whole process.
hakozuna_statistics collect_statistics();

// As snprintf.
size_t write_statistics_json(char* buffer, size_t capacity);

// Each writes everything or returns an errno value.
int print_statistics_json(int fd);
int print_statistics_table(int fd);
int print_malloc_info_xml(FILE* stream);

}  // namespace hakozuna::api
