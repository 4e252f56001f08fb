// The checks of os/lock.h, which no system has a part in.
#include "common/os/lock.h"

#include "common/base/check.h"
#include "common/os/thread_local.h"

namespace hakozuna::os {

#if defined(HAKOZUNA_CHECKED) && HAKOZUNA_CHECKED
namespace {
// Bit r: this thread holds a lock of rank r.
constinit HAKOZUNA_THREAD_LOCAL ThreadLocal<uint32_t, 0, struct HeldRanksName> held_ranks{0};
}  // namespace

void Lock::check_rank_before_lock() {
  const uint32_t bit = uint32_t{1} << static_cast<uint32_t>(rank_);
  HAKOZUNA_CHECK(held_ranks < bit, "locks are taken in ascending rank");
  held_ranks = held_ranks | bit;
}

void Lock::note_unlock() {
  const uint32_t bit = uint32_t{1} << static_cast<uint32_t>(rank_);
  HAKOZUNA_CHECK(held_ranks & bit, "a lock is released by its holder");
  held_ranks = held_ranks & ~bit;
}
#endif

}  // namespace hakozuna::os
