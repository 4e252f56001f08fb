// The remote-free protocol of hz8 as a model whose every interleaving can be visited (explorer.h).
//
// Threads: two that free a slot of each span, of which one may also take pending slots; the owner of the spans, one that adopts orphans,
// one that purges on behalf of sleeping heaps. A step is one access to a word that other threads use, with what follows it locally;
// its name says where it stands in remote.cpp, spans.cpp, orphans.cpp or heaps.cpp, and the steps of a function follow each other
// as there. Accesses are sequentially consistent.
//
// Left out: local allocation and freeing (they touch the free bits of slots in nobody else's hands), attention (fast_limit), the lists
// of a heap's spans, the return of the records' own pages.
#pragma once

#include <cstdint>
#include <string>

#include "unit/hz8/explorer.h"

namespace hakozuna::hz8 {

constexpr uint8_t bit(int index) { return static_cast<uint8_t>(1u << index); }

// What is done wrong, to see that the model notices.
enum class Mutation {
  kNone,
  kReadNextAfterCollecting,    // collect_queue() reads queue_next when the token is gone already
  kPushOnEveryFree,            // not by who turns `queued` only
  kTokenBeforeCollecting,      // ... or turns the token back before it collects
  kCollectWordsBeforeSummary,  // collect_pending(): a bit set between the two is lost
  kSetSummaryBeforeWord,       // remote_free()
  kGiveUpAfterAdoption,        // deliver() returns when collect_orphan() says "no orphan any more"
  kNoCheckUnderLock,           // collect_orphan() takes for an orphan what was one before it had the lock
  kNoSecondLook,               // release_token() trusts that nothing has become pending
  kNoOwnerCheckInQueue,        // collect_queue() takes every span on its queue for its own
  kNoLateDelivery,             // end_heap() and reap_heaps() leave the queues of ended heaps alone
  kAdoptIntoEndedHeap,         // end_heap() is still the thread's heap when it delivers what came late
  kEndWithoutCarried,          // end_heap() forgets what a bounded collect_queue() carried over
  kReleaseWithoutToken,        // unmake_span()
  kTakeWithoutClassCheck,      // take_pending_slot(): the record may be a span of another class by now
  kTakeWithoutPuttingBack,     // ... and the bit a part of its summary
  kPurgeWithoutDelivery,       // discard_pending_pages() drops the tokens it took
  kPurgeWithoutTaking,         // ... or walks the queue without taking it
  kPurgeHoldingWords,          // ... or keeps the pending words of a span with words from others, which find them 0
  kPurgeWithoutHolding,        // ... or returns pages of slots that others can take meanwhile
};

struct ProtocolOptions {
  bool two_spans = false;        // else one
  bool words = false;            // spans of more than 64 slots: pending words, and a summary of them
  bool share_word = false;       // ... with both slots in one of the words; else one in each
  bool keep_live = false;        // a third slot of each span stays allocated, so that it never becomes empty
  bool owner_exits = false;      // else it collects once and sleeps
  bool adopter = false;
  bool adopter_has_owners_record = false;  // its heap is the record of the owner's, used again
  bool freers_have_heaps = false;          // else they only free
  bool taker = false;            // the second freer takes a pending slot, and frees it
  bool purger = false;
  bool remake = false;           // the owner makes the record a span again once it is given back; both freers free in that too
  bool remake_with_words = false;
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
    // notify()
    kReadState,
    kReadQueued,
    kTakeToken,
    // deliver()
    kReadOwner,
    kReadQueue,
    kWriteNext,
    kPush,
    // collect_orphan(), under the lock
    kLockOrphans,
    kCollectOrphan,
    kCollectOrphanWord,
    kTokenBackOfOrphan,
    kLookAgainAtOrphan,
    kTakeTokenOfOrphanAgain,
    kPlaceOrphan,
    // collect_queue()
    kTakeQueue,
    kReadNext,
    kCheckOwner,
    kCollect,
    kCollectWord,
    kTokenBack,
    kLookAgain,
    kTakeTokenAgain,
    kPlace,
    // unmake_span()
    kTakeForRelease,
    kForgetOwner,
    kForgetState,
    kTokenBackOfReleased,
    // make_span()
    kMakeState,
    kMakeOwner,
    // end_heap()
    kMakeOrphan,
    kMoveToEnded,
    kTakeLate,
    kReadLateNext,
    // adopt_orphan()
    kAdopt,
    // take_pending_slot()
    kLookForPending,
    kTakeSlot,
    kCheckClass,
    kPutBack,
    // discard_pending_pages()
    kPurgeTake,
    kPurgeReadNext,
    kHoldBits,
    kHoldWord,  // kPurgeHoldingWords only
    kRestoreBits,
  };

