#include "common/base/list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>

#include "support/random.h"

namespace hakozuna {
namespace {

struct Element {
  Element* next = nullptr;
  Element* previous = nullptr;
};

void expect_same(const List<Element>& list, const std::deque<Element*>& expected) {
  ASSERT_EQ(list.empty(), expected.empty());
  ASSERT_EQ(list.first(), expected.empty() ? nullptr : expected.front());
  ASSERT_EQ(list.last(), expected.empty() ? nullptr : expected.back());
  const Element* previous = nullptr;
  const Element* at = list.first();
  for (const Element* element : expected) {
    ASSERT_EQ(at, element);
    ASSERT_EQ(at->previous, previous);
    previous = at;
    at = at->next;
  }
  ASSERT_EQ(at, nullptr);
}

TEST(List, EmptyHasNothingToPop) {
  List<Element> list;
  expect_same(list, {});
  EXPECT_EQ(list.pop_front(), nullptr);
}

TEST(List, OneElementIsBothEnds) {
  List<Element> list;
  Element element;
  list.push_back(&element);
  expect_same(list, {&element});
  list.remove(&element);
  expect_same(list, {});
  list.push_front(&element);
  EXPECT_EQ(list.pop_front(), &element);
  expect_same(list, {});
}

TEST(List, RemovedElementsHaveNoLinks) {
  List<Element> list;
  std::array<Element, 3> elements;
  for (Element& element : elements) list.push_back(&element);
  list.remove(&elements[1]);
  EXPECT_EQ(elements[1].next, nullptr);
  EXPECT_EQ(elements[1].previous, nullptr);
  expect_same(list, {&elements[0], &elements[2]});
}

TEST(List, ResetLeavesTheElementsAlone) {
  List<Element> list;
  std::array<Element, 2> elements;
  for (Element& element : elements) list.push_back(&element);
  list.reset();
  expect_same(list, {});
  EXPECT_EQ(elements[0].next, &elements[1]);
}

TEST(List, RandomOperationsAgreeWithADeque) {
  test::Random random(3);
  std::array<Element, 20> elements;
  std::deque<Element*> away;
  for (Element& element : elements) away.push_back(&element);
  List<Element> list;
  std::deque<Element*> expected;
  for (int i = 0; i < 20000; ++i) {
    switch (random.below(4)) {
      case 0:
        if (away.empty()) break;
        list.push_front(away.back());
        expected.push_front(away.back());
        away.pop_back();
        break;
      case 1:
        if (away.empty()) break;
        list.push_back(away.back());
        expected.push_back(away.back());
        away.pop_back();
        break;
      case 2:
        if (expected.empty()) break;
        away.push_back(expected.front());
        ASSERT_EQ(list.pop_front(), expected.front());
        expected.pop_front();
        break;
      default:
        if (expected.empty()) break;
        const auto at =
            expected.begin() + static_cast<std::ptrdiff_t>(random.below(expected.size()));
        list.remove(*at);
        away.push_back(*at);
        expected.erase(at);
    }
    expect_same(list, expected);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace hakozuna
