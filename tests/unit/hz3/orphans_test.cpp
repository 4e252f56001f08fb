// Spans that outlive their thread.
#include "hz3/orphans.h"

#include "support/pattern.h"
#include "unit/hz3/line_under_test.h"

namespace hakozuna::hz3 {
namespace {

class OrphanTest : public Hz3Test, public testing::WithParamInterface<size_t> {
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
  EXPECT_EQ(blocks_out(span), 3u) << "what was cached is back";
  EXPECT_EQ(door_at(blocks[0]), &nobodys_doors[mem::class_of(GetParam())]);
  EXPECT_EQ(statistics().orphan_spans, before + 1);
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(verdict(blocks[i]), Verdict::kValid);
    EXPECT_TRUE(test::has_sparse(blocks[i], GetParam(), i));
  }
  expect_identity();
  for (char* block : blocks) Hz3::deallocate(block);
  EXPECT_EQ(find_span(blocks[0]), nullptr) << "its last block took it along";
  EXPECT_EQ(statistics().orphan_spans, before);
}

TEST_P(OrphanTest, AFreeByAThreadThatAllocatesTheClassTakesTheSpanOver) {
  const std::vector<char*> blocks = orphaned_blocks(3);
  Span* const span = find_span(blocks[0]);
  const bool has_bin = GetParam() <= kFastLimit / 2;
  // Enough to make the bin grow, of spans of its own.
  Worker heir;
  std::vector<char*> own = heir.allocate(GetParam(), 3000);
  const std::vector<char*> more = orphaned_blocks(3);
  Span* const other = find_span(more[0]);
  heir.deallocate(more[0]);
  EXPECT_EQ(other->owner.load() == heir.heap(), has_bin);
  EXPECT_EQ(blocks_out(other), 2u) << "back in the span at once";
  heir.deallocate(more[1]);
  heir.deallocate(more[2]);
  for (char* block : own) heir.deallocate(block);
  heir.run([] { Hz3::thread_flush(); });
  EXPECT_EQ(find_span(more[0]), nullptr);

  EXPECT_EQ(span->owner.load() == heir.heap(), has_bin || span->owner.load() == heir.heap()) << "the first one was adopted to allocate from";
  for (char* block : blocks) Hz3::deallocate(block);
}

TEST_P(OrphanTest, AFreeByAThreadWithNoUseForItLeavesItAnOrphan) {
  const std::vector<char*> blocks = orphaned_blocks(3);
  Span* const span = find_span(blocks[0]);
  const uint64_t threads = statistics().threads_total;
  on_new_thread([&] { Hz3::deallocate(blocks[0]); });
  EXPECT_EQ(statistics().threads_total, threads) << "a thread that only frees needs no heap";
  EXPECT_EQ(span->owner, nullptr);
  EXPECT_EQ(blocks_out(span), 2u);
  Worker worker;
  worker.heap();
  worker.deallocate(blocks[1]);
  EXPECT_EQ(span->owner, nullptr);
  on_new_thread([&] { Hz3::deallocate(blocks[2]); });
  EXPECT_EQ(find_span(blocks[0]), nullptr);
}

TEST_P(OrphanTest, AnOrphanIsAdoptedBeforeMoreIsCarved) {
  const std::vector<char*> blocks = orphaned_blocks(3);
  Span* const span = find_span(blocks[0]);
  const uint64_t spans = statistics().spans;
  Worker heir;
  const uint64_t adopted = heir.heap()->adopted_spans;
  char* const block = static_cast<char*>(heir.allocate(GetParam()));
  EXPECT_EQ(find_span(block), span);
  EXPECT_EQ(span->owner, heir.heap());
  EXPECT_EQ(door_at(block), heir.heap()->door(mem::class_of(GetParam())));
  EXPECT_EQ(statistics().spans, spans);
  EXPECT_EQ(heir.heap()->adopted_spans, adopted + 1);
  for (size_t i = 0; i < blocks.size(); ++i) EXPECT_TRUE(test::has_sparse(blocks[i], GetParam(), i));
  heir.deallocate(block);
  for (char* one : blocks) heir.deallocate(one);
}

TEST_P(OrphanTest, DoubleFreesOfOrphansAreDetected) {
  const std::vector<char*> blocks = orphaned_blocks(4);
  on_new_thread([&] {
    Hz3::deallocate(blocks[0]);
    Hz3::deallocate(blocks[0]);
  });
  EXPECT_EQ(new_misuses(), 1u);
  on_new_thread([&] {
    Hz3::deallocate(blocks[1] + 16);
    for (size_t i = 1; i < 4; ++i) Hz3::deallocate(blocks[i]);
  });
  EXPECT_EQ(new_misuses(), 1u);
  Hz3::deallocate(blocks[3]);
  EXPECT_EQ(new_misuses(), 1u) << "after the span was given back";
}

TEST_P(OrphanTest, FreesOnTheWayWhenTheOwnerEndsAreNotLost) {
  std::vector<char*> blocks;
  {
    Worker owner;
    blocks = blocks_in_one_span(owner, GetParam(), 3);
    Hz3::deallocate(blocks[1]);
    send_all(thread_heap);
    EXPECT_EQ(stash_length(owner.heap()), 1u);
  }
  EXPECT_EQ(blocks_out(find_span(blocks[0])), 2u) << "the ending thread collected it";
  EXPECT_EQ(verdict(blocks[1]), Verdict::kFreed);
  Hz3::deallocate(blocks[0]);
  Hz3::deallocate(blocks[2]);
  EXPECT_EQ(find_span(blocks[0]), nullptr);
}

TEST_P(OrphanTest, AnOutboxForAThreadThatHasEndedIsDelivered) {
  std::vector<char*> blocks;
  Heap* ended = nullptr;
  {
    Worker owner;
    blocks = blocks_in_one_span(owner, GetParam(), 3);
    ended = owner.heap();
    // As remote_free() leaves it if the outbox is not full.
    Outbox& box = thread_heap->outboxes[ended->number % kOutboxes];
    send_all(thread_heap);
    next_of(blocks[1]) = nullptr;
    box = {ended, 1, GetParam(), blocks[1], blocks[1]};
    thread_heap->outbox_bytes += GetParam();
  }
  EXPECT_EQ(blocks_out(find_span(blocks[0])), 3u);
  expect_identity();
  send_all(thread_heap);
  EXPECT_EQ(ended->stash, nullptr) << "who finds nobody at home sees to the stash";
  EXPECT_EQ(blocks_out(find_span(blocks[0])), 2u);
  Hz3::deallocate(blocks[0]);
  Hz3::deallocate(blocks[2]);
}

// A thread that pushes to a stash after its heap has ended, and another thread has it already, or not yet.
class LatePush : public OrphanTest {
 protected:
  void prepare() {
    Worker owner;
    blocks_ = blocks_in_one_span(owner, GetParam(), 3);
    span_ = find_span(blocks_[0]);
    ended_ = owner.heap();
    owner.end();
    ASSERT_EQ(span_->owner, nullptr);
    next_of(blocks_[1]) = nullptr;
    ended_->stash.store(blocks_[1]);
    ASSERT_EQ(blocks_out(span_), 3u);
  }
  void free_the_rest() {
    EXPECT_EQ(verdict(blocks_[1]), Verdict::kFreed);
    Hz3::deallocate(blocks_[0]);
    Hz3::deallocate(blocks_[2]);
    EXPECT_EQ(new_misuses(), 0u);
  }

