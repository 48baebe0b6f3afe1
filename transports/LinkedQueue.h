/// A queue of objects that are linked by their own member `next`.
#pragma once

namespace colldsl {

/// First in, first out.
template <typename T> class LinkedQueue {
public:
  bool empty() const { return !head_; }
  T *front() const { return head_; }

  void push(T &item) {
    item.next = nullptr;
    (head_ ? tail_->next : head_) = &item;
    tail_ = &item;
  }

  void pushFront(T &item) {
    item.next = head_;
    if (!head_)
      tail_ = &item;
    head_ = &item;
  }

  void pop() { head_ = head_->next; }

protected:
  T *head_ = nullptr;
  T *tail_ = nullptr;
};

} // namespace colldsl
