#include "unit/hz8/protocol_model.h"

namespace hakozuna::hz8 {

using test::Outcome;
using Step = ProtocolModel::Step;

namespace {

constexpr uint8_t bit(int index) { return static_cast<uint8_t>(1u << index); }

}  // namespace

ProtocolModel::State ProtocolModel::initial() const {
  State state;
  for (Span& span : state.spans) span.free = options_.has_free_slot ? 4 : 0;
  for (int freer : {kFreer0, kFreer1}) {
    state.threads[freer].step = Step::kClaim;
    if (options_.freers_have_heaps) state.threads[freer].heap = static_cast<int8_t>(2 + freer);
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
  if (step <= Step::kPush) return deliver_step(state, thread);
  if (step <= Step::kPlaceOrphan) return collect_orphan_step(state, thread);
  if (step <= Step::kPlace) return collect_queue_step(state, thread);
  if (step <= Step::kReadLateNext) return end_heap_step(state, thread);
  if (step == Step::kAdopt) return adopt_step(state, thread);
  return purge_step(state, thread);
}

// ---- remote_free() -----------------------------------------------------------------------------------------------------

Outcome ProtocolModel::free_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  local.span = span_of_job(thread, local.job);
  Span& span = state.spans[local.span];
  const int slot = slot_of_job(thread);
  if (span.place == Place::kReleased) return Outcome::wrong("a slot of a released span is freed");
  const auto set = [](uint8_t& word, int index) {
    const uint8_t before = word;
    word |= bit(index);
    return before;
  };

  bool has_token = false;
  if (!options_.two_words) {
    has_token = set(span.pending, slot) == 0;
  } else if (mutated(Mutation::kSetSummaryBeforeWord)) {
    if (local.step == Step::kClaim) {
      local.holds = set(span.pending, word_of(slot)) == 0;
      local.step = Step::kSetSummary;  // now the word
      return Outcome::moved();
    }
    set(span.words[word_of(slot)], slot);
    has_token = local.holds != 0;
  } else if (local.step == Step::kClaim) {
    if (set(span.words[word_of(slot)], slot) == 0) {
      local.step = Step::kSetSummary;
    } else {
      next_job(local);
    }
    return Outcome::moved();
  } else {
    has_token = set(span.pending, word_of(slot)) == 0;
  }
  if (has_token || mutated(Mutation::kPushOnEveryFree)) {
    local.holds = 1;
    begin_deliver(local, Step::kClaim);
  } else {
    next_job(local);
  }
  return Outcome::moved();
}

// ---- deliver() -----------------------------------------------------------------------------------------------------------

void ProtocolModel::end_deliver(Local& local) const {
  local.holds = 0;
  local.head = kNobody;
  local.target = kNobody;
  if (local.after_deliver == Step::kClaim) {
    next_job(local);
  } else {
    local.span = kNobody;
    local.step = local.after_deliver;
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
      if (span.place == Place::kReleased) return Outcome::wrong("a released span is pushed");
      state.queue[local.target] = local.span;
      end_deliver(local);
      return Outcome::moved();
  }
}

// ---- collect_pending() -----------------------------------------------------------------------------------------------------

Outcome ProtocolModel::merge(Span& span, uint8_t freed) const {
  if (span.place == Place::kReleased) return Outcome::wrong("a released span is collected");
  if (span.free & freed) return Outcome::wrong("a slot is collected twice");
  span.free |= freed;
  return Outcome::moved();
}

// The exchange of `pending`; with words, of which it says what is to be collected. (The mutation collects the words first.)
Outcome ProtocolModel::begin_collect(State& state, Local& local, Step word_step, Step place_step) const {
  Span& span = state.spans[local.span];
  if (options_.two_words && mutated(Mutation::kCollectWordsBeforeSummary) && local.mask == 0) {
    local.mask = 3;
    local.step = word_step;
    return Outcome::moved();
  }
  const uint8_t mask = span.pending;
  span.pending = 0;
  local.holds = 0;
  if (!options_.two_words) {
    local.step = place_step;
    return merge(span, mask);
  }
  if (mutated(Mutation::kCollectWordsBeforeSummary)) {
    local.mask = 0;
    local.step = place_step;
    return Outcome::moved();
  }
  local.mask = mask;
  local.step = mask ? word_step : place_step;
  return Outcome::moved();
}

Outcome ProtocolModel::collect_word(State& state, Local& local, Step place_step) const {
  Span& span = state.spans[local.span];
  const int index = local.mask & 1 ? 0 : 1;
  const uint8_t freed = span.words[index];
  span.words[index] = 0;
  local.mask &= static_cast<uint8_t>(~bit(index));
  if (local.mask == 0) {
    if (mutated(Mutation::kCollectWordsBeforeSummary)) {
      local.mask = 0x80;  // the words are done
      local.step = place_step == Step::kPlace ? Step::kCollect : Step::kCollectOrphan;
    } else {
      local.step = place_step;
    }
  }
  return merge(span, freed);
}

const char* ProtocolModel::release(Span& span) const {
  if (span.pending != 0 || span.words[0] != 0 || span.words[1] != 0) return "a span is released with pending bits";
  span.place = Place::kReleased;
  span.owner = kNobody;
  return nullptr;
}

// ---- collect_orphan() --------------------------------------------------------------------------------------------------

Outcome ProtocolModel::collect_orphan_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  Span& span = state.spans[local.span];
  switch (local.step) {
    case Step::kLockOrphans:
      if (state.lock_holder != kNobody) return Outcome::blocked();
      // Owners change from and to null under the lock only, so looking at it belongs to this step.
      if (span.owner != kNobody && !mutated(Mutation::kNoOwnerCheckUnderLock)) {
        local.step = Step::kReadOwner;  // adopted meanwhile
        if (mutated(Mutation::kGiveUpAfterAdoption)) end_deliver(local);
        return Outcome::moved();
      }
      state.lock_holder = static_cast<int8_t>(thread);
      local.step = Step::kCollectOrphan;
      return Outcome::moved();
    case Step::kCollectOrphan:
      if (span.place != Place::kOrphan) return Outcome::wrong("a span is collected as an orphan that is none");
      return begin_collect(state, local, Step::kCollectOrphanWord, Step::kPlaceOrphan);
    case Step::kCollectOrphanWord:
      return collect_word(state, local, Step::kPlaceOrphan);
    default:  // kPlaceOrphan
      state.lock_holder = kNobody;
      if (is_empty(span)) {
        if (const char* const what = release(span)) return Outcome::wrong(what);
      } else if (local.heap != kNobody) {
        span.place = Place::kInHeap;
        span.owner = local.heap;
      }
      end_deliver(local);
      return Outcome::moved();
  }
}

