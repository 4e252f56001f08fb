#include "common/core/options.h"

#include <errno.h>
#include <unistd.h>

#include "common/base/cancellation.h"
#include "common/core/option_messages.h"
#include "common/core/option_values.h"

namespace hakozuna::core {
namespace {

constinit OptionValues values;

// Set with release when the values are there, read with acquire: who sees it sees them.
constinit std::atomic<bool> values_read{false};
constinit std::atomic<bool> messages_claimed{false};  // relaxed: only one may print

void print_messages() {
  Environment environment = Environment::of_program();
  if (complain_about(environment, STDERR_FILENO)) print_options_help(STDERR_FILENO);
}

[[gnu::cold, gnu::noinline]] void read_environment() {
  const CancellationOff cancellation_off;
  const int saved_errno = errno;
  // Threads that come here at the same time all read, with the same result: none has to wait for
  // another, which a fork or a signal might have taken away in the middle.
  {
    Environment environment = Environment::of_program();
    values.read(environment);
  }
  values_read.store(true, std::memory_order_release);
  if (!messages_claimed.exchange(true, std::memory_order_relaxed)) print_messages();
  errno = saved_errno;
}

}  // namespace

OnError on_error() { return static_cast<OnError>(values.get(OptionId::kOnError)); }
StatsMode stats() { return static_cast<StatsMode>(values.get(OptionId::kStats)); }
uint64_t purge_delay_ms() { return values.get(OptionId::kPurgeDelayMs); }
uint64_t retain_bytes() { return values.get(OptionId::kRetain); }
bool background() { return values.get(OptionId::kBackground) != 0; }
HugePages huge_pages() { return static_cast<HugePages>(values.get(OptionId::kHugePages)); }
uint64_t limit_bytes() { return values.get(OptionId::kLimit); }
uint64_t large_cache_bytes() { return values.get(OptionId::kLargeCache); }

void initialise_options() {
  if (!values_read.load(std::memory_order_acquire)) read_environment();
}

int set_option(const char* name, const char* value) {
  initialise_options();
  return values.set(name, value);
}

int get_option(const char* name, char* buffer, size_t capacity) {
  initialise_options();
  return values.get(name, buffer, capacity);
}

void print_options_help(int fd) {
  FileText out(fd);
  write_help(out);
  out.flush();
}

void print_options_markdown(int fd) {
  FileText out(fd);
  write_markdown(out);
  out.flush();
}

}  // namespace hakozuna::core
