/// Values of expressions of the checked program, besides plain ints.
#pragma once

#include "instantiate/ArgumentValue.h"
#include "instantiate/dependence/ValidityRange.h"
#include "ir/Slice.h"
#include "program/Program.h"

#include <deque>
#include <span>
#include <vector>

namespace colldsl {

/// Arithmetic of the language. False on overflow of 64 bits, and for the one value that stands for
/// none (kNone).
inline bool addInts(int64_t a, int64_t b, int64_t &sum) {
  return !__builtin_add_overflow(a, b, &sum) && sum != kNone;
}
inline bool subtractInts(int64_t a, int64_t b, int64_t &difference) {
  return !__builtin_sub_overflow(a, b, &difference) && difference != kNone;
}
inline bool multiplyInts(int64_t a, int64_t b, int64_t &product) {
  return !__builtin_mul_overflow(a, b, &product) && product != kNone;
}

/// Values named by handles 0, 1, ...: their addresses last, and clear() keeps their
/// memory. Value has reset(), which empties it.
template <typename Value> class Pool {
public:
  int64_t next() {
    if (used_ == values_.size())
      values_.emplace_back();
    values_[used_].reset();
    return static_cast<int64_t>(used_++);
  }
  Value &operator[](int64_t handle) { return values_[static_cast<size_t>(handle)]; }
  void clear() { used_ = 0; }

private:
  std::deque<Value> values_;
  size_t used_ = 0;
};

/// The layout of the blocks of a two-dimensional slice.
enum class BlockShape : uint8_t { None, Equal, Counts, CallTime, Capacity };

/// Elements [begin, end) of a buffer, or of one of its CallTime or Capacity blocks.
struct SliceValue {
  Position begin, end;
  BufferId buffer = kNoBuffer;
  uint32_t block = kNoBlock;
  ElementType type = ElementType::I32;
  BlockShape shape = BlockShape::None;
  uint32_t blocks = 0;    ///< of a two-dimensional slice
  int64_t prefix = kNone; ///< Counts: an IntList handle, blocks + 1 positions from begin
  Position stride{};      ///< Equal: from one block to the next, exactly; denominator unused

  bool inBlock() const { return block != kNoBlock; }
  bool isWholeBuffer2d() const {
    return shape == BlockShape::CallTime || shape == BlockShape::Capacity;
  }
  int64_t length() const { return end.at - begin.at; }

  /// Cuts the slice into so many blocks of one length, of whole elements each.
  void setEqualBlocks(uint32_t count) {
    shape = BlockShape::Equal;
    blocks = count;
    if (count != 0)
      stride = {(end.scale - begin.scale) / count, (end.offset - begin.offset) / count, 1,
                length() / count};
  }
};

/// The value of a size symbol: floor(end) - floor(begin).
struct SizeExtent {
  Position begin, end;
  bool bound = false;
  bool callTime = false; ///< the length of a block that is known at call time only
  int64_t value() const { return end.at - begin.at; }
};

/// A tree or a graph is its declaration and its arguments. The view of one rank on it is worked out
/// on request, in the group that asks.
struct StructureView {
  const Rank *groupMembers = nullptr; ///< the group whose view, as `rank`, is cached
  uint32_t groupSize = 0;
  int64_t rank = kNone;
};

struct TreeValue {
  DeclId decl = kNoDecl; ///< kNoDecl: given
  const GivenTree *given = nullptr;
  std::vector<int64_t> args;
  int64_t at = kNone; ///< as this rank sees it; kNone: as the asking rank does

  StructureView view;
  int64_t parent = kNone;
  std::vector<int64_t> children;

  void reset() {
    decl = kNoDecl;
    given = nullptr;
    args.clear();
    at = kNone;
    view = {};
  }
};

struct EdgeValue {
  int64_t peer = kNone;
  int64_t key = 0;
  int64_t weight = 1;
  uint32_t ordinal = 0; ///< earlier edges of this direction with this peer and key
};

struct GraphValue {
  DeclId decl = kNoDecl; ///< kNoDecl: given, or read from a file
  const GivenGraph *given = nullptr;
  uint32_t file = 0; ///< index of the loaded edge list
  SourceLoc madeAt;  ///< of one that a declaration makes
  std::vector<int64_t> args;
  int64_t at = kNone;

  StructureView view;
  std::vector<EdgeValue> edges[2]; ///< out, in

  void reset() {
    given = nullptr;
    at = kNone;
    view = {};
  }
};

struct IntList : std::vector<int64_t> {
  void reset() { clear(); }
};

/// An edge handle: graph, direction, slot.
struct EdgeRef {
  uint32_t graph;
  bool in;
  uint32_t slot;
  int64_t handle() const {
    return static_cast<int64_t>(graph) << 32 | (in ? int64_t{1} << 31 : 0) | slot;
  }
  static EdgeRef of(int64_t handle) {
    return {static_cast<uint32_t>(handle >> 32), (handle >> 31 & 1) != 0,
            static_cast<uint32_t>(handle & 0x7fffffff)};
  }
};

} // namespace colldsl
