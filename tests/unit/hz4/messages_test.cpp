// How free blocks come home.
#include "support/pattern.h"
#include "unit/hz4/line_under_test.h"

namespace hakozuna::hz4 {
namespace {

class MessageTest : public Hz4Test, public testing::WithParamInterface<size_t> {
 protected:
  uint32_t size_class() const { return mem::class_of(GetParam()); }
  static Block* chain_of(const std::vector<char*>& blocks) {
    Block* chain = nullptr;
    for (char* address : blocks) {
      Block* const block = reinterpret_cast<Block*>(address);
      block->next = chain;
      chain = block;
    }
    return chain;
  }
};

TEST_P(MessageTest, BlocksOfOneOwnerAreOneMessageABatch) {
  Worker owner;
  const std::vector<char*> blocks = owner.allocate(GetParam(), 3 * batch_of(size_class()));
  send_home(chain_of(blocks), thread_heap);
  Heap* const heap = owner.heap();
  EXPECT_EQ(messages_arrived(heap), 3u);
  EXPECT_EQ(blocks_arrived(heap), blocks.size());
  EXPECT_EQ(heap->fast_limit, 0u) << "the owner looks at its next allocation";
  EXPECT_EQ(blocks_in_flight(size_class()), static_cast<int64_t>(blocks.size()));
  EXPECT_EQ(statistics().live, live_);
  expect_identity();
  owner.run([&] { receive(heap); });
  EXPECT_EQ(messages_arrived(heap), 0u);
  EXPECT_EQ(blocks_in_flight(size_class()), 0);
  EXPECT_EQ(statistics().live, live_);
}

TEST_P(MessageTest, TheReceiverHandsOutWholeMessages) {
  Worker owner;
  std::vector<char*> blocks = owner.allocate(GetParam(), 1);
  owner.run([] { Hz4::thread_flush(); });
  Hz4::trim(0);
  send_home_at_once(blocks[0]);
  EXPECT_EQ(messages_arrived(owner.heap()), 1u);
  EXPECT_EQ(owner.allocate(GetParam()), blocks[0]);
  EXPECT_EQ(messages_arrived(owner.heap()), 0u);
  owner.deallocate(blocks[0]);
}

TEST_P(MessageTest, BlocksAreSortedByTheirOwners) {
  Worker owners[3];
  std::vector<char*> blocks;
  for (int round = 0; round < 20; ++round) {
    for (Worker& owner : owners) blocks.push_back(static_cast<char*>(owner.allocate(GetParam())));
    blocks.push_back(static_cast<char*>(Hz4::allocate(GetParam())));
  }
  send_home(chain_of(blocks), thread_heap);
  for (Worker& owner : owners) EXPECT_EQ(blocks_arrived(owner.heap()), 20u);
  EXPECT_EQ(blocks_arrived(thread_heap), 0u) << "own ones need no message";
  EXPECT_EQ(statistics().live, live_);
}

TEST_P(MessageTest, ASleepersBlocksAreReturnedForIt) {
  Worker owner;
  const std::vector<char*> blocks = owner.allocate(GetParam(), 2 * batch_of(size_class()));
  const uint64_t spans = statistics().spans;
  send_home(chain_of(blocks), thread_heap);
  owner.run([] { empty_bins(thread_heap); });
  EXPECT_NE(owner.heap()->inbox.load(), nullptr);
  serve(owner.heap(), thread_heap);
  EXPECT_LT(statistics().spans, spans);
  EXPECT_EQ(find_span(blocks[0]), nullptr);
  expect_identity();
}

TEST_P(MessageTest, ThreadsWithoutAHeapSendHomeToo) {
  Worker owner;
  void* const block = owner.allocate(GetParam());
  on_new_thread([&] {
    core::exit_handler_has_run = true;
    Hz4::deallocate(block);
    EXPECT_EQ(thread_heap, &no_heap);
  });
  EXPECT_EQ(blocks_arrived(owner.heap()), 1u);
  EXPECT_EQ(blocks_in_flight(size_class()), 1);
  owner.run([] { Hz4::thread_flush(); });
  EXPECT_EQ(blocks_in_flight(size_class()), 0);
}

TEST_P(MessageTest, ProducersAndConsumersLoseNothing) {
  for (int round = 0; round < 20; ++round) {
    Worker owner;
    const std::vector<char*> blocks = owner.allocate(GetParam(), 400);
    for (size_t i = 0; i < blocks.size(); ++i) test::fill_sparse(blocks[i], GetParam(), i);
    std::atomic<bool> wrong{false};
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = t; i < blocks.size(); i += 3) {
          if (!test::has_sparse(blocks[i], GetParam(), i)) wrong = true;
          // Half of them the long way.
          i % 2 == 0 ? Hz4::deallocate(blocks[i]) : send_home_at_once(blocks[i]);
        }
      });
    }
    owner.run([&] {
      std::vector<char*> own;
      for (size_t i = 0; i < 500; ++i) {
        own.push_back(static_cast<char*>(Hz4::allocate(GetParam())));
        test::fill_sparse(own.back(), GetParam(), i);
        if (i % 3 != 0) {
          Hz4::deallocate(own[own.size() / 2]);
          own.erase(own.begin() + static_cast<std::ptrdiff_t>(own.size() / 2));
        }
        if (i % 64 == 0) receive(thread_heap);
      }
      for (char* block : own) Hz4::deallocate(block);
    });
    for (std::thread& thread : threads) thread.join();
    ASSERT_FALSE(wrong);
    ASSERT_EQ(statistics().live, live_);
  }
  EXPECT_EQ(new_misuses(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, MessageTest, testing::Values(64, 2048, 12000, 100000), testing::PrintToStringParamName());

TEST_F(Hz4Test, AChainOfManyClassesAndOwnersComesHome) {
  Worker owners[4];
  Block* chain = nullptr;
  for (size_t bytes = 16; bytes < 400000; bytes += bytes / 2 + 16) {
    for (Worker& owner : owners) {
      for (int i = 0; i < 5; ++i) {
        Block* const block = static_cast<Block*>(owner.allocate(bytes));
        block->next = chain;
        chain = block;
      }
    }
  }
  send_home(chain, thread_heap);
  EXPECT_EQ(statistics().live, live_);
  for (Worker& owner : owners) owner.run([] { Hz4::thread_flush(); });
  EXPECT_EQ(statistics().live, live_);
}

}  // namespace
}  // namespace hakozuna::hz4
