/// A first-in first-out list of records of a table, linked through a field of the
/// records: no allocation, constant-time push and pop.
#pragma once

#include <cstdint>
#include <vector>

namespace colldsl::shm {

inline constexpr uint32_t kEndOfList = 0xffffffffu;

/// Record has a field `uint32_t next`; a record is on one list at a time.
class IndexList {
public:
  bool empty() const { return head_ == kEndOfList; }
  uint32_t front() const { return head_; }

  template <typename Record> void push(std::vector<Record> &table, uint32_t i) {
    table[i].next = kEndOfList;
    (empty() ? head_ : table[tail_].next) = i;
    tail_ = i;
  }

  template <typename Record> void pop(std::vector<Record> &table) { head_ = table[head_].next; }

  /// Takes those out for which visit(index) is true. visit may push the index to
  /// another list.
  template <typename Record, typename Visit>
  void removeIf(std::vector<Record> &table, Visit visit) {
    uint32_t before = kEndOfList;
    for (uint32_t i = head_; i != kEndOfList;) {
      uint32_t next = table[i].next;
      if (!visit(i)) {
        before = i;
      } else {
        (before == kEndOfList ? head_ : table[before].next) = next;
        if (next == kEndOfList)
          tail_ = before;
      }
      i = next;
    }
  }

private:
  uint32_t head_ = kEndOfList;
  uint32_t tail_ = kEndOfList;
};

} // namespace colldsl::shm
