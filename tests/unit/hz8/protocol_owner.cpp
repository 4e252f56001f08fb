// The steps of who owns spans, or holds the lock of the orphans: collecting, giving back, making again, ending, adopting.
#include "unit/hz8/protocol_model.h"

namespace hakozuna::hz8 {

using test::Outcome;

// ---- collect_pending() -----------------------------------------------------------------------------------------------------

Outcome ProtocolModel::merge(State& state, int8_t index, uint8_t freed) const {
  Span& span = state.spans[index];
  const Local& purger = state.threads[kPurger];
  if (freed != 0 && purger.span == index && (purger.step == Step::kHoldWord || purger.step == Step::kRestoreBits)) {
    return Outcome::wrong("a slot is collected while its pages are returned");
  }
  if (span.place == Place::kNone) return Outcome::wrong("a released span is collected");
  if (span.free & freed) return Outcome::wrong("a slot is collected twice");
  span.free |= freed;
  return Outcome::moved();
}

// The exchange of `pending`; with words, of which it says what is to be collected.
Outcome ProtocolModel::collect(State& state, int thread, Step word_step, Step next_step) const {
  Local& local = state.threads[thread];
  Span& span = state.spans[local.span];
  constexpr uint8_t kWordsDone = 0x80;
  if (span.has_words && mutated(Mutation::kCollectWordsBeforeSummary) && local.mask != kWordsDone) {
    local.mask = kFreedSlots;
    local.step = word_step;
    return Outcome::moved();
  }
  const uint8_t mask = span.pending;
  span.pending = 0;
  local.step = next_step;
  if (!span.has_words) return merge(state, local.span, mask);
  if (local.mask == kWordsDone) {
    local.mask = 0;
  } else if (mask != 0) {
    local.mask = mask;
    local.step = word_step;
  }
  return Outcome::moved();
}

Outcome ProtocolModel::collect_word(State& state, int thread, Step collect_step, Step next_step) const {
  Local& local = state.threads[thread];
  Span& span = state.spans[local.span];
  const int index = local.mask & 1 ? 0 : 1;
  const uint8_t freed = span.words[index];
  span.words[index] = 0;
  local.mask &= static_cast<uint8_t>(~bit(index));
  if (local.mask == 0) {
    local.step = next_step;
    if (mutated(Mutation::kCollectWordsBeforeSummary)) {
      local.mask = 0x80;
      local.step = collect_step;
    }
  }
  return merge(state, local.span, freed);
}

// ---- collect_orphan() --------------------------------------------------------------------------------------------------

Outcome ProtocolModel::collect_orphan_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  Span& span = state.spans[local.span];
  switch (local.step) {
    case Step::kLockOrphans:
      if (state.lock_holder != kNobody) return Outcome::blocked();
      if (span.owner != kNobody && !mutated(Mutation::kNoCheckUnderLock)) {
        local.step = Step::kReadOwner;  // adopted meanwhile
        if (mutated(Mutation::kGiveUpAfterAdoption)) end_deliver(local, thread);
        return Outcome::moved();
      }
      state.lock_holder = static_cast<int8_t>(thread);
      local.step = span.place == Place::kOrphan || mutated(Mutation::kNoCheckUnderLock) ? Step::kCollectOrphan
                                                                                        : Step::kTokenBackOfOrphan;
      return Outcome::moved();
    case Step::kCollectOrphan:
      if (span.place != Place::kOrphan) return Outcome::wrong("a span is collected as an orphan that is none");
      return collect(state, thread, Step::kCollectOrphanWord, Step::kTokenBackOfOrphan);
    case Step::kCollectOrphanWord:
      return collect_word(state, thread, Step::kCollectOrphan, Step::kTokenBackOfOrphan);
    case Step::kTokenBackOfOrphan:
      span.queued = 0;
      local.holds = 0;
      local.step = Step::kLookAgainAtOrphan;
      return Outcome::moved();
    case Step::kLookAgainAtOrphan:
      if (span.pending != 0 && !mutated(Mutation::kNoSecondLook)) {
        local.step = Step::kTakeTokenOfOrphanAgain;
      } else if (span.place == Place::kOrphan) {
        local.step = Step::kPlaceOrphan;
      } else {
        leave_orphan(state, thread);
      }
      return Outcome::moved();
    case Step::kTakeTokenOfOrphanAgain:
      if (span.queued) {
        if (span.place == Place::kOrphan) {
          local.step = Step::kPlaceOrphan;
        } else {
          leave_orphan(state, thread);
        }
        return Outcome::moved();
      }
      span.queued = 1;
      local.holds = 1;
      if (span.place == Place::kOrphan) {
        local.step = Step::kCollectOrphan;
      } else {
        state.lock_holder = kNobody;
        local.step = Step::kReadOwner;
      }
      return Outcome::moved();
    default:  // kPlaceOrphan
      if (is_empty(span) && local.caller != Step::kPlaceOrphan) {
        local.caller = Step::kPlaceOrphan;
        local.step = Step::kTakeForRelease;
        return Outcome::moved();
      }
      local.caller = Step::kDone;  // not empty, or the token could not be had
      if (local.heap != kNobody) {
        span.place = Place::kInHeap;
        span.owner = local.heap;
      }
      leave_orphan(state, thread);
      return Outcome::moved();
  }
}

