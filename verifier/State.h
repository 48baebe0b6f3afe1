/// The contents of the buffers of all ranks at one moment of the symbolic run.
#pragma once

#include "verifier/IntervalMap.h"
#include "verifier/Placement.h"
#include "verifier/SymbolicValues.h"

#include <array>
#include <map>
#include <optional>
#include <string>

namespace colldsl::proof {

/// The value of some bytes, and the op that put it there (none: it was there at entry).
struct Held {
  Value value;
  Vertex writer = kNoVertex;
  Held tail(uint64_t skip) const { return {value.tail(skip), writer}; }
};

/// A length: a number at the sizes at hand, and the id of the length that the call chooses.
struct Length {
  uint64_t units = 0; ///< elements or bytes
  LengthId id = kFixedLength;
};

/// A write of a rank's bytes, or the new length of a block of capacity.
struct Change {
  Vertex writer = kNoVertex;
  BufferId root = kNoBuffer;
  uint64_t begin = 0;
  Piece piece;
  std::optional<std::pair<Slice, Length>> length;
};

class State {
public:
  /// At entry: in and inout buffers hold their entry values, all others nothing.
  State(const Model &model, const Placement &placement, Values &values);

  /// Calls see(begin, end, const Held *) for the bytes of an area, in order; null: nothing was
  /// ever written there.
  template <typename See> void visit(Rank rank, const Area &area, See see) const {
    memory_[index(rank)][index(area.root)].visit(area.begin, area.end, see);
  }

  void write(Rank rank, BufferId root, uint64_t begin, const Piece &piece, Vertex writer) {
    if (!changes_.empty() && writer != kNoVertex)
      changes_[index(rank)].push_back({writer, root, begin, piece, std::nullopt});
    memory_[index(rank)][index(root)].assign(begin, begin + piece.length, {piece.value, writer});
  }

  /// Elements that a block of a Capacity buffer holds; none: nothing has arrived yet.
  std::optional<Length> blockElements(Rank rank, const Slice &slice) const;
  void setBlockElements(Rank rank, const Slice &slice, Length elements, Vertex writer);

  /// Keeps the changes of all ranks from now on.
  void keepChanges() { changes_.resize(memory_.size()); }
  /// The changes of a rank, in the order of the run.
  const std::vector<Change> &changes(Rank rank) const { return changes_[index(rank)]; }
  void apply(Rank rank, const Change &change);
  /// True if data of two different lengths of the call arrived in the block one after the other.
  bool hadOtherLengths(Rank rank, const Slice &slice) const;

  /// Restricts the run to these lengths, because of what an op does at them. The first reason
  /// counts.
  void holdForTheseLengthsOnly(std::string why) {
    if (undecided_.empty())
      undecided_ = std::move(why);
  }
  const std::string &undecided() const { return undecided_; } ///< empty: it stands for all

private:
  using Lengths = std::vector<std::optional<Length>>;

  void enter(Rank rank, BufferId buffer, const Placement &placement, Values &values);
  void enterBlocks(Rank rank, BufferId buffer);
  void lendLength(Rank rank, BufferId alias);
  const Slice &ownerOf(Rank rank, const Slice &slice) const;

  const Model &model_;
  std::vector<std::vector<IntervalMap<Held>>> memory_; // per rank and buffer; roots are used
  std::vector<std::vector<Lengths>> lengths_;          // per rank and buffer; for Capacity
  std::map<std::array<uint32_t, 3>, bool> arrived_;    // by rank, buffer, block: at other lengths
  std::string undecided_;
  std::vector<std::vector<Change>> changes_; // per rank, if they are kept
};

} // namespace colldsl::proof
