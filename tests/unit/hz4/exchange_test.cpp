// Batches between threads.
#include "support/pattern.h"
#include "unit/hz4/line_under_test.h"

namespace hakozuna::hz4 {
namespace {

constexpr size_t kBytes = 1000;
const uint32_t kClass = mem::class_of(kBytes);

TEST_F(Hz4Test, WhatOneThreadFreesAnotherAllocates) {
  Worker producer;
  Worker consumer;
  const size_t count = 20 * batch_of(kClass);
  std::vector<char*> blocks = producer.allocate(kBytes, count);
  const uint64_t spans = statistics().spans;
  const uint64_t refills = producer.heap()->refills;
  for (int round = 0; round < 10; ++round) {
    for (size_t i = 0; i < count; ++i) test::fill_sparse(blocks[i], kBytes, i);
    consumer.run([&] {
      for (size_t i = 0; i < count; ++i) {
        EXPECT_TRUE(test::has_sparse(blocks[i], kBytes, i));
        Hz4::deallocate(blocks[i]);
      }
    });
    blocks = producer.allocate(kBytes, count);
  }
  EXPECT_LE(statistics().spans, spans + 2) << "nothing new but for what the consumer keeps";
  EXPECT_EQ(messages_arrived(producer.heap()), 0u) << "nor was anything sent home";
  EXPECT_LE(producer.heap()->refills - refills, 10 * (20 + 8)) << "a batch at a time";
  for (char* block : blocks) consumer.deallocate(block);
}

TEST_F(Hz4Test, ShelvesCountTheirBlocks) {
  empty_exchange(thread_heap);
  Worker worker;
  const std::vector<char*> blocks = worker.allocate(kBytes, 5 * batch_of(kClass));
  worker.run([&] {
    const size_t left_over = blocks_in_bins(thread_heap, kClass);
    for (char* block : blocks) Hz4::deallocate(block);
    EXPECT_EQ(blocks_on_shelf(kClass) + blocks_in_bins(thread_heap, kClass), left_over + blocks.size());
  });
  EXPECT_EQ(statistics().live, live_);
  const uint64_t before = blocks_on_shelf(kClass);
  const Chain batch = take_batch(kClass);
  ASSERT_EQ(batch.count, batch_of(kClass));
  EXPECT_EQ(blocks_on_shelf(kClass), before - batch.count);
  EXPECT_TRUE(leave_batch(kClass, batch));
  EXPECT_EQ(blocks_on_shelf(kClass), before);
  empty_exchange(thread_heap);
  EXPECT_EQ(blocks_on_shelf(kClass), 0u);
  EXPECT_EQ(take_batch(kClass).first, nullptr);
}

TEST_F(Hz4Test, OnlyWhatIsNotNeededGoesHome) {
  empty_exchange(thread_heap);
  Worker worker;
  const std::vector<char*> blocks = worker.allocate(kBytes, 10 * batch_of(kClass));
  worker.run([&] {
    for (char* block : blocks) Hz4::deallocate(block);
    Hz4::deallocate(Hz4::allocate(kBytes));
  });
  const uint64_t all = blocks_on_shelf(kClass);
  const uint64_t now = os::coarse_milliseconds();
  EXPECT_TRUE(send_surplus_home(thread_heap, now, 0)) << "the first look";
  EXPECT_EQ(blocks_on_shelf(kClass), all) << "sees what is new";
  Chain taken[3];
  for (Chain& batch : taken) batch = take_batch(kClass);
  for (const Chain& batch : taken) EXPECT_TRUE(leave_batch(kClass, batch));
  send_surplus_home(thread_heap, now, 0);
  EXPECT_EQ(blocks_on_shelf(kClass), 3 * batch_of(kClass)) << "three were in use meanwhile";
  send_surplus_home(thread_heap, now, 10);
  EXPECT_EQ(blocks_on_shelf(kClass), 3 * batch_of(kClass)) << "not yet";
  send_surplus_home(thread_heap, now, 0);
  EXPECT_EQ(blocks_on_shelf(kClass), 0u);
  EXPECT_FALSE(send_surplus_home(thread_heap, now, 0));
}

TEST_F(Hz4Test, AFullShelfSendsHome) {
  empty_exchange(thread_heap);
  constexpr size_t kLarge = 20000;
  const uint32_t c = mem::class_of(kLarge);
  Worker worker;
  const std::vector<char*> blocks = worker.allocate(kLarge, 2000);
  for (char* block : blocks) Hz4::deallocate(block);
  EXPECT_GT(blocks_on_shelf(c), 100u);
  EXPECT_GT(blocks_arrived(worker.heap()), 100u);
  EXPECT_EQ(blocks_on_shelf(c) + blocks_in_bins(thread_heap, c) + blocks_arrived(worker.heap()), blocks.size());
  EXPECT_EQ(statistics().live, live_);
}

}  // namespace
}  // namespace hakozuna::hz4
