/// Stack memory for the slots of frames. Allocated values do not move.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace colldsl {

template <typename Value> class SlotStack {
public:
  struct Mark {
    uint32_t chunk;
    Value *top;
  };

  SlotStack() { addChunk(kFirstChunk); }

  Mark mark() const { return {chunk_, top_}; }
  void release(Mark mark) {
    top_ = mark.top;
    if (chunk_ != mark.chunk) {
      chunk_ = mark.chunk;
      end_ = chunks_[chunk_].get() + sizes_[chunk_];
    }
  }

  /// Space for `count` uninitialized values, until an older mark is released.
  Value *push(size_t count) {
    if (count > static_cast<size_t>(end_ - top_))
      nextChunk(count);
    Value *begin = top_;
    top_ += count;
    return begin;
  }

private:
  static constexpr size_t kFirstChunk = 8; // most programs of the standard library need no more

  void nextChunk(size_t count) {
    do
      ++chunk_;
    while (chunk_ < chunks_.size() && sizes_[chunk_] < count);
    if (chunk_ == chunks_.size())
      return addChunk(std::max(count, kFirstChunk << std::min(chunk_, 16u)));
    top_ = chunks_[chunk_].get();
    end_ = top_ + sizes_[chunk_];
  }

  void addChunk(size_t size) {
    chunks_.push_back(std::make_unique<Value[]>(size));
    sizes_.push_back(size);
    top_ = chunks_.back().get();
    end_ = top_ + size;
  }

  std::vector<std::unique_ptr<Value[]>> chunks_;
  std::vector<size_t> sizes_;
  uint32_t chunk_ = 0;
  Value *top_ = nullptr;
  Value *end_ = nullptr;
};

} // namespace colldsl
