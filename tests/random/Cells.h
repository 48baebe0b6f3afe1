/// Which operations of a rank touched each of its elements last. The length of a block of capacity
/// is a cell of its own, behind the block's elements.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

namespace colldsl::generated {

class Cells {
public:
  /// The first one of those that are new.
  int64_t add(int64_t count) {
    auto first = static_cast<int64_t>(writer_.size());
    writer_.resize(writer_.size() + static_cast<size_t>(count), -1);
    readers_.resize(writer_.size());
    return first;
  }

  /// Adds to `before` the operations that the reader must wait for.
  void read(int64_t cell, int64_t op, std::set<int64_t> &before) {
    auto c = static_cast<size_t>(cell);
    if (writer_[c] >= 0)
      before.insert(writer_[c]);
    readers_[c].push_back(op);
  }

  void write(int64_t cell, int64_t op, std::set<int64_t> &before) {
    auto c = static_cast<size_t>(cell);
    if (writer_[c] >= 0 && writer_[c] != op)
      before.insert(writer_[c]);
    for (int64_t reader : readers_[c])
      if (reader != op)
        before.insert(reader);
    readers_[c].clear();
    writer_[c] = op;
  }

private:
  std::vector<int64_t> writer_;               // per cell: the op that wrote it last; none: -1
  std::vector<std::vector<int64_t>> readers_; // since then
};

} // namespace colldsl::generated
