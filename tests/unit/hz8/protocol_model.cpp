// The steps of who frees, delivers and takes. protocol_owner.cpp has those of who collects.
#include "unit/hz8/protocol_model.h"

namespace hakozuna::hz8 {

using test::Outcome;

namespace {

// The atomic operations; each returns what was there before.
uint8_t fetch_or(uint8_t& word, uint8_t bits) {
  const uint8_t before = word;
  word |= bits;
  return before;
}
uint8_t exchange(uint8_t& word, uint8_t value) {
  const uint8_t before = word;
  word = value;
  return before;
}

}  // namespace

ProtocolModel::State ProtocolModel::initial() const {
  State state;
  for (int i = 0; i < (options_.two_spans ? 2 : 1); ++i) {
    Span& span = state.spans[i];
    span.free = kFreeSlot;
    span.has_words = options_.words;
    span.owner = 0;
    span.place = Place::kInHeap;
  }
  for (int freer : {kFreer0, kFreer1}) {
    Local& local = state.threads[freer];
    if (options_.freers_have_heaps) local.heap = static_cast<int8_t>(2 + freer);
    begin_job(local, freer);
  }
  Local& owner = state.threads[kOwner];
  owner.step = Step::kTakeQueue;
  owner.heap = 0;
  owner.budget = 1;
  if (options_.adopter) {
    state.threads[kAdopter].step = Step::kAdopt;
    state.threads[kAdopter].heap = options_.adopter_has_owners_record ? 0 : 1;
  }
  if (options_.purger) state.threads[kPurger].step = Step::kPurgeTake;
  return state;
}

Outcome ProtocolModel::step(State& state, int thread) const {
  const Step step = state.threads[thread].step;
  if (step == Step::kDone) return Outcome::blocked();
  if (step <= Step::kSetSummary) return free_step(state, thread);
  if (step <= Step::kTakeToken) return notify_step(state, thread);
  if (step <= Step::kPush) return deliver_step(state, thread);
  if (step <= Step::kPlaceOrphan) return collect_orphan_step(state, thread);
  if (step <= Step::kPlace) return collect_queue_step(state, thread);
  if (step <= Step::kTokenBackOfReleased) return release_step(state, thread);
  if (step <= Step::kMakeOwner) return make_step(state, thread);
  if (step <= Step::kReadLateNext) return end_heap_step(state, thread);
  if (step == Step::kAdopt) return adopt_step(state, thread);
  if (step <= Step::kPutBack) return take_step(state, thread);
  return purge_step(state, thread);
}

bool ProtocolModel::others_done(const State& state, int thread) const {
  for (int other = 0; other < kThreads; ++other) {
    const Step step = state.threads[other].step;
    if (other != thread && step != Step::kDone && step != Step::kAdopt && step != Step::kPurgeTake) return false;
  }
  return true;
}

// ---- What a freer does, one after the other ----------------------------------------------------------------------------

bool ProtocolModel::has_job(int freer, uint8_t job) const {
  switch (job) {
    case kFreeFirst:
    case kFreeSecond:
      return options_.two_spans || span_of_job(freer, job) == 0;
    case kTakeOne:
      return options_.taker && freer == kFreer1;
    case kFreeAgain:
      return options_.remake;
    default:  // kFreeTaken comes after a slot was taken, and not by itself
      return job == kNoJob;
  }
}

void ProtocolModel::begin_job(Local& local, int freer) const {
  while (!has_job(freer, local.job)) ++local.job;
  local.step = local.job == kNoJob     ? Step::kDone
               : local.job == kTakeOne ? Step::kLookForPending
                                       : Step::kClaim;
  local.span = local.job == kNoJob ? kNobody : span_of_job(freer, local.job);
  local.slot = static_cast<uint8_t>(freer);
}

void ProtocolModel::next_job(Local& local, int freer) const {
  ++local.job;
  begin_job(local, freer);
}

// ---- remote_free() -----------------------------------------------------------------------------------------------------

Outcome ProtocolModel::free_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  Span& span = state.spans[local.span];
  if (local.job == kFreeAgain && span.life != 2) return Outcome::blocked();  // until the block is there
  if (span.place == Place::kNone) return Outcome::wrong("a slot of a released span is freed");
  if (span.free & bit(local.slot)) {
    return Outcome::wrong(local.step == Step::kClaim ? "a free slot is freed" : "a slot is collected before its word is announced");
  }

