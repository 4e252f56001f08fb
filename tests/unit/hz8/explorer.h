// Visits every state that a model of concurrent threads can reach, one step of one thread at a time.
//
// A model has
//   struct State                          plain bytes without padding, comparable with memcmp
//   static constexpr int kThreads
//   State initial() const
//   Outcome step(State&, int thread)      does the thread's next step, or says that it cannot now
//   const char* broken(const State&)      which invariant does not hold; null if all do
//   const char* broken_at_rest(State)     the same for a state in which no thread can move any more
//   std::string describe(State, thread)   the step the thread would do next, for the trace
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace hakozuna::test {

struct Outcome {
  enum class Kind { kMoved, kBlocked, kWrong };
  Kind kind;
  const char* what = nullptr;  // of kWrong

  static Outcome moved() { return {Kind::kMoved}; }
  static Outcome blocked() { return {Kind::kBlocked}; }
  static Outcome wrong(const char* text) { return {Kind::kWrong, text}; }
};

struct Exploration {
  size_t states = 0;
  size_t resting_states = 0;
  std::string violation;           // empty if there is none
  std::vector<std::string> trace;  // the steps that lead to it
};

template <class Model>
class Explorer {
 public:
  using State = typename Model::State;
  static_assert(std::has_unique_object_representations_v<State>, "compared by its bytes");

  explicit Explorer(const Model& model) : model_(model) {}

  Exploration run() {
    enter(model_.initial());
    while (!path_.empty() && result_.violation.empty()) {
      Frame& frame = path_.back();
      if (frame.next_thread == Model::kThreads) {
        leave(frame);
        continue;
      }
      const int thread = frame.next_thread++;
      State next = frame.state;
      const Outcome outcome = model_.step(next, thread);
      if (outcome.kind == Outcome::Kind::kBlocked) continue;
      frame.moved = true;
      if (outcome.kind == Outcome::Kind::kWrong) {
        report(outcome.what);
      } else if (seen_.insert(next).second) {
        enter(next);
      }
    }
    result_.states = seen_.size();
    return result_;
  }

 private:
  struct Frame {
    State state;
    int next_thread = 0;
    bool moved = false;
  };
  struct Hash {
    size_t operator()(const State& state) const {
      return std::hash<std::string_view>()({reinterpret_cast<const char*>(&state), sizeof state});
    }
  };
  struct Equal {
    bool operator()(const State& a, const State& b) const { return std::memcmp(&a, &b, sizeof a) == 0; }
  };

  void enter(const State& state) {
    seen_.insert(state);
    path_.push_back({state});
    if (const char* const what = model_.broken(state)) report(what);
  }

  void leave(const Frame& frame) {
    if (!frame.moved) {
      ++result_.resting_states;
      if (const char* const what = model_.broken_at_rest(frame.state)) return report(what);
    }
    path_.pop_back();
  }

  void report(const char* what) {
    result_.violation = what;
    for (const Frame& frame : path_) {
      if (frame.next_thread == 0 || !frame.moved) break;
      result_.trace.push_back(model_.describe(frame.state, frame.next_thread - 1));
    }
  }

  const Model& model_;
  Exploration result_;
  std::vector<Frame> path_;
  std::unordered_set<State, Hash, Equal> seen_;
};

}  // namespace hakozuna::test
