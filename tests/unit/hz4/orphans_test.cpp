// Spans whose thread has ended.
#include "support/pattern.h"
#include "unit/hz4/line_under_test.h"

namespace hakozuna::hz4 {
namespace {

class OrphanTest : public Hz4Test, public testing::WithParamInterface<size_t> {
 protected:
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
  EXPECT_EQ(span->out(), 3u) << "all others are home";
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(verdict(blocks[i]), Verdict::kValid);
    EXPECT_TRUE(test::has_sparse(blocks[i], GetParam(), i));
  }
  expect_identity();
  for (char* block : blocks) Hz4::deallocate(block);
  Hz4::trim(0);
  EXPECT_EQ(statistics().orphan_spans, before);
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
  EXPECT_EQ(heir.heap()->adopted_spans, adopted + 1);
  EXPECT_EQ(statistics().spans, spans);
  for (size_t i = 0; i < blocks.size(); ++i) EXPECT_TRUE(test::has_sparse(blocks[i], GetParam(), i));
  heir.deallocate(block);
  for (char* one : blocks) heir.deallocate(one);
}

TEST_P(OrphanTest, BlocksOnTheirWayWhenTheOwnerEndsAreNotLost) {
  std::vector<char*> blocks;
  {
    Worker owner;
    blocks = blocks_in_one_span(owner, GetParam(), 3);
    send_home_at_once(blocks[1]);
    EXPECT_EQ(messages_arrived(owner.heap()), 1u);
  }
  EXPECT_EQ(find_span(blocks[0])->out(), 2u);
  send_home_at_once(blocks[0]);
  send_home_at_once(blocks[2]);
  EXPECT_EQ(find_span(blocks[0]), nullptr) << "its last block took it along";
}

// A thread that read the owner, and posts after that has ended.
class LateMessage : public OrphanTest {
 protected:
  void prepare() {
    Worker owner;
    blocks_ = blocks_in_one_span(owner, GetParam(), 3);
    span_ = find_span(blocks_[0]);
    ended_ = owner.heap();
    owner.end();
    ASSERT_EQ(span_->owner, nullptr);
    Block* const late = reinterpret_cast<Block*>(blocks_[1]);
    late->next = nullptr;
    late->message = pack(nullptr, 1);
    thread_heap->in_flight[span_->size_class()].fetch_add(1);
    ended_->inbox.store(late);
  }
  void free_the_rest() {
    EXPECT_EQ(blocks_in_flight(mem::class_of(GetParam())), 0);
    send_home_at_once(blocks_[0]);
    send_home_at_once(blocks_[2]);
    EXPECT_EQ(new_misuses(), 0u);
  }

  std::vector<char*> blocks_;
  Span* span_ = nullptr;
  Heap* ended_ = nullptr;
};

TEST_P(LateMessage, IsFoundByWhoLooksAfterTheEnded) {
  prepare();
  Care::reap();
  EXPECT_EQ(ended_->inbox, nullptr);
  free_the_rest();
  EXPECT_EQ(find_span(blocks_[0]), nullptr);
}

TEST_P(LateMessage, IsServedToTheNextUserOfTheHeap) {
  prepare();
  Worker next;
  ASSERT_EQ(next.heap(), ended_) << "the heap that ended last is used first";
  next.run([&] { receive(ended_); });
  EXPECT_EQ(next.allocate(GetParam()), blocks_[1]) << "a block is a block, whoever owns the span";
  next.deallocate(blocks_[1]);
  free_the_rest();
}

TEST_P(LateMessage, GoesToWhoAdoptedTheSpanMeanwhile) {
  prepare();
  Worker user_of_the_heap;
  ASSERT_EQ(user_of_the_heap.heap(), ended_);
  Worker heir;
  char* const block = static_cast<char*>(heir.allocate(GetParam()));
  ASSERT_EQ(span_->owner, heir.heap());
  serve(ended_, thread_heap);
  EXPECT_EQ(blocks_arrived(heir.heap()), 1u);
  heir.run([] { Hz4::thread_flush(); });
  free_the_rest();
  heir.deallocate(block);
}

INSTANTIATE_TEST_SUITE_P(Sizes, OrphanTest, testing::Values(64, 2048, 12000, 100000), testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Sizes, LateMessage, testing::Values(64, 2048, 12000, 100000), testing::PrintToStringParamName());

}  // namespace
}  // namespace hakozuna::hz4
