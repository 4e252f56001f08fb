// The remote-free protocol of hz8 as a model whose every interleaving can be visited (explorer.h).
//
// Threads: two that free two slots each, the owner of the two spans, one that adopts orphans, one that purges on behalf of sleeping
// heaps. A step is one access to a word that other threads use, with what follows it locally; its name says where it stands in
// remote.cpp, spans.cpp, orphans.cpp or heaps.cpp, and the steps of a function follow each other as there. Accesses are
// sequentially consistent; what the code's weaker orders allow beyond that is argued in its comments.
//
// Left out: local allocation and freeing (they touch the free bits of slots in nobody else's hands), attention (fast_limit), the lists
// of a heap's spans.
#pragma once

#include <cstdint>
#include <string>

#include "unit/hz8/explorer.h"

namespace hakozuna::hz8 {

// What is done wrong, to see that the model notices.
enum class Mutation {
  kNone,
  kReadNextAfterCollecting,      // collect_queue() reads queue_next when the token is gone already
  kPushOnEveryFree,              // not on the transition from "nothing pending" only
  kCollectWordsBeforeSummary,    // collect_pending(): a bit set between the two is lost
  kSetSummaryBeforeWord,         // remote_free()
  kGiveUpAfterAdoption,          // deliver() returns when collect_orphan() says "no orphan any more"
  kNoOwnerCheckUnderLock,        // collect_orphan()
  kNoOwnerCheckInQueue,          // collect_queue() takes every span on its queue for its own
  kNoLateDelivery,               // end_heap() and reap_heaps() leave the queues of ended heaps alone
  kEndWithoutCarried,            // end_heap() forgets what a bounded collect_queue() carried over
  kPurgeWithoutDelivery,         // discard_pending_pages() drops the tokens it took
  kPurgeWithoutTaking,           // ... or walks the queue without taking it
};

struct ProtocolOptions {
  bool two_words = false;       // spans of more than 64 slots: pending words, and a summary of them
  bool share_word = false;      // ... with both slots in one of the words; else one in each
  bool keep_live = false;       // a third slot of each span stays allocated, so that it never becomes empty
  bool has_free_slot = true;    // a fourth is free from the start, so that an orphan can be adopted at once
  bool owner_exits = false;     // else it collects once and sleeps
  bool adopter = false;
  bool adopter_has_owners_record = false;  // its heap is the record of the owner's, used again
  bool freers_have_heaps = false;          // else they only free
  bool purger = false;
  Mutation mutation = Mutation::kNone;
};

class ProtocolModel {
 public:
  enum Thread : int { kFreer0, kFreer1, kOwner, kAdopter, kPurger, kThreads };
  static constexpr int kSpans = 2;
  static constexpr int kHeaps = 4;  // of the owner, the adopter, the freers
  static constexpr int8_t kNobody = -1;

  enum class Step : uint8_t {
    kDone,
    // remote_free()
    kClaim,       // pending.fetch_or, or pending_words[].fetch_or
    kSetSummary,  // pending.fetch_or of a span with words
    // deliver()
    kReadOwner,
    kReadQueue,
    kWriteNext,
    kPush,
    // collect_orphan(); the lock is held from kLockOrphans to kPlaceOrphan
    kLockOrphans,
    kCollectOrphan,
    kCollectOrphanWord,
    kPlaceOrphan,
    // collect_queue()
    kTakeQueue,
    kReadNext,
    kCheckOwner,
    kCollect,
    kCollectWord,
    kPlace,
    // end_heap()
    kMakeOrphan,
    kMoveToEnded,
    kTakeLate,
    kReadLateNext,
    // adopt_orphan()
    kAdopt,
    // discard_pending_pages()
    kPurgeTake,
    kPurgeReadNext,
  };

  enum class Place : uint8_t { kInHeap, kOrphan, kReleased };

  struct Span {
    uint8_t pending = 0;           // Span::pending
    uint8_t words[2] = {0, 0};     // Span::pending_words
    uint8_t free = 0;              // Span::free_bits
    int8_t owner = 0;
    int8_t queue_next = kNobody;
    Place place = Place::kInHeap;
  };

  struct Local {
    Step step = Step::kDone;
    Step after_deliver = Step::kDone;
    int8_t heap = kNobody;
    int8_t span = kNobody;    // at hand
    int8_t chain = kNobody;   // rest of a chain taken off a queue
    int8_t holds = 0;         // the token of `span`
    int8_t head = kNobody;    // deliver(): the queue's head as last read
    int8_t target = kNobody;  // deliver(): the owner as read
    uint8_t job = 0;          // freer: which of its slots
    uint8_t mask = 0;         // collect_pending(): words still to collect
    uint8_t freed = 0;        // ... and what was found
    uint8_t budget = 0;
    uint8_t ending = 0;       // collect_queue() is called by end_heap()
    uint8_t late_next = 0;    // kReadNextAfterCollecting: the rest of the chain is what queue_next says when it is read
  };

  struct State {
    Span spans[kSpans];
    int8_t queue[kHeaps] = {kNobody, kNobody, kNobody, kNobody};
    uint8_t serving[kHeaps] = {1, 1, 1, 1};
    int8_t lock_holder = kNobody;
    Local threads[kThreads];
  };

  explicit ProtocolModel(const ProtocolOptions& options) : options_(options) {}

  State initial() const;
  test::Outcome step(State& state, int thread) const;
  const char* broken(const State& state) const;
  const char* broken_at_rest(State state) const;
  std::string describe(const State& state, int thread) const;

 private:
  // What a freer frees: both begin with different spans, so that chains of two come about.
  static int8_t span_of_job(int freer, int job) { return static_cast<int8_t>(freer ^ job); }
  static int slot_of_job(int freer) { return freer; }
  int word_of(int slot) const { return options_.share_word ? 0 : slot; }
  static constexpr int kJobs = 2;

  bool mutated(Mutation mutation) const { return options_.mutation == mutation; }
  uint8_t all_slots() const {
    return static_cast<uint8_t>(3 | (options_.has_free_slot ? 4 : 0) | (options_.keep_live ? 8 : 0));
  }
  bool is_empty(const Span& span) const { return span.free == all_slots(); }

  test::Outcome free_step(State& state, int thread) const;
  test::Outcome deliver_step(State& state, int thread) const;
  test::Outcome collect_orphan_step(State& state, int thread) const;
  test::Outcome collect_queue_step(State& state, int thread) const;
  test::Outcome end_heap_step(State& state, int thread) const;
  test::Outcome adopt_step(State& state, int thread) const;
  test::Outcome purge_step(State& state, int thread) const;

  void next_job(Local& local) const {
    local.span = kNobody;
    local.step = ++local.job == kJobs ? Step::kDone : Step::kClaim;
  }
  void begin_deliver(Local& local, Step after) const {
    local.step = Step::kReadOwner;
    local.after_deliver = after;
  }
  void end_deliver(Local& local) const;
  test::Outcome begin_collect(State& state, Local& local, Step word_step, Step place_step) const;
  test::Outcome collect_word(State& state, Local& local, Step place_step) const;
  test::Outcome merge(Span& span, uint8_t freed) const;
  const char* release(Span& span) const;
  bool others_done(const State& state, int thread) const;
  const char* drain(State& state) const;

  const ProtocolOptions options_;
};

}  // namespace hakozuna::hz8
