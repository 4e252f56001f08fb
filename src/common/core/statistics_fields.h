// The fields of hakozuna_statistics by name, so that no form of them can forget one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/text.h"
#include "hakozuna/hakozuna.h"

namespace hakozuna::core {

struct StatisticsField {
  const char* name;
  uint64_t hakozuna_statistics::*value;
};

inline constexpr StatisticsField kStatisticsFields[] = {
    {"reserved", &hakozuna_statistics::reserved},
    {"mapped", &hakozuna_statistics::mapped},
    {"live", &hakozuna_statistics::live},
    {"cached", &hakozuna_statistics::cached},
    {"free_in_spans", &hakozuna_statistics::free_in_spans},
    {"returned", &hakozuna_statistics::returned},
    {"untouched", &hakozuna_statistics::untouched},
    {"metadata", &hakozuna_statistics::metadata},
    {"large_live", &hakozuna_statistics::large_live},
    {"large_cached", &hakozuna_statistics::large_cached},
    {"spans", &hakozuna_statistics::spans},
    {"orphan_spans", &hakozuna_statistics::orphan_spans},
    {"threads", &hakozuna_statistics::threads},
    {"threads_total", &hakozuna_statistics::threads_total},
    {"refills", &hakozuna_statistics::refills},
    {"remote_frees", &hakozuna_statistics::remote_frees},
    {"adopted_spans", &hakozuna_statistics::adopted_spans},
    {"purge_calls", &hakozuna_statistics::purge_calls},
    {"purged_bytes", &hakozuna_statistics::purged_bytes},
    {"foreign_frees", &hakozuna_statistics::foreign_frees},
    {"misuses", &hakozuna_statistics::misuses},
    {"minor_faults", &hakozuna_statistics::minor_faults},
    {"major_faults", &hakozuna_statistics::major_faults},
};
static_assert(offsetof(hakozuna_statistics, reserved) +
                      sizeof kStatisticsFields / sizeof kStatisticsFields[0] * sizeof(uint64_t) ==
                  sizeof(hakozuna_statistics),
              "every field is here");

// What mapped must be the sum of.
inline constexpr StatisticsField kPartsOfMapped[] = {
    {"live", &hakozuna_statistics::live},
    {"cached", &hakozuna_statistics::cached},
    {"free in spans", &hakozuna_statistics::free_in_spans},
    {"returned", &hakozuna_statistics::returned},
    {"untouched", &hakozuna_statistics::untouched},
    {"metadata", &hakozuna_statistics::metadata},
};
uint64_t sum_of_parts(const hakozuna_statistics& statistics);

// The version the library was built as: 0.1.0.
void write_version(TextWriter& out);

}  // namespace hakozuna::core