  bool is_first = false;
  if (!span.has_words) {
    const uint8_t before = fetch_or(span.pending, bit(local.slot));
    if (before & bit(local.slot)) return Outcome::wrong("a pending slot is freed");
    is_first = before == 0;
  } else if ((local.step == Step::kClaim) != mutated(Mutation::kSetSummaryBeforeWord)) {
    const uint8_t before = fetch_or(span.words[word_of(local.slot)], bit(local.slot));
    if (before & bit(local.slot)) return Outcome::wrong("a pending slot is freed");
    if (local.step == Step::kClaim && before == 0) {
      local.step = Step::kSetSummary;
      return Outcome::moved();
    }
    is_first = local.step == Step::kSetSummary && local.mask != 0;
    local.mask = 0;
  } else {
    is_first = fetch_or(span.pending, bit(word_of(local.slot))) == 0;
    if (mutated(Mutation::kSetSummaryBeforeWord)) {
      local.mask = is_first;
      local.step = Step::kSetSummary;  // the word comes second
      return Outcome::moved();
    }
  }
  if (is_first || mutated(Mutation::kPushOnEveryFree)) {
    local.after_deliver = Step::kClaim;
    local.step = Step::kReadState;
  } else {
    next_job(local, thread);
  }
  return Outcome::moved();
}

// ---- notify() ------------------------------------------------------------------------------------------------------------

Outcome ProtocolModel::notify_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  Span& span = state.spans[local.span];
  switch (local.step) {
    case Step::kReadState:
      if (span.place == Place::kNone) {
        end_deliver(local, thread);
      } else {
        local.step = mutated(Mutation::kPushOnEveryFree) ? Step::kTakeToken : Step::kReadQueued;
      }
      return Outcome::moved();
    case Step::kReadQueued:
      if (span.queued) {
        end_deliver(local, thread);
      } else {
        local.step = Step::kTakeToken;
      }
      return Outcome::moved();
    default:  // kTakeToken
      if (exchange(span.queued, 1) && !mutated(Mutation::kPushOnEveryFree)) {
        end_deliver(local, thread);
      } else {
        local.holds = 1;
        local.step = Step::kReadOwner;
      }
      return Outcome::moved();
  }
}

// ---- deliver() -----------------------------------------------------------------------------------------------------------

void ProtocolModel::end_deliver(Local& local, int thread) const {
  local.holds = 0;
  local.head = kNobody;
  local.target = kNobody;
  if (local.after_deliver == Step::kClaim) {
    next_job(local, thread);
  } else {
    local.step = local.after_deliver;
    if (local.step != Step::kLookForPending) local.span = kNobody;
  }
  local.after_deliver = Step::kDone;
}

Outcome ProtocolModel::deliver_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  Span& span = state.spans[local.span];
  switch (local.step) {
    case Step::kReadOwner:
      local.target = span.owner;
      local.step = span.owner == kNobody ? Step::kLockOrphans : Step::kReadQueue;
      return Outcome::moved();
    case Step::kReadQueue:
      local.head = state.queue[local.target];
      local.step = Step::kWriteNext;
      return Outcome::moved();
    case Step::kWriteNext:
      span.queue_next = local.head;
      local.step = Step::kPush;
      return Outcome::moved();
    default:  // kPush
      if (state.queue[local.target] != local.head) {
        local.head = state.queue[local.target];
        local.step = Step::kWriteNext;
        return Outcome::moved();
      }
      if (span.place == Place::kNone) return Outcome::wrong("a released span is pushed");
      state.queue[local.target] = local.span;
      end_deliver(local, thread);
      return Outcome::moved();
  }
}

// ---- take_pending_slot() -----------------------------------------------------------------------------------------------