void ProtocolModel::leave_orphan(State& state, int thread) const {
  state.lock_holder = kNobody;
  end_deliver(state.threads[thread], thread);
}

// ---- collect_queue() -----------------------------------------------------------------------------------------------------

Outcome ProtocolModel::take_queue(State& state, int thread) const {
  Local& local = state.threads[thread];
  const bool remakes = options_.remake && thread == kOwner && state.spans[0].life == 1;
  if (local.chain == kNobody && state.queue[local.heap] == kNobody) {
    if (remakes && state.spans[0].place == Place::kNone && state.spans[0].queued == 0) {
      local.step = Step::kMakeState;
    } else if (remakes) {
      return Outcome::blocked();
    } else if (local.ending || (options_.owner_exits && thread == kOwner)) {
      local.ending = 1;
      local.step = Step::kMakeOrphan;
    } else {
      local.step = Step::kDone;
    }
    return Outcome::moved();
  }
  if (local.budget == 0 && !local.ending && options_.owner_exits && thread == kOwner && !remakes) {
    local.ending = 1;  // what is left of the chain is carried over to end_heap()
    if (mutated(Mutation::kEndWithoutCarried)) local.chain = kNobody;
    return Outcome::moved();
  }
  if (local.chain == kNobody) {
    local.chain = state.queue[local.heap];
    state.queue[local.heap] = kNobody;
  }
  local.step = Step::kReadNext;
  return Outcome::moved();
}

Outcome ProtocolModel::collect_queue_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  if (local.step == Step::kTakeQueue) return take_queue(state, thread);
  if (local.step == Step::kReadNext) {
    if (local.budget != 0) --local.budget;
    local.span = local.chain;
    local.holds = 1;
    local.late_next = mutated(Mutation::kReadNextAfterCollecting);
    local.chain = local.late_next ? kNobody : state.spans[local.span].queue_next;
    local.step = Step::kCheckOwner;
    return Outcome::moved();
  }
  Span& span = state.spans[local.span];
  const bool early_token = mutated(Mutation::kTokenBeforeCollecting);
  switch (local.step) {
    case Step::kCheckOwner:
      if (span.owner != local.heap && !mutated(Mutation::kNoOwnerCheckInQueue)) {
        if (local.late_next) local.chain = span.queue_next;
        local.late_next = 0;
        local.after_deliver = Step::kTakeQueue;  // pushed to an earlier user of this heap
        local.step = Step::kReadOwner;
      } else {
        local.step = early_token ? Step::kTokenBack : Step::kCollect;
      }
      return Outcome::moved();
    case Step::kCollect:
      if (span.owner != local.heap) return Outcome::wrong("a span is collected by who does not own it");
      return collect(state, thread, Step::kCollectWord, early_token ? Step::kPlace : Step::kTokenBack);
    case Step::kCollectWord:
      return collect_word(state, thread, Step::kCollect, early_token ? Step::kPlace : Step::kTokenBack);
    case Step::kTokenBack:
      span.queued = 0;
      local.holds = 0;
      local.step = early_token ? Step::kCollect : Step::kLookAgain;
      return Outcome::moved();
    case Step::kLookAgain:
      local.step = span.pending == 0 || mutated(Mutation::kNoSecondLook) ? Step::kPlace : Step::kTakeTokenAgain;
      return Outcome::moved();
    case Step::kTakeTokenAgain:
      if (span.queued) {
        local.step = Step::kPlace;
      } else {
        span.queued = 1;
        local.holds = 1;
        local.step = Step::kCollect;
      }
      return Outcome::moved();
    default:  // kPlace
      if (local.late_next) local.chain = span.queue_next;
      local.late_next = 0;
      if (is_empty(span) && local.caller != Step::kPlace) {
        local.caller = Step::kPlace;
        local.step = Step::kTakeForRelease;
        return Outcome::moved();
      }
      local.caller = Step::kDone;  // not empty, or on our queue again: then it stays in the heap until it is collected
      local.span = kNobody;
      local.step = Step::kTakeQueue;
      return Outcome::moved();
  }
}

// ---- unmake_span() -------------------------------------------------------------------------------------------------------

const char* ProtocolModel::not_releasable(const State& state, int8_t index) const {
  const Span& span = state.spans[index];
  if (span.pending != 0 || span.words[0] != 0 || span.words[1] != 0) return "a span is released with pending bits";
  for (const Local& local : state.threads) {
    if (local.span == index && local.held != 0) return "a span is released while pending bits are held";
  }
  return is_empty(span) ? nullptr : "a span with blocks is released";
}