  enum class Place : uint8_t { kNone, kInHeap, kOrphan };  // Span::state
  enum Job : uint8_t { kFreeFirst, kFreeSecond, kTakeOne, kFreeTaken, kFreeAgain, kNoJob };

  struct Span {
    uint8_t pending = 0;           // Span::pending
    uint8_t words[2] = {0, 0};     // Span::pending_words
    uint8_t has_words = 0;
    uint8_t queued = 0;            // Span::queued
    uint8_t free = 0;              // Span::free_bits
    int8_t owner = kNobody;
    int8_t queue_next = kNobody;
    uint8_t life = 1;              // how often the record has been made a span
    Place place = Place::kNone;
  };

  struct Local {
    Step step = Step::kDone;
    Step after_deliver = Step::kDone;  // kClaim: the next job
    Step caller = Step::kDone;         // of unmake_span(): kPlace, kPlaceOrphan or kMakeOrphan
    int8_t heap = kNobody;
    int8_t span = kNobody;    // at hand
    int8_t chain = kNobody;   // rest of a chain taken off a queue
    uint8_t late_next = 0;    // kReadNextAfterCollecting: the rest is what queue_next says when it is read
    uint8_t holds = 0;        // the token of `span`
    int8_t head = kNobody;    // deliver(): the queue's head as last read
    int8_t target = kNobody;  // deliver(): the owner as read
    uint8_t job = 0;
    uint8_t slot = 0;         // take_pending_slot()
    uint8_t mask = 0;         // collect_pending(): words still to be seen to
    uint8_t held = 0;         // PendingBits
    uint8_t budget = 0;
    uint8_t ending = 0;       // collect_queue() is called by end_heap()
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
  static constexpr uint8_t kFreedSlots = 3;  // by the freers: slot 0 by freer 0, slot 1 by freer 1
  static constexpr uint8_t kFreeSlot = 4;    // free from the start, so that an orphan can be adopted at once
  static constexpr uint8_t kLiveSlot = 8;

  bool mutated(Mutation mutation) const { return options_.mutation == mutation; }
  int word_of(int slot) const { return options_.share_word ? 0 : slot; }
  bool is_empty(const Span& span) const {
    return span.free == (kFreedSlots | kFreeSlot | (options_.keep_live ? kLiveSlot : 0));
  }
  static int8_t span_of_job(int freer, uint8_t job) {
    return static_cast<int8_t>(job == kFreeFirst ? freer : job == kFreeSecond ? 1 - freer : 0);
  }

  test::Outcome free_step(State& state, int thread) const;
  test::Outcome notify_step(State& state, int thread) const;
  test::Outcome deliver_step(State& state, int thread) const;
  test::Outcome collect_orphan_step(State& state, int thread) const;
  test::Outcome collect_queue_step(State& state, int thread) const;
  test::Outcome release_step(State& state, int thread) const;
  test::Outcome make_step(State& state, int thread) const;
  test::Outcome end_heap_step(State& state, int thread) const;
  test::Outcome adopt_step(State& state, int thread) const;
  test::Outcome take_step(State& state, int thread) const;
  test::Outcome purge_step(State& state, int thread) const;

  bool has_job(int freer, uint8_t job) const;
  void begin_job(Local& local, int freer) const;
  void next_job(Local& local, int freer) const;
  void end_deliver(Local& local, int thread) const;
  test::Outcome take_queue(State& state, int thread) const;
  test::Outcome collect(State& state, int thread, Step word_step, Step next_step) const;
  test::Outcome collect_word(State& state, int thread, Step collect_step, Step next_step) const;
  test::Outcome merge(State& state, int8_t index, uint8_t freed) const;
  void leave_orphan(State& state, int thread) const;
  const char* not_releasable(const State& state, int8_t span) const;
  bool others_done(const State& state, int thread) const;
  const char* drain(State& state) const;

  const ProtocolOptions options_;
};

}  // namespace hakozuna::hz8