Outcome ProtocolModel::take_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  Span& span = state.spans[local.span];
  switch (local.step) {
    case Step::kLookForPending:
      if (span.pending == 0 || span.has_words) {
        next_job(local, thread);  // no hint is left
      } else {
        local.slot = span.pending & 1 ? 0 : 1;
        local.step = Step::kTakeSlot;
      }
      return Outcome::moved();
    case Step::kTakeSlot: {
      const uint8_t before = span.pending;
      span.pending &= static_cast<uint8_t>(~bit(local.slot));
      local.step = before & bit(local.slot) ? Step::kCheckClass : Step::kLookForPending;
      return Outcome::moved();
    }
    case Step::kCheckClass:
      if (span.has_words && !mutated(Mutation::kTakeWithoutClassCheck)) {
        local.step = mutated(Mutation::kTakeWithoutPuttingBack) ? Step::kLookForPending : Step::kPutBack;
        return Outcome::moved();
      }
      for (const Local& other : state.threads) {
        if (other.span == local.span && (other.held & bit(local.slot))) {
          return Outcome::wrong("the pages of a block are returned");
        }
      }
      local.job = kFreeTaken;  // the block is used, and freed
      local.step = Step::kClaim;
      return Outcome::moved();
    default:  // kPutBack
      if (fetch_or(span.pending, bit(local.slot)) == 0) {
        local.after_deliver = Step::kLookForPending;
        local.step = Step::kReadState;
      } else {
        local.step = Step::kLookForPending;
      }
      return Outcome::moved();
  }
}

// ---- discard_pending_pages() -----------------------------------------------------------------------------------------------

Outcome ProtocolModel::purge_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  if (local.step == Step::kPurgeTake) {
    if (state.queue[0] == kNobody) {
      if (!others_done(state, thread)) return Outcome::blocked();  // looks again when there is something
      local.step = Step::kDone;
      return Outcome::moved();
    }
    local.chain = state.queue[0];
    if (!mutated(Mutation::kPurgeWithoutTaking)) state.queue[0] = kNobody;
    local.step = Step::kPurgeReadNext;
    return Outcome::moved();
  }
  if (local.step == Step::kPurgeReadNext) {
    if (local.chain == kNobody) {
      local.step = Step::kDone;
      return Outcome::moved();
    }
    local.span = local.chain;
    local.chain = state.spans[local.span].queue_next;
    local.holds = 1;
    local.step = Step::kHoldBits;
    return Outcome::moved();
  }

  Span& span = state.spans[local.span];
  if (span.place == Place::kNone) return Outcome::wrong("pages of a released span are discarded");
  switch (local.step) {
    case Step::kHoldBits:  // PendingBits()
      if (!span.has_words) {
        local.held = mutated(Mutation::kPurgeWithoutHolding) ? span.pending : exchange(span.pending, 0);
      } else if (mutated(Mutation::kPurgeHoldingWords)) {
        local.mask = span.pending;
      }
      local.step = local.mask ? Step::kHoldWord : Step::kRestoreBits;
      return Outcome::moved();
    case Step::kHoldWord: {
      const int index = local.mask & 1 ? 0 : 1;
      local.held |= exchange(span.words[index], 0);
      local.mask &= static_cast<uint8_t>(~bit(index));
      if (local.mask == 0) local.step = Step::kRestoreBits;
      return Outcome::moved();
    }
    default: {  // kRestoreBits, ~PendingBits()
      if (local.held != 0 && !mutated(Mutation::kPurgeWithoutHolding)) {
        const int index = options_.share_word || (local.held & 1) ? 0 : 1;
        const uint8_t part = span.has_words && !options_.share_word ? local.held & bit(index) : local.held;
        if (fetch_or(span.has_words ? span.words[index] : span.pending, part) & part) {
          return Outcome::wrong("a slot was freed twice");
        }
        local.held &= static_cast<uint8_t>(~part);
        if (local.held != 0) return Outcome::moved();
      }
      local.held = 0;
      if (mutated(Mutation::kPurgeWithoutDelivery)) {
        local.holds = 0;
        local.step = Step::kPurgeReadNext;
      } else {
        local.after_deliver = Step::kPurgeReadNext;
        local.step = Step::kReadOwner;
      }
      return Outcome::moved();
    }
  }
}

}  // namespace hakozuna::hz8
