#include "common/api/background.h"

#include "common/api/api.h"
#include "common/core/diagnostics.h"
#include "common/core/options.h"
#include "common/os/thread.h"

namespace hakozuna::api {
namespace {

// Between two rounds: short against the delay, long against the cost of a round.
uint64_t period_ms() {
  constexpr uint64_t kShortest = 10;
  const uint64_t quarter = core::purge_delay_ms() / 4;
  return quarter < kShortest ? kShortest : quarter;
}

void purge_for_ever() {
  for (;;) {
    os::sleep_milliseconds(period_ms());
    ServedLine::purge();
  }
}

}  // namespace

void start_background_thread() {
  if (!core::background()) return;
  if (!os::start_own_thread(purge_for_ever)) core::warn("HAKOZUNA_BACKGROUND: the system gives no thread");
}

}  // namespace hakozuna::api
