// What holds in every state of the model, and what must have come of it when all threads are done.
#include "unit/hz8/protocol_model.h"

namespace hakozuna::hz8 {

// A token is in one place: on a queue, in a chain a thread has taken, or with the thread that has the span at hand. And `queued` says that
// there is one.
const char* ProtocolModel::broken(const State& state) const {
  int places[kSpans] = {};
  const auto walk = [&](int8_t first) {
    int length = 0;
    for (int8_t at = first; at != kNobody; at = state.spans[at].queue_next) {
      if (++length > kSpans) return false;
      ++places[at];
    }
    return true;
  };
  for (const int8_t head : state.queue) {
    if (!walk(head)) return "a queue runs in a circle";
  }
  for (const Local& local : state.threads) {
    if (!walk(local.late_next ? state.spans[local.span].queue_next : local.chain)) return "a chain runs in a circle";
    if (local.holds) ++places[local.span];
  }
  for (int i = 0; i < kSpans; ++i) {
    const Span& span = state.spans[i];
    if (places[i] > 1) return "two hold the token of a span";
    if (span.queued && places[i] == 0) return "the token of a span is lost";
    if (!span.queued && places[i] != 0) return "a token is held that is not taken";
    if (span.place == Place::kOrphan && span.owner != kNobody) return "an orphan with an owner";
  }
  return nullptr;
}

// What living threads and reap_heaps() do sooner or later, one after the other.
const char* ProtocolModel::drain(State& state) const {
  const auto collect = [&](Span& span) -> const char* {
    span.queued = 0;
    uint8_t freed = span.pending;
    if (span.has_words) {
      freed = 0;
      for (int i = 0; i < 2; ++i) {
        if (!(span.pending >> i & 1)) continue;
        freed |= span.words[i];
        span.words[i] = 0;
      }
    }
    span.pending = 0;
    if (span.free & freed) return "a slot is collected twice";
    span.free |= freed;
    if (!is_empty(span)) return nullptr;
    span.place = Place::kNone;
    span.owner = kNobody;
    return nullptr;
  };
  for (int round = 0; round < 2 * kHeaps; ++round) {
    for (int heap = 0; heap < kHeaps; ++heap) {
      if (!state.serving[heap] && mutated(Mutation::kNoLateDelivery)) continue;
      int8_t chain = state.queue[heap];
      state.queue[heap] = kNobody;
      while (chain != kNobody) {
        Span& span = state.spans[chain];
        const int8_t next = span.queue_next;
        if (span.place == Place::kNone) return "a released span is on a queue";
        if (span.owner == kNobody || (span.owner == heap && state.serving[heap])) {
          if (const char* const what = collect(span)) return what;
        } else {
          span.queue_next = state.queue[span.owner];
          state.queue[span.owner] = chain;
        }
        chain = next;
      }
    }
  }
  return nullptr;
}

const char* ProtocolModel::broken_at_rest(State state) const {
  for (const Local& local : state.threads) {
    if (local.step != Step::kDone) return "a thread waits for ever";
    if (local.chain != kNobody) return "a thread forgets a chain";
  }
  if (state.lock_holder != kNobody) return "the lock is not released";
  if (const char* const what = drain(state)) return what;
  for (int i = 0; i < (options_.two_spans ? 2 : 1); ++i) {
    const Span& span = state.spans[i];
    if (span.pending != 0 || span.words[0] != 0 || span.words[1] != 0) return "a freed slot is never collected";
    if ((span.free & kFreedSlots) != kFreedSlots) return "a freed slot is lost";
    if (span.queued) return "a token stays";
    if (span.owner != kNobody && !state.serving[span.owner]) return "a living span belongs to an ended heap";
    if ((span.place == Place::kNone) == options_.keep_live) {
      return options_.keep_live ? "a span with a live block is released" : "an empty span is never released";
    }
  }
  return nullptr;
}

std::string ProtocolModel::describe(const State& state, int thread) const {
  static constexpr const char* kThreadNames[kThreads] = {"freer 0", "freer 1", "owner", "adopter", "purger"};
  static constexpr const char* kStepNames[] = {
      "done", "claim", "set summary", "read state", "read queued", "take token", "read owner", "read queue",
      "write queue_next", "push", "lock orphans", "collect orphan", "collect word of orphan",
      "token back of orphan", "look again at orphan", "take token of orphan again", "place orphan",
      "take queue", "read queue_next", "check owner", "collect", "collect word", "token back", "look again", "take token again", "place", "take token for release", "forget owner", "forget state",
      "token back of released", "make state", "make owner", "make orphan", "move to ended", "take late queue",
      "read queue_next of late", "adopt", "look for pending", "take slot", "check class", "put back",
      "take queue to purge", "read queue_next to purge", "hold bits", "hold word", "restore bits"};
  static_assert(sizeof kStepNames / sizeof *kStepNames == static_cast<size_t>(Step::kRestoreBits) + 1);
  const Local& local = state.threads[thread];
  std::string text = std::string(kThreadNames[thread]) + ": " + kStepNames[static_cast<int>(local.step)];
  if (local.span != kNobody) text += " (span " + std::to_string(local.span) + ")";
  return text;
}

}  // namespace hakozuna::hz8
