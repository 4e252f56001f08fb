// An intrusive doubly linked list: the links are members of the elements, nothing is allocated.
#pragma once

namespace hakozuna {

// T has members `T* next` and `T* previous` which belong to the list while the element is on it. Not synchronised.
// Invariant: first == null iff last == null; first->previous == null; last->next == null.
template <class T>
class List {
 public:
  bool empty() const { return first_ == nullptr; }
  T* first() const { return first_; }
  T* last() const { return last_; }

  void push_front(T* element) {
    element->previous = nullptr;
    element->next = first_;
    (first_ ? first_->previous : last_) = element;
    first_ = element;
  }

  void push_back(T* element) {
    element->next = nullptr;
    element->previous = last_;
    (last_ ? last_->next : first_) = element;
    last_ = element;
  }

  void remove(T* element) {
    (element->previous ? element->previous->next : first_) = element->next;
    (element->next ? element->next->previous : last_) = element->previous;
    element->next = nullptr;
    element->previous = nullptr;
  }

  T* pop_front() {
    T* const element = first_;
    if (element) remove(element);
    return element;
  }

  // Forgets the elements without touching them: for a list whose links cannot be trusted any more.
  void reset() { first_ = last_ = nullptr; }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace hakozuna
