/// Where the elements of all buffers lie: each rank has one row of cells, of an element each.
/// Buffers that lie in others share their cells.
#pragma once

#include "ir/Schedule.h"
#include "tests/mutation/Tokens.h"

#include <optional>

namespace colldsl::mutation {

/// Cells [begin, begin + length) of a rank.
struct Cells {
  uint32_t begin = 0;
  uint32_t length = 0;
};

/// The length of a block whose length travels, in elements; negative: none yet.
using BlockLength = int64_t;
inline constexpr BlockLength kNoLength = -1;

/// Of one rank. All elements have 4 bytes.
class Storage {
public:
  static constexpr uint64_t kElementBytes = 4;

  /// Tokens are made for what buffers hold at entry. Dag and sizes outlive it.
  Storage(const Dag &dag, const Sizes &sizes, Tokens &tokens);

  /// Cells of a slice, of a block with this length; none: some of it is in no buffer.
  std::optional<Cells> locate(const Slice &slice, BlockLength length = kNoLength) const;
  /// The same with the block's length at entry.
  std::optional<Cells> locateAtEntry(const Slice &slice) const;
  /// The room of the whole block; of slices for which travels() holds.
  std::optional<Cells> roomOf(const Slice &slice) const;

  /// Whether the length of the slice's block travels with messages.
  bool travels(const Slice &slice) const;
  /// Index of the length of the slice's block in entryLengths(); such blocks only.
  uint32_t lengthIndex(const Slice &slice) const {
    return firstLengths_[index(slice.buffer)] + slice.block;
  }

  const std::vector<Token> &entry() const { return entry_; }
  const std::vector<BlockLength> &entryLengths() const { return entryLengths_; }
  /// Per cell: whether ops may write there. Temporaries are free, parameters where promised.
  const std::vector<bool> &mayWrite() const { return mayWrite_; }

private:
  struct Home {
    int64_t begin = 0; ///< cell
    int64_t length = 0;
  };

  Home homeOf(BufferId buffer) const;
  int64_t extent(BufferId buffer) const;
  bool isUsable(const Slice &slice) const;
  void fill(BufferId buffer, const std::vector<Token> &tokens);
  void lendLength(const Buffer &alias);
  void allowWrites();

  const Dag &dag_;
  const Sizes &sizes_;
  std::vector<int64_t> ownBegins_; // per buffer with storage of its own
  std::vector<Home> homes_;        // per buffer
  std::vector<uint32_t> firstLengths_;
  std::vector<Token> entry_;
  std::vector<BlockLength> entryLengths_;
  std::vector<bool> mayWrite_;
};

} // namespace colldsl::mutation