  std::vector<char*> blocks_;
  Span* span_ = nullptr;
  Heap* ended_ = nullptr;
};

TEST_P(LatePush, IsFoundByWhoLooksAfterTheEnded) {
  prepare();
  Care::reap();
  EXPECT_EQ(ended_->stash, nullptr);
  EXPECT_EQ(blocks_out(span_), 2u);
  free_the_rest();
  EXPECT_EQ(find_span(blocks_[0]), nullptr);
}

TEST_P(LatePush, IsPassedOnByTheNextUserOfTheHeap) {
  prepare();
  Worker next;
  ASSERT_EQ(next.heap(), ended_) << "the heap that ended last is used first";
  next.run([&] { SpanAccess(ended_).collect(UINT32_MAX, /*into_bins=*/true); });
  EXPECT_EQ(blocks_out(span_), 2u);
  EXPECT_EQ(span_->owner, nullptr);
  free_the_rest();
}

TEST_P(LatePush, GoesToWhoAdoptedTheSpanMeanwhile) {
  prepare();
  Worker user_of_the_heap;
  ASSERT_EQ(user_of_the_heap.heap(), ended_);
  Worker heir;
  char* const block = static_cast<char*>(heir.allocate(GetParam()));
  ASSERT_EQ(span_->owner, heir.heap());
  user_of_the_heap.run([&] { SpanAccess(ended_).collect(UINT32_MAX, /*into_bins=*/true); });
  EXPECT_EQ(stash_length(heir.heap()), 1u);
  heir.run([&] {
    SpanAccess(thread_heap).collect(UINT32_MAX, /*into_bins=*/false);
    free_the_rest();
  });
  heir.deallocate(block);
}

INSTANTIATE_TEST_SUITE_P(Sizes, OrphanTest, testing::Values(64, 2048, 12000), testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Sizes, LatePush, testing::Values(64, 2048, 12000), testing::PrintToStringParamName());

TEST_F(Hz3Test, FreePagesOfOrphansAreReturnedByATrim) {
  for (const size_t bytes : {64, 2048, 12000}) {
    std::vector<char*> blocks;
    {
      Worker owner;
      blocks = owner.allocate(bytes, 600);
      for (char* block : blocks) test::fill_pattern(block, bytes, 1);
      owner.run([&] {
        for (size_t i = 1; i < blocks.size(); ++i) {
          if (i % 100 != 0) Hz3::deallocate(blocks[i]);
        }
      });
    }
    Hz3::trim(0);
    const hakozuna_statistics s = statistics();
    EXPECT_EQ(s.cached, 0u);
    // Each live block keeps the pages it touches, no more.
    EXPECT_LE(s.free_in_spans, 6 * (2 * os::page_bytes() + bytes));
    for (size_t i = 0; i < blocks.size(); i += 100) {
      EXPECT_TRUE(test::has_pattern(blocks[i], bytes, 1));
      Hz3::deallocate(blocks[i]);
    }
  }
}

TEST_F(Hz3Test, ThreadsThatComeAndGoLeaveNothingBehind) {
  const auto generation = [] {
    std::vector<std::thread> threads;
    std::vector<char*> blocks[4];
    for (std::vector<char*>& own : blocks) {
      threads.emplace_back([&own] {
        for (size_t i = 0; i < 300; ++i) own.push_back(static_cast<char*>(Hz3::allocate(16 + i * 37)));
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::vector<char*>& own : blocks) {
      on_new_thread([&own] {
        for (char* block : own) Hz3::deallocate(block);
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
  const auto touched = [](const hakozuna_statistics& s) { return s.mapped - s.returned - s.untouched; };
  EXPECT_LE(touched(after), touched(before) + (uint64_t{4} << 20));
  EXPECT_EQ(new_misuses(), 0u);
}

}  // namespace
}  // namespace hakozuna::hz3
