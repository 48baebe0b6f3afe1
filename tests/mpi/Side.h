/// The blocks that one side of a call gives: their counts, types, places, memory.
#pragma once

#include "tests/mpi/Datatypes.h"

#include <memory>
#include <string>

namespace conformance {

/// What blocks are made of; all ranks agree on it.
struct Data {
  /// Datatypes of any shape, or plain ones.
  bool anyShape = false;
  /// Blocks of as many as this times `elements` elements of a pattern; without a least, of none.
  int mostCount = 8, leastCount = 0;
  int elements = 1;
  /// Sizes of blocks and patterns are drawn from it.
  uint64_t key = 0;
  /// Calls that differ in it alone have the same patterns, and blocks of other sizes.
  uint64_t turn = 0;
};
int drawSize(const Data &data, Random random);
/// Of blocks that have no types of their own.
const Pattern &patternOf(const Data &data);

/// What one side of a call is given. Each list has at least one entry, and beyond that as many as
/// the operation reads.
struct SideArguments {
  void *buffer;
  std::vector<int> counts, displacements;
  /// Where each block has a type: displacements in bytes.
  std::vector<MPI_Aint> byteDisplacements;
  std::vector<MPI_Datatype> types;
};

/// Memory from malloc or from MPI_Alloc_mem.
class Memory {
public:
  Memory() = default;
  Memory(size_t size, bool fromMpi);
  /// A part of other memory, which lives longer.
  Memory(std::byte *begin, size_t size);
  std::byte *data() const { return bytes_.get(); }
  size_t size() const { return size_; }

private:
  size_t size_ = 0;
  std::unique_ptr<std::byte, void (*)(std::byte *)> bytes_{nullptr, nullptr};
};

/// Memory for the buffers of many calls, all of which begin at one address.
class Arena {
public:
  Arena();
  /// From now on buffers begin elsewhere.
  void move(Random &random);
  /// `size` bytes, the buffer's first one of which is at `base`. Too many: of their own.
  Memory around(size_t base, size_t size) const;

private:
  Memory memory_;
  size_t begin_;
};

struct Arenas {
  Arena send, recv;
  /// Both sides lie in `send`, as far as they can: see Lanes.
  bool areShared = false;
};

/// Places for the blocks of two sides in the same memory: multiples of the longest block and a gap.
struct Lanes {
  std::vector<int> mine; ///< by slot; empty: blocks lie elsewhere
  int all = 0;           ///< of both sides
  size_t offset = 0;     ///< of this side's buffer, less than the gap
};

/// Where blocks lie: in order, side by side; in any order with gaps; the same where each has a
/// type.
enum class Layout : uint32_t { InOrder, Anywhere, AnywhereTyped };

/// A block that has no place yet.
struct Draft {
  int size;
  /// With types of their own: what the ends of the block draw the pattern from.
  Random shared;
};

/// The blocks of one side, by slot.
struct Side {
  /// Draws counts, types, places and buffer for at least one block. `mayOverlap`: blocks may be the
  /// same memory, where they do not lie in order.
  void draw(const Data &data, Layout layout, bool mayOverlap, const std::vector<Draft> &drafts,
            Random &random);
  /// Instead: one block of `count` of a type.
  void place(Datatype type, int count, Random &random);
  /// New memory around the blocks.
  void allocate(Random &random);
  void fill(Random &random);
  /// From now on the arguments are MPI_BOTTOM and types of absolute addresses.
  void useBottom();
  SideArguments arguments() const;
  std::byte *block(size_t slot) const { return memory.data() + base + places[slot]; }
  /// The first and one past the last byte of the buffer that a block may touch.
  std::pair<MPI_Aint, MPI_Aint> range(size_t slot) const;

  std::vector<int> counts, displacements;
  std::vector<MPI_Aint> places;
  /// One for all slots, or one for each; the oracle has its own, which live longer.
  std::vector<Datatype> types, oracleTypes;
  Memory memory;
  size_t base = 0;
  bool bottom = false;
  /// allocate() takes its memory from this arena; null: it makes new memory.
  const Arena *arena = nullptr;
  Lanes lanes;

  const Datatype &oracleType(size_t slot) const {
    return oracleTypes[oracleTypes.size() == 1 ? 0 : slot];
  }

private:
  void drawUniform(const Data &data, Layout layout, bool mayOverlap,
                   const std::vector<Draft> &drafts, Random &random);
  void drawPerSlot(const Data &data, const std::vector<Draft> &drafts, Random &random);

  MPI_Aint laneBytes_ = 0;
};

/// What a byte of a side is compared with.
struct Comparison {
  const Side &side;
  /// `ignored` is empty or says which bytes may be anything.
  const std::vector<std::byte> &before, &expected;
  const std::vector<bool> &ignored;
};
/// Empty if all is as expected.
std::string findDifference(const Comparison &comparison);

} // namespace conformance