// ---- collect_queue() -----------------------------------------------------------------------------------------------------

Outcome ProtocolModel::collect_queue_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  switch (local.step) {
    case Step::kTakeQueue: {
      if (local.budget == 0 && !local.ending) {
        // What is left of the chain is carried over; the owner goes on in end_heap(), or sleeps.
        if (options_.owner_exits && thread == kOwner) {
          local.ending = 1;
          if (mutated(Mutation::kEndWithoutCarried)) local.chain = kNobody;
        } else if (local.chain == kNobody) {
          local.step = Step::kDone;
          return Outcome::moved();
        } else {
          local.budget = 1;  // a living thread comes back for the rest
        }
      }
      if (local.chain == kNobody) {
        if (state.queue[local.heap] == kNobody) {
          local.step = local.ending ? Step::kMakeOrphan : Step::kDone;
          if (!local.ending && options_.owner_exits && thread == kOwner) {
            local.budget = 0;
            local.step = Step::kTakeQueue;
          }
          return Outcome::moved();
        }
        local.chain = state.queue[local.heap];
        state.queue[local.heap] = kNobody;
      }
      local.step = Step::kReadNext;
      return Outcome::moved();
    }
    case Step::kReadNext:
      if (local.budget != 0) --local.budget;
      local.span = local.chain;
      local.holds = 1;
      local.late_next = mutated(Mutation::kReadNextAfterCollecting);
      local.chain = local.late_next ? kNobody : state.spans[local.span].queue_next;
      local.step = Step::kCheckOwner;
      return Outcome::moved();
    case Step::kCheckOwner:
      if (state.spans[local.span].owner != local.heap && !mutated(Mutation::kNoOwnerCheckInQueue)) {
        // Pushed to an earlier user of this heap.
        if (local.late_next) local.chain = state.spans[local.span].queue_next;
        local.late_next = 0;
        begin_deliver(local, Step::kTakeQueue);
      } else {
        local.step = Step::kCollect;
      }
      return Outcome::moved();
    case Step::kCollect:
      if (state.spans[local.span].owner != local.heap) return Outcome::wrong("a span is collected by who does not own it");
      return begin_collect(state, local, Step::kCollectWord, Step::kPlace);
    case Step::kCollectWord:
      return collect_word(state, local, Step::kPlace);
    default: {  // kPlace
      Span& span = state.spans[local.span];
      if (local.late_next) local.chain = span.queue_next;
      local.late_next = 0;
      if (is_empty(span)) {
        if (const char* const what = release(span)) return Outcome::wrong(what);
      }
      local.span = kNobody;
      local.mask = 0;
      local.step = Step::kTakeQueue;
      return Outcome::moved();
    }
  }
}

