// Spans that outlive their thread.
#include "hz8/orphans.h"

#include "support/pattern.h"
#include "unit/hz8/line_under_test.h"
#include "unit/os/resident_pages.h"

namespace hakozuna::hz8 {
namespace {

class OrphanTest : public Hz8Test, public testing::WithParamInterface<size_t> {
 protected:
  // Blocks in one span whose thread has ended.
  std::vector<char*> orphaned_blocks(size_t count) {
    Worker owner;
    std::vector<char*> blocks = blocks_in_one_span(owner, GetParam(), count);
    for (size_t i = 0; i < count; ++i) test::fill_sparse(blocks[i], GetParam(), i);
    return blocks;
  }
};

TEST_P(OrphanTest, BlocksOutliveTheirThread) {
  const uint64_t before = statistics().orphan_spans;
  const std::vector<char*> blocks = orphaned_blocks(3);
  const Span* const span = find_span(blocks[0]);
  EXPECT_EQ(span->owner, nullptr);
  EXPECT_EQ(span->state, SpanState::kOrphan);
  EXPECT_EQ(statistics().orphan_spans, before + 1);
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(verdict(blocks[i]), Verdict::kValid);
    EXPECT_TRUE(test::has_sparse(blocks[i], GetParam(), i));
  }
  expect_identity();
  for (char* block : blocks) free_and_deliver(block);
  EXPECT_EQ(statistics().orphan_spans, before);
}

TEST_P(OrphanTest, AFreeByAThreadWithAHeapTakesTheSpanOver) {
  const std::vector<char*> blocks = orphaned_blocks(3);
  Span* const span = find_span(blocks[0]);
  const uint64_t adopted = thread_heap->adopted_spans;
  free_and_deliver(blocks[0]);
  EXPECT_EQ(span->owner, thread_heap);
  EXPECT_EQ(span->state, SpanState::kPartial);
  EXPECT_EQ(thread_heap->adopted_spans, adopted + 1);
  EXPECT_EQ(pending_slots(span), 0u) << "collected at once";
  free_and_deliver(blocks[1]);
  EXPECT_EQ(span->pending, 0u) << "local from now on";
  free_and_deliver(blocks[2]);
  EXPECT_EQ(find_span(blocks[0]), nullptr) << "its last block took it along";
}

TEST_P(OrphanTest, AFreeByAThreadWithoutAHeapLeavesItAnOrphan) {
  const std::vector<char*> blocks = orphaned_blocks(3);
  Span* const span = find_span(blocks[0]);
  const uint64_t threads = statistics().threads_total;
  on_new_thread([&] { free_and_deliver(blocks[0]); });
  EXPECT_EQ(statistics().threads_total, threads) << "a thread that only frees needs no heap";
  EXPECT_EQ(span->owner, nullptr);
  EXPECT_EQ(span->state, SpanState::kOrphan);
  EXPECT_EQ(pending_slots(span), 0u) << "collected at once";
  on_new_thread([&] {
    free_and_deliver(blocks[1]);
    free_and_deliver(blocks[2]);
  });
  EXPECT_EQ(find_span(blocks[0]), nullptr);
}

TEST_P(OrphanTest, AnOrphanIsAdoptedBeforeMoreIsCarved) {
  const std::vector<char*> blocks = orphaned_blocks(3);
  Span* const span = find_span(blocks[0]);
  const uint64_t spans = statistics().spans;
  Worker heir;
  char* const block = static_cast<char*>(heir.allocate(GetParam()));
  EXPECT_EQ(find_span(block), span);
  EXPECT_EQ(span->owner, heir.heap());
  EXPECT_EQ(statistics().spans, spans);
  for (size_t i = 0; i < blocks.size(); ++i) EXPECT_TRUE(test::has_sparse(blocks[i], GetParam(), i));
  heir.deallocate(block);
  for (char* one : blocks) heir.deallocate(one);
}

TEST_P(OrphanTest, DoubleFreesAreStillDetected) {
  const std::vector<char*> blocks = orphaned_blocks(4);
  on_new_thread([&] {
    free_and_deliver(blocks[0]);
    free_and_deliver(blocks[0]);
  });
  EXPECT_EQ(new_misuses(), 1u);
  free_and_deliver(blocks[0]);
  EXPECT_EQ(new_misuses(), 1u);
  for (size_t i = 1; i < 4; ++i) free_and_deliver(blocks[i]);
  EXPECT_EQ(new_misuses(), 0u);
  free_and_deliver(blocks[3]);
  EXPECT_EQ(new_misuses(), 1u) << "after the span was given back";
}

TEST_P(OrphanTest, FreesOnTheWayWhenTheOwnerEndsAreNotLost) {
  std::vector<char*> blocks;
  {
    Worker owner;
    blocks = blocks_in_one_span(owner, GetParam(), 3);
    free_and_deliver(blocks[1]);
    EXPECT_EQ(queue_length(owner.heap()), 1u);
  }
  const Span* const span = find_span(blocks[0]);
  EXPECT_EQ(pending_slots(span), 0u) << "the ending thread collected it";
  EXPECT_EQ(verdict(blocks[1]), Verdict::kFreed);
  free_and_deliver(blocks[0]);
  free_and_deliver(blocks[2]);
  EXPECT_EQ(find_span(blocks[0]), nullptr);
}

// A thread that read the owner, and pushes after that has ended.
class LatePush : public OrphanTest {
 protected:
  void prepare() {
    Worker owner;
    blocks_ = blocks_in_one_span(owner, GetParam(), 3);
    span_ = find_span(blocks_[0]);
    ended_ = owner.heap();
    // remote_free(), as far as the token.
    const uint64_t slot = static_cast<uint64_t>(blocks_[1] - span_->first_slot) / span_->slot_bytes;
    if (span_->has_one_word()) {
      ASSERT_EQ(span_->pending.fetch_or(uint64_t{1} << slot), 0u);
    } else {
      ASSERT_EQ(span_->pending_words[slot / 64].fetch_or(uint64_t{1} << (slot % 64)), 0u);
      ASSERT_EQ(span_->pending.fetch_or(uint64_t{1} << (slot / 64)), 0u);
    }
    ASSERT_FALSE(span_->queued.exchange(true));
    owner.end();
    ASSERT_EQ(span_->owner, nullptr);
    // The rest of deliver(), with the owner read before.
    span_->queue_next = ended_->queue.load();
    ended_->queue.store(span_);
    ASSERT_EQ(pending_slots(span_), 1u);
  }
  void free_the_rest() {
    EXPECT_EQ(pending_slots(span_), 0u);
    EXPECT_EQ(verdict(blocks_[1]), Verdict::kFreed);
    free_and_deliver(blocks_[0]);
    free_and_deliver(blocks_[2]);
    EXPECT_EQ(new_misuses(), 0u);
  }

