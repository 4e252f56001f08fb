// Tokens a thread holds for a while before it delivers them.
#include "unit/hz8/line_under_test.h"

namespace hakozuna::hz8 {
namespace {

constexpr size_t kSize = 2048;

class HeldTokensTest : public Hz8Test {
 protected:
  // One block in each of `count` spans of the worker, whose other blocks are in `rest_`.
  std::vector<char*> blocks_of_spans(Worker& worker, size_t count) {
    std::vector<char*> blocks;
    while (blocks.size() < count) {
      char* const block = static_cast<char*>(worker.allocate(kSize));
      const bool another_span = blocks.empty() || find_span(block) != find_span(blocks.back());
      (another_span ? blocks : rest_).push_back(block);
    }
    return blocks;
  }
  void free_rest(Worker& worker) {
    for (char* block : rest_) worker.deallocate(block);
  }

  static size_t held_length(const Heap* heap) {
    size_t length = 0;
    for (const Span* span = heap->held.load(); span; span = span->queue_next) ++length;
    return length;
  }

  std::vector<char*> rest_;
};

TEST_F(HeldTokensTest, AreDeliveredWhenTheirSpansAddUp) {
  Worker owner;
  const std::vector<char*> blocks =
      blocks_of_spans(owner, kHeldBytes / (mem::kChunkBytes << kSizeClasses[mem::class_of(kSize)].order));
  Heap* const heap = owner.heap();
  for (size_t i = 0; i + 1 < blocks.size(); ++i) {
    Hz8::deallocate(blocks[i]);
    EXPECT_EQ(held_length(thread_heap), i + 1);
    EXPECT_EQ(heap->queue, nullptr);
    EXPECT_EQ(verdict(blocks[i]), Verdict::kFreed);
  }
  Hz8::deallocate(blocks[0]);
  EXPECT_EQ(new_misuses(), 1u) << "a double free is seen while the token is held";
  Hz8::deallocate(blocks.back());
  EXPECT_EQ(held_length(thread_heap), 0u);
  EXPECT_EQ(thread_heap->held_bytes, 0u);
  EXPECT_EQ(queue_length(heap), blocks.size());
  EXPECT_EQ(heap->fast_limit, 0u) << "the owner looks at its next allocation";
  owner.run([&] { collect_queue(heap, UINT32_MAX); });
  for (char* block : blocks) EXPECT_EQ(pending_slots(find_span(block)), 0u);
  free_rest(owner);
}

TEST_F(HeldTokensTest, GoToTheOwnerEachOfItsSpans) {
  Worker first;
  Worker second;
  char* const a = static_cast<char*>(first.allocate(kSize));
  char* const b = static_cast<char*>(second.allocate(kSize));
  char* const c = static_cast<char*>(first.allocate(12000));
  char* const d = static_cast<char*>(second.allocate(64));
  for (char* block : {a, b, c, d}) Hz8::deallocate(block);
  EXPECT_EQ(held_length(thread_heap), 4u);
  deliver_held(thread_heap);
  EXPECT_EQ(queue_length(first.heap()), 2u);
  EXPECT_EQ(queue_length(second.heap()), 2u);
  first.run([] { Hz8::thread_flush(); });
  second.run([] { Hz8::thread_flush(); });
  for (char* block : {a, b, c, d}) EXPECT_EQ(find_span(block), nullptr);
}

TEST_F(HeldTokensTest, AreDeliveredByTheTimerAFlushAndTheEndOfTheThread) {
  Worker owner;
  Heap* const heap = owner.heap();
  const auto free_and = [&](auto&& deliver) {
    char* const block = static_cast<char*>(owner.allocate(kSize));
    Worker holder;
    Heap* const holders = holder.heap();
    holder.deallocate(block);
    EXPECT_EQ(held_length(holders), 1u);
    EXPECT_NE(holders->tick_due, 0u) << "somebody will look";
    EXPECT_EQ(holders->fast_limit, 0u);
    EXPECT_TRUE(HeapKind::has_queued(holders));
    deliver(holder);
  };
  const auto expect_delivered = [&] {
    EXPECT_EQ(queue_length(heap), 1u);
    owner.run([&] { collect_queue(heap, UINT32_MAX); });
  };
  free_and([&](Worker& holder) {
    holder.run([] { HeapKind::tick(thread_heap); });
    expect_delivered();
  });
  free_and([&](Worker& holder) {
    holder.run([] { Hz8::thread_flush(); });
    expect_delivered();
  });
  free_and([&](Worker& holder) {
    HeapKind::serve_sleeping(holder.heap());  // by another thread
    EXPECT_EQ(held_length(holder.heap()), 0u);
    expect_delivered();
  });
  free_and([](Worker&) {});
  expect_delivered();
}

TEST_F(HeldTokensTest, OfAnOrphanCollectItWhenDelivered) {
  char* block = nullptr;
  {
    Worker owner;
    block = static_cast<char*>(owner.allocate(kSize));
  }
  Hz8::deallocate(block);
  EXPECT_EQ(find_span(block)->state, SpanState::kOrphan);
  deliver_held(thread_heap);
  EXPECT_EQ(find_span(block), nullptr);
}

}  // namespace
}  // namespace hakozuna::hz8
