/// The places of slices: every slice of every rank as bytes of a *root*, a buffer that has storage
/// of its own. Buffers that are part of another one (aliasOf) share its root, so that all proofs
/// see one name per byte.
#pragma once

#include "verifier/Model.h"

namespace colldsl::proof {

/// The reason why a slice names no bytes.
enum class Fault : uint8_t {
  None,
  NoBuffer,
  NotSignificant,
  NoBlock,
  PartOfBlock, ///< part of a block whose length travels
  NoSizes,
  Outside
};

/// Bytes [begin, end) of a root.
struct Area {
  BufferId root = kNoBuffer;
  Fault fault = Fault::None; ///< not None: the area is empty
  /// A block whose length travels with a message: the area is all the block may hold.
  bool hasCapacity = false;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t length() const { return end - begin; }
  bool empty() const { return begin == end; }
};

class Placement {
public:
  explicit Placement(const Model &model);

  std::span<const Area> sources(Vertex v) const;
  std::span<const Area> targets(Vertex v) const;

  /// The area of a slice, which need not belong to an op.
  Area locate(Rank rank, const Slice &slice) const;
  /// Variant of locate() with a block of capacity at the length that it has in Sizes.
  Area locateAtEntry(Rank rank, const Slice &slice) const;
  /// Bytes of a slice of a block of capacity that holds `elements` at the time.
  Area locateInBlock(Rank rank, const Slice &slice, uint64_t elements) const;

  /// The length on which the existence of a byte depends: that of its block [*], if the call
  /// chooses it, else kFixedLength. A block of capacity exists in full whatever it holds.
  LengthId lengthAt(Rank rank, BufferId root, uint64_t byte) const;

  /// All bytes of a buffer, in its root.
  Area whole(Rank rank, BufferId buffer) const { return wholes_[index(rank)][index(buffer)]; }

private:
  Area placeBuffer(Rank rank, const Buffer &buffer, BufferId id) const;

  const Model &model_;
  std::vector<std::vector<Area>> wholes_; // per rank and buffer
  std::vector<std::vector<Area>> areas_;  // per rank and entry of Dag::slices
};

/// The table of a block buffer, or null if none was given.
const BlockTable *blockTable(const Sizes &sizes, BufferId buffer);

/// Bytes that a block of a Capacity buffer may hold.
uint64_t capacityBytes(const Buffer &buffer, const Sizes &sizes);

} // namespace colldsl::proof
