// Blocks allocated in one thread and freed in another: contents arrive, and memory does not pile up
// on either side.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "stress/handover.h"
#include "support/line_under_test.h"
#include "support/opaque.h"
#include "support/pattern.h"
#include "support/process.h"
#include "support/random.h"
#include "support/settings.h"

namespace hakozuna::test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

Parcel make_parcel(Random& random, size_t max_size) {
  const size_t size = random.size_between(1, max_size);
  const Parcel parcel{opaque(std::malloc(size)), size, random.next()};
  if (parcel.block != nullptr) fill_sparse(parcel.block, size, parcel.seed);
  return parcel;
}

bool open_parcel(const Parcel& parcel) {
  const bool intact = parcel.block != nullptr && has_sparse(parcel.block, parcel.size, parcel.seed);
  std::free(parcel.block);
  return intact;
}

// Producers and consumers of one queue; every block must arrive as it was sent.
void expect_all_arrive(size_t producers, size_t consumers, size_t max_size) {
  Handover queue(1000);
  std::atomic<size_t> damaged = 0;
  std::vector<std::thread> making;
  std::vector<std::thread> taking;
  const double end = seconds_now() + settings().seconds;
  for (size_t i = 0; i < producers; ++i) {
    making.emplace_back([&, i] {
      Random random(i);
      while (seconds_now() < end) queue.put(make_parcel(random, max_size));
    });
  }
  for (size_t i = 0; i < consumers; ++i) {
    taking.emplace_back([&] {
      Parcel parcel;
      while (queue.take(parcel)) damaged += open_parcel(parcel) ? 0 : 1;
    });
  }
  for (std::thread& thread : making) thread.join();
  queue.close();
  for (std::thread& thread : taking) thread.join();
  EXPECT_EQ(damaged, 0u);
  EXPECT_EQ(problem_with_statistics(), "");
}

TEST(ProducerConsumer, OneToOneSmall) { expect_all_arrive(1, 1, 1000); }
TEST(ProducerConsumer, OneToOneLarge) { expect_all_arrive(1, 1, 2 * kMiB); }
TEST(ProducerConsumer, ManyToMany) { expect_all_arrive(4, 4, 100'000); }
TEST(ProducerConsumer, ManyToOne) { expect_all_arrive(8, 1, 4000); }
TEST(ProducerConsumer, OneToMany) { expect_all_arrive(1, 8, 4000); }

// A thread that never allocates frees a million blocks of another.
TEST(ProducerConsumer, AThreadThatOnlyFreesAMillionBlocks) {
  Handover queue(1000);
  const size_t before = resident_bytes();
  std::atomic<size_t> damaged = 0;
  std::thread freeing([&] {
    Parcel parcel;
    while (queue.take(parcel)) damaged += open_parcel(parcel) ? 0 : 1;
  });
  Random random(7);
  size_t highest = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    queue.put(make_parcel(random, 2000));
    if (i % 50'000 == 0) highest = std::max(highest, resident_bytes());
  }
  queue.close();
  freeing.join();
  highest = std::max(highest, resident_bytes());
  EXPECT_EQ(damaged, 0u);
  EXPECT_LE(highest, before + 16 * kMiB) << "at most 1,000 blocks of 2 kB are live at any time";
  EXPECT_EQ(problem_with_statistics(), "");
}

// The consumer lags behind; the queue grows to its bound and shrinks again, over and over.
TEST(ProducerConsumer, AConsumerSlowerThanTheProducer) {
  constexpr size_t kQueue = 20'000;
  Handover queue(kQueue);
  std::atomic<size_t> damaged = 0;
  std::thread slow([&] {
    Parcel parcel;
    size_t taken = 0;
    while (queue.take(parcel)) {
      damaged += open_parcel(parcel) ? 0 : 1;
      if (++taken % 5000 == 0) sleep_ms(20);
    }
  });
  Random random(8);
  size_t first_highest = 0;
  size_t highest = 0;
  constexpr int kBlocks = 400'000;
  for (int i = 0; i < kBlocks; ++i) {
    queue.put(make_parcel(random, 2000));
    if (i % 10'000 == 0) {
      (i < kBlocks / 4 ? first_highest : highest) =
          std::max(i < kBlocks / 4 ? first_highest : highest, resident_bytes());
    }
  }
  queue.close();
  slow.join();
  EXPECT_EQ(damaged, 0u);
  EXPECT_LE(highest, first_highest + 8 * kMiB) << "memory grows although the queue does not";
  EXPECT_EQ(problem_with_statistics(), "");
}

}  // namespace
}  // namespace hakozuna::test