// ---- end_heap() ------------------------------------------------------------------------------------------------------------

Outcome ProtocolModel::end_heap_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  switch (local.step) {
    case Step::kMakeOrphan:
      for (Span& span : state.spans) {
        if (span.place != Place::kInHeap || span.owner != local.heap) continue;
        if (state.lock_holder != kNobody) return Outcome::blocked();
        // The insertion is seen by holders of the lock only; the store of the owner is the step.
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
      local.heap = kNobody;
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
      begin_deliver(local, Step::kReadLateNext);
      return Outcome::moved();
  }
}

// ---- adopt_orphan() --------------------------------------------------------------------------------------------------------

bool ProtocolModel::others_done(const State& state, int thread) const {
  for (int other = 0; other < kThreads; ++other) {
    const Step step = state.threads[other].step;
    if (other != thread && step != Step::kDone && step != Step::kAdopt && step != Step::kPurgeTake) return false;
  }
  return true;
}

Outcome ProtocolModel::adopt_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  // A record is used again after it has come to the list of ended heaps.
  if (options_.adopter_has_owners_record && state.serving[0] && state.threads[kOwner].heap == 0) return Outcome::blocked();
  if (options_.adopter_has_owners_record && state.serving[0] == 0) {
    state.serving[0] = 1;
    return Outcome::moved();
  }
  if (state.lock_holder != kNobody) return Outcome::blocked();
  for (Span& span : state.spans) {
    if (span.place != Place::kOrphan || span.free == 0) continue;
    span.place = Place::kInHeap;
    span.owner = local.heap;
    local.budget = 2;
    local.step = Step::kTakeQueue;
    return Outcome::moved();
  }
  if (!others_done(state, thread)) return Outcome::blocked();  // looks again when there is one
  local.budget = 2;
  local.step = Step::kTakeQueue;
  return Outcome::moved();
}

// ---- discard_pending_pages() -----------------------------------------------------------------------------------------------

Outcome ProtocolModel::purge_step(State& state, int thread) const {
  Local& local = state.threads[thread];
  if (local.step == Step::kPurgeTake) {
    if (state.queue[0] == kNobody) {
      if (!others_done(state, thread)) return Outcome::blocked();
      local.step = Step::kDone;
      return Outcome::moved();
    }
    local.chain = state.queue[0];
    if (!mutated(Mutation::kPurgeWithoutTaking)) state.queue[0] = kNobody;
    local.step = Step::kPurgeReadNext;
    return Outcome::moved();
  }
  if (local.chain == kNobody) {
    local.step = Step::kDone;
    return Outcome::moved();
  }
  local.span = local.chain;
  Span& span = state.spans[local.span];
  local.chain = span.queue_next;
  if (span.place == Place::kReleased) return Outcome::wrong("pages of a released span are discarded");
  if (mutated(Mutation::kPurgeWithoutDelivery)) {
    local.span = kNobody;
    return Outcome::moved();
  }
  local.holds = 1;
  begin_deliver(local, Step::kPurgeReadNext);
  return Outcome::moved();
}

}  // namespace hakozuna::hz8
