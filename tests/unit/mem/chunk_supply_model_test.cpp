// Random operations on the supply against a model that knows every page, and by several threads at once.
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "support/random.h"
#include "unit/mem/supply_fixture.h"
#include "unit/sanitizers.h"

namespace hakozuna::mem {
namespace {

// The first word of each page tells who wrote it.
uint64_t& word_of(char* page) { return *reinterpret_cast<uint64_t*>(page); }

class ModelTest : public SupplyTest {
 protected:
  enum class State : uint8_t { kUntouched, kResident, kReturned };
  struct Page {
    State state = State::kUntouched;
    uint64_t written = 0;
  };

  void allocate_one() {
    const auto order = static_cast<uint32_t>(random_.below(kMaxRunOrder + 1));
    char* const run = allocate(order);
    const auto next = used_.lower_bound(run);
    ASSERT_TRUE(next == used_.end() || run + bytes_of(order) <= next->first);
    if (next != used_.begin()) {
      const auto before = std::prev(next);
      ASSERT_LE(before->first + bytes_of(before->second), run);
    }
    used_[run] = order;
    for (char* page = run; page < run + bytes_of(order); page += page_) {
      Page& model = pages_[page];
      // What was purged, or never touched, is zero; the rest is as it was.
      if (supply_.presence(page, page_) == ChunkSupply::Presence::kAll) {
        ASSERT_EQ(model.state, State::kResident);
        ASSERT_EQ(word_of(page), model.written);
      } else {
        if (model.state == State::kResident) model.state = State::kReturned;  // by a purge while it was free
        model.written = 0;
      }
    }
  }

  std::map<char*, uint32_t>::iterator any_run() {
    auto at = used_.begin();
    std::advance(at, random_.below(used_.size()));
    return at;
  }

  void release_one() {
    if (used_.empty()) return;
    const auto at = any_run();
    release(at->first, at->second, now_);
    used_.erase(at);
  }

  void write_some() {
    if (used_.empty()) return;
    const auto [run, order] = *any_run();
    char* const page = run + random_.below(bytes_of(order) / page_) * page_;
    supply_.mark_resident(page, page_);
    word_of(page) = random_.next();
    pages_[page] = {State::kResident, word_of(page)};
  }

  void discard_some() {
    if (used_.empty()) return;
    const auto [run, order] = *any_run();
    const size_t count = bytes_of(order) / page_;
    const size_t first = random_.below(count);
    const size_t length = 1 + random_.below(count - first);
    supply_.discard(run + first * page_, length * page_);
    for (size_t i = first; i < first + length; ++i) {
      Page& model = pages_[run + i * page_];
      if (model.state == State::kResident) model.state = State::kReturned;
      model.written = 0;
    }
  }

  void check_contents() {
    for (const auto& [run, order] : used_) {
      ChunkSupply::Residency expected;
      for (char* page = run; page < run + bytes_of(order); page += page_) {
        const Page& model = pages_[page];
        (model.state == State::kResident   ? expected.resident
         : model.state == State::kReturned ? expected.returned
                                           : expected.untouched) += page_;
        ASSERT_TRUE(model.state == State::kUntouched || word_of(page) == model.written);
      }
      const ChunkSupply::Residency found = supply_.residency(run, order);
      ASSERT_EQ(found.resident, expected.resident);
      ASSERT_EQ(found.returned, expected.returned);
      ASSERT_EQ(found.untouched, expected.untouched);
    }
  }

  void check_totals() {
    const ChunkSupply::Totals totals = supply_.totals();
    uint64_t used = 0;
    for (const auto& run : used_) used += bytes_of(run.second);
    ASSERT_EQ(totals.committed_runs, used + totals.free_runs.resident + totals.free_runs.returned +
                                         totals.free_runs.untouched);
  }

  const size_t page_ = os::page_bytes();
  test::Random random_{5};
  uint64_t now_ = 1000;
  std::map<char*, uint32_t> used_;
  std::map<char*, Page> pages_;
};

TEST_F(ModelTest, RandomOperations) {
  const int rounds = test::kSanitizer ? 4000 : 20000;
  for (int i = 0; i < rounds && !HasFatalFailure(); ++i) {
    now_ += random_.below(3);
    const uint64_t choice = random_.below(100);
    if (choice < 20 && used_.size() < 60) {
      allocate_one();
    } else if (choice < 40) {
      release_one();
    } else if (choice < 85) {
      write_some();
    } else if (choice < 95) {
      discard_some();
    } else {
      supply_.purge(now_, 50, choice % 2 == 0 ? kRetainNothing : 4 * kChunkBytes);
    }
    if (i % 50 == 0) check_contents();
    check_totals();
  }
  for (const auto& [run, order] : used_) release(run, order, now_);
  used_.clear();
  supply_.purge(now_, 0, kRetainNothing);
  check_totals();
  EXPECT_EQ(supply_.totals().free_runs.resident, 0u);
}

TEST_F(SupplyTest, ThreadsNeverShareARun) {
  constexpr int kThreads = 4;
  const int rounds = test::kThreadSanitizer ? 2000 : 20000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t, rounds] {
      test::Random random(static_cast<uint64_t>(t));
      struct Held {
        char* run;
        uint32_t order;
        uint64_t mark;
      };
      std::vector<Held> held;
      const auto give_back = [&](size_t index) {
        const Held one = held[index];
        EXPECT_EQ(word_of(one.run), one.mark);
        EXPECT_EQ(word_of(one.run + bytes_of(one.order) - os::page_bytes()), one.mark);
        supply_.release_run(one.run, one.order, static_cast<uint64_t>(random.below(1000)), kRetainNothing);
        held[index] = held.back();
        held.pop_back();
      };
      for (int i = 0; i < rounds; ++i) {
        if (held.size() < 12 && !random.one_in(3)) {
          const auto order = static_cast<uint32_t>(random.below(kMaxRunOrder + 1));
          char* const run = supply_.allocate_run(order, kNoLimit);
          ASSERT_NE(run, nullptr);
          const uint64_t mark = random.next();
          for (char* page : {run, run + bytes_of(order) - os::page_bytes()}) {
            supply_.mark_resident(page, 8);
            word_of(page) = mark;
          }
          held.push_back({run, order, mark});
        } else if (!held.empty()) {
          give_back(random.below(held.size()));
        }
        if (i % 64 == 0) supply_.purge(1000, 0, kRetainNothing);
      }
      while (!held.empty()) give_back(0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  supply_.purge(1000, 0, kRetainNothing);
  const ChunkSupply::Totals totals = supply_.totals();
  EXPECT_EQ(totals.free_runs.resident, 0u);
  EXPECT_EQ(totals.free_runs.returned + totals.free_runs.untouched, totals.committed_runs);
  // Everything was joined again: all of it can be had in blocks without another byte.
  for (uint64_t i = 0; i < totals.committed_runs / bytes_of(kMaxRunOrder); ++i) allocate(kMaxRunOrder);
  EXPECT_EQ(supply_.totals().committed_runs, totals.committed_runs);
}

}  // namespace
}  // namespace hakozuna::mem
