// What holds in every state of the model, and what must have come of it when all threads are done.
#include "unit/hz8/protocol_model.h"

namespace hakozuna::hz8 {

namespace {

constexpr int kLongestChain = ProtocolModel::kSpans;

}  // namespace

// A token is in one place: on a queue, in a chain a thread has taken, or with the thread that has the span at hand. And it exists exactly
// while the span has pending bits.
const char* ProtocolModel::broken(const State& state) const {
  int places[kSpans] = {};
  const auto walk = [&](int8_t first) {
    int length = 0;
    for (int8_t at = first; at != kNobody; at = state.spans[at].queue_next) {
      if (++length > kLongestChain) return false;
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
    if (span.pending != 0 && places[i] == 0) return "the token of a span is lost";
    if (span.pending == 0 && places[i] != 0) return "the token of a span with nothing pending";
    if (span.place == Place::kOrphan && span.owner != kNobody) return "an orphan with an owner";
    if (span.place == Place::kInHeap && span.owner == kNobody) return "a span of a heap without an owner";
    if (span.place == Place::kReleased && span.pending != 0) return "a released span with pending bits";
  }
  return nullptr;
}

// What living threads and reap_heaps() do sooner or later, one after the other.
const char* ProtocolModel::drain(State& state) const {
  const auto collect = [&](Span& span) -> const char* {
    uint8_t freed = span.pending;
    if (options_.two_words) {
      freed = 0;
      for (int i = 0; i < 2; ++i) {
        if (!(span.pending >> i & 1)) continue;
        freed |= span.words[i];
        span.words[i] = 0;
      }
    }
    if (span.free & freed) return "a slot is collected twice";
    span.free |= freed;
    span.pending = 0;
    return is_empty(span) ? release(span) : nullptr;
  };
  for (int round = 0; round < 8; ++round) {
    for (int heap = 0; heap < kHeaps; ++heap) {
      if (!state.serving[heap] && mutated(Mutation::kNoLateDelivery)) continue;
      int8_t chain = state.queue[heap];
      state.queue[heap] = kNobody;
      while (chain != kNobody) {
        Span& span = state.spans[chain];
        const int8_t next = span.queue_next;
        const char* what = nullptr;
        if (span.place == Place::kReleased) return "a released span is on a queue";
        if (span.owner == kNobody || (span.owner == heap && state.serving[heap])) {
          what = collect(span);
        } else {
          span.queue_next = state.queue[span.owner];
          state.queue[span.owner] = chain;
        }
        if (what) return what;
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
  for (const Span& span : state.spans) {
    if (span.pending != 0 || span.words[0] != 0 || span.words[1] != 0) return "a freed slot is never collected";
    if ((span.free & 3) != 3) return "a freed slot is lost";
    if ((span.place == Place::kReleased) == options_.keep_live) {
      return options_.keep_live ? "a span with a live block is released" : "an empty span is never released";
    }
  }
  return nullptr;
}

std::string ProtocolModel::describe(const State& state, int thread) const {
  static constexpr const char* kThreadNames[kThreads] = {"freer 0", "freer 1", "owner", "adopter", "purger"};
  static constexpr const char* kStepNames[] = {
      "done",       "claim",          "set summary",         "read owner",   "read queue",   "write queue_next",
      "push",       "lock orphans",   "collect orphan",      "collect word of orphan",       "place orphan",
      "take queue", "read queue_next", "check owner",        "collect",      "collect word", "place",
      "make orphan", "move to ended", "take late queue",     "read queue_next of late",      "adopt",
      "take queue to purge", "read queue_next to purge"};
  const Local& local = state.threads[thread];
  std::string text = std::string(kThreadNames[thread]) + ": " + kStepNames[static_cast<int>(local.step)];
  const int8_t span = local.step == Step::kClaim ? span_of_job(thread, local.job) : local.span;
  if (span != kNobody) text += " (span " + std::to_string(span) + ")";
  return text;
}

}  // namespace hakozuna::hz8