Outcome ProtocolModel::release_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  Span& span = state.spans[local.span];
  switch (local.step) {
    case Step::kTakeForRelease:
      if (span.queued && !mutated(Mutation::kReleaseWithoutToken)) {
        local.step = local.caller;  // which goes on without
        return Outcome::moved();
      }
      if (const char* const what = not_releasable(state, local.span)) return Outcome::wrong(what);
      if (!mutated(Mutation::kReleaseWithoutToken)) {
        span.queued = 1;
        local.holds = 1;
      }
      local.step = Step::kForgetOwner;
      return Outcome::moved();
    case Step::kForgetOwner:
      span.owner = kNobody;
      local.step = Step::kForgetState;
      return Outcome::moved();
    case Step::kForgetState:
      span.place = Place::kNone;
      local.step = Step::kTokenBackOfReleased;
      return Outcome::moved();
    default: {  // kTokenBackOfReleased
      if (!mutated(Mutation::kReleaseWithoutToken)) span.queued = 0;
      local.holds = 0;
      const Step caller = local.caller;
      local.caller = Step::kDone;
      if (caller == Step::kPlaceOrphan) {
        leave_orphan(state, thread);
      } else {
        local.span = kNobody;
        local.step = caller == Step::kPlace ? Step::kTakeQueue : Step::kMakeOrphan;
      }
      return Outcome::moved();
    }
  }
}

// ---- make_span(), of a record that was a span before -------------------------------------------------------------------

Outcome ProtocolModel::make_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  Span& span = state.spans[0];
  if (local.step == Step::kMakeState) {
    if (span.pending != 0) return Outcome::wrong("pending bits are overwritten");
    span.has_words = options_.remake_with_words;
    span.free = kFreeSlot;  // the others are allocated at once
    span.place = Place::kInHeap;
    local.step = Step::kMakeOwner;
  } else {
    span.owner = local.heap;
    span.life = 2;
    local.step = Step::kTakeQueue;
  }
  return Outcome::moved();
}

// ---- end_heap() ------------------------------------------------------------------------------------------------------------

Outcome ProtocolModel::end_heap_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  switch (local.step) {
    case Step::kMakeOrphan:
      for (int8_t i = 0; i < kSpans; ++i) {
        Span& span = state.spans[i];
        if (span.place != Place::kInHeap || span.owner != local.heap) continue;
        if (is_empty(span) && local.caller != Step::kMakeOrphan) {
          local.span = i;
          local.caller = Step::kMakeOrphan;
          local.step = Step::kTakeForRelease;
          return Outcome::moved();
        }
        if (state.lock_holder != kNobody) return Outcome::blocked();
        // The insertion is seen by holders of the lock only; the store of the owner is the step.
        local.caller = Step::kDone;
        local.span = kNobody;
        span.place = Place::kOrphan;
        span.owner = kNobody;
        return Outcome::moved();
      }
      local.step = Step::kMoveToEnded;
      return Outcome::moved();
    case Step::kMoveToEnded:
      state.serving[local.heap] = 0;
      local.step = mutated(Mutation::kNoLateDelivery) ? Step::kDone : Step::kTakeLate;
      return Outcome::moved();
    case Step::kTakeLate:
      local.chain = state.queue[local.heap];
      state.queue[local.heap] = kNobody;
      if (!mutated(Mutation::kAdoptIntoEndedHeap)) local.heap = kNobody;
      local.step = Step::kReadLateNext;
      return Outcome::moved();
    default:  // kReadLateNext, deliver_all()
      if (local.chain == kNobody) {
        local.step = Step::kDone;
        return Outcome::moved();
      }
      local.span = local.chain;
      local.holds = 1;
      local.chain = state.spans[local.span].queue_next;
      local.after_deliver = Step::kReadLateNext;
      local.step = Step::kReadOwner;
      return Outcome::moved();
  }
}

// ---- adopt_orphan() --------------------------------------------------------------------------------------------------------

Outcome ProtocolModel::adopt_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  if (options_.adopter_has_owners_record) {
    // A record is used again when it has come to the list of ended heaps.
    if (state.serving[0] && state.threads[kOwner].heap == 0) return Outcome::blocked();
    if (!state.serving[0]) {
      state.serving[0] = 1;
      return Outcome::moved();
    }
  }
  if (state.lock_holder != kNobody) return Outcome::blocked();
  bool found = false;
  for (Span& span : state.spans) {
    if (found || span.place != Place::kOrphan) continue;
    span.place = Place::kInHeap;
    span.owner = local.heap;
    found = true;
  }
  if (!found && !others_done(state, thread)) return Outcome::blocked();  // looks again when there is one
  local.step = Step::kTakeQueue;
  return Outcome::moved();
}

}  // namespace hakozuna::hz8
