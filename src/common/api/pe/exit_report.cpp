#include "common/api/exit_report.h"

#include <io.h>

#include "common/api/statistics.h"
#include "common/core/options.h"

namespace hakozuna::api {
namespace {

int kept_descriptor = -1;

}  // namespace

void prepare_exit_report() {
  constexpr int kStandardError = 2;
  if (core::stats() != core::StatsMode::kOff) kept_descriptor = _dup(kStandardError);
}

void print_exit_report() {
  if (kept_descriptor < 0) return;
  if (core::stats() == core::StatsMode::kJson) {
    print_statistics_json(kept_descriptor);
  } else {
    print_statistics_table(kept_descriptor);
  }
}

}  // namespace hakozuna::api
