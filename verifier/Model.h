/// A schedule at the sizes of one proof, with the ops of all ranks numbered through.
/// Internal to the verifier and to show/.
#pragma once

#include "ir/PagedArray.h"
#include "ir/Schedule.h"
#include "verifier/BlockLengths.h"

#include <vector>

namespace colldsl::proof {

/// An op of any rank: the ops of rank 0 come first, each rank's in program order.
enum class Vertex : uint32_t {};
inline constexpr Vertex kNoVertex{0xffffffffu};
constexpr uint32_t index(Vertex v) { return static_cast<uint32_t>(v); }
constexpr bool exists(Vertex v) { return v != kNoVertex; }

/// Borrows the arguments of its constructor.
class Model {
public:
  /// `lengths`: the sizes stand for all lengths of blocks, and every block whose length the call
  /// may choose other than 0 is nonempty in them. Null: the lengths are those of `sizes`.
  Model(const Schedule &schedule, const std::vector<Sizes> &sizes,
        const BlockLengths *lengths = nullptr);

  const Schedule &schedule() const { return schedule_; }
  const BlockLengths *lengths() const { return lengths_; }
  /// kFixedLength if the lengths are given.
  LengthId lengthOf(Rank rank, const Slice &slice) const {
    return lengths_ ? lengths_->idOf(rank, slice) : kFixedLength;
  }
  uint32_t numRanks() const { return schedule_.numRanks(); }
  uint32_t numVertices() const { return static_cast<uint32_t>(ranks_.size()); }

  Rank rankOf(Vertex v) const { return ranks_[index(v)]; }
  OpId opIdOf(Vertex v) const { return OpId{index(v) - firsts_[index(rankOf(v))]}; }
  Vertex vertex(Rank rank, OpId op) const { return Vertex{firsts_[index(rank)] + index(op)}; }
  /// The vertex of the rank's first op; for rank == numRanks(), one past the last vertex.
  Vertex firstOf(Rank rank) const { return Vertex{firsts_[index(rank)]}; }

  const Dag &dag(Rank rank) const { return schedule_.ranks[index(rank)]; }
  const Op &op(Vertex v) const { return dag(rankOf(v)).op(opIdOf(v)); }
  const Sizes &sizes(Rank rank) const { return sizes_[sizes_.size() == 1 ? 0 : index(rank)]; }

private:
  const Schedule &schedule_;
  const std::vector<Sizes> &sizes_;
  const BlockLengths *lengths_;
  std::vector<uint32_t> firsts_; // per rank, and one past the end
  PagedArray<Rank> ranks_;       // per vertex
};

} // namespace colldsl::proof