  std::vector<char*> blocks_;
  Span* span_ = nullptr;
  Heap* ended_ = nullptr;
};

TEST_P(LatePush, IsFoundByWhoLooksAfterTheEnded) {
  prepare();
  Care::reap();
  EXPECT_EQ(ended_->queue, nullptr);
  free_the_rest();
  EXPECT_EQ(find_span(blocks_[0]), nullptr);
}

TEST_P(LatePush, IsPassedOnByTheNextUserOfTheHeap) {
  prepare();
  Worker next;
  ASSERT_EQ(next.heap(), ended_) << "the heap that ended last is used first";
  next.run([&] { collect_queue(ended_, UINT32_MAX); });
  EXPECT_EQ(span_->owner, ended_) << "which adopts the orphan by that";
  next.run([&] { free_the_rest(); });
}

TEST_P(LatePush, GoesToWhoAdoptedTheSpanMeanwhile) {
  prepare();
  Worker user_of_the_heap;
  ASSERT_EQ(user_of_the_heap.heap(), ended_);
  Worker heir;
  char* const block = static_cast<char*>(heir.allocate(GetParam()));
  ASSERT_EQ(span_->owner, heir.heap());
  user_of_the_heap.run([&] { collect_queue(ended_, UINT32_MAX); });
  EXPECT_EQ(heir.heap()->queue, span_);
  heir.run([&] { collect_queue(thread_heap, UINT32_MAX); });
  free_the_rest();
  heir.deallocate(block);
}

TEST_P(OrphanTest, FreePagesOfOrphansAreReturnedByATrim) {
  std::vector<char*> blocks;
  const size_t page = os::page_bytes();
  {
    Worker owner;
    blocks = owner.allocate(GetParam(), 600);
    for (char* block : blocks) test::fill_pattern(block, GetParam(), 1);
    owner.run([&] {
      for (size_t i = 1; i < blocks.size(); ++i) {
        if (i % 100 != 0) free_and_deliver(blocks[i]);
      }
    });
  }
  Hz8::trim(0);
  const hakozuna_statistics s = statistics();
  EXPECT_EQ(s.cached, 0u);
  // Each live block keeps the pages it touches, no more.
  EXPECT_LE(s.free_in_spans, 6 * (2 * page + GetParam()));
  for (size_t i = 0; i < blocks.size(); i += 100) {
    EXPECT_TRUE(test::has_pattern(blocks[i], GetParam(), 1));
    free_and_deliver(blocks[i]);
  }
}

// Its last pending slot was taken by another thread before the token arrived.
TEST_P(OrphanTest, AFullOneIsAdoptedAsFull) {
  Span* span = nullptr;
  std::vector<char*> blocks;
  on_new_thread([&] {
    do {
      blocks.push_back(static_cast<char*>(Hz8::allocate(GetParam())));
      span = find_span(blocks.back());
    } while (free_slots(span) != 0);
  });
  ASSERT_EQ(span->state, SpanState::kOrphanFull);
  span->queued = true;
  ASSERT_TRUE(collect_orphan(span));
  EXPECT_EQ(span->owner.load(), own_heap());
  EXPECT_EQ(span->state, SpanState::kFull);
  std::vector<char*> more;
  while (more.size() < 3 * span->slot_count) more.push_back(static_cast<char*>(Hz8::allocate(GetParam())));
  EXPECT_EQ(span->state, SpanState::kFull);
  for (char* block : blocks) free_and_deliver(block);
  for (char* block : more) free_and_deliver(block);
  EXPECT_EQ(new_misuses(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, OrphanTest, testing::Values(64, 2048, 12000), testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Sizes, LatePush, testing::Values(64, 2048, 12000), testing::PrintToStringParamName());

TEST_F(Hz8Test, ThreadsThatComeAndGoLeaveNothingBehind) {
  const auto generation = [] {
    std::vector<std::thread> threads;
    std::vector<char*> blocks[4];
    for (std::vector<char*>& own : blocks) {
      threads.emplace_back([&own] {
        for (size_t i = 0; i < 300; ++i) own.push_back(static_cast<char*>(Hz8::allocate(16 + i * 37)));
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::vector<char*>& own : blocks) {
      on_new_thread([&own] {
        for (char* block : own) free_and_deliver(block);
      });
    }
  };
  const uint64_t live = statistics().live;
  generation();
  const hakozuna_statistics before = statistics();
  for (int i = 0; i < 40; ++i) generation();
  const hakozuna_statistics after = statistics();
  EXPECT_EQ(after.live, live);
  EXPECT_EQ(after.spans, before.spans);
  EXPECT_LE(after.metadata, before.metadata + (uint64_t{1} << 20));
  // Four heaps carve at once, each from a block of its own, and which blocks have room for them depends on chance; what they touch does not.
  EXPECT_LE(after.mapped, before.mapped + 2 * 4 * mem::kBlockBytes);
  const auto touched = [](const hakozuna_statistics& s) { return s.mapped - s.returned - s.untouched; };
  EXPECT_LE(touched(after), touched(before) + (uint64_t{4} << 20));
  EXPECT_EQ(new_misuses(), 0u);
}

}  // namespace
}  // namespace hakozuna::hz8
