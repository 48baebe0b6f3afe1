/// The ops in the picture of a failed proof: those that the failure names, and the ops that these
/// wait for. For a race also the ops before either one, down to the last ops that precede both.
#pragma once

#include "show/OpTable.h"
#include "verifier/Verifier.h"

namespace colldsl::show {

struct FailureGraph {
  enum class Way : uint8_t {
    Requires,  ///< from an op to one that it requires; for a race, in the other direction
    IRequires, ///< as Requires, for the start alone
    Message,   ///< from the send to the receive
    Cycle,     ///< of a deadlock: from an op to the one that it waits for
    Missing,   ///< between the ops of a race, which no path orders
  };
  /// Bits of Node::cones: the op precedes the first op of a race, precedes the second one.
  static constexpr uint8_t kFirst = 1, kSecond = 2;

  struct Node {
    uint32_t op; ///< of the OpTable
    bool isNamed;
    uint8_t cones;
    uint32_t column = 0, row = 0;
  };
  struct Edge {
    uint32_t from, to; ///< nodes
    Way way;
  };
  /// The rows of a rank, which are adjacent.
  struct Lane {
    uint32_t rank, firstRow, rows;
  };

  bool isRace = false;
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<Lane> lanes;
  uint64_t leftOut[2] = {}; ///< per op of a race: ops before it that are not shown

  uint32_t numRows() const { return lanes.empty() ? 0 : lanes.back().firstRow + lanes.back().rows; }
  uint32_t numColumns() const;
  llvm::json::Object toJson() const;
};

/// The graph of a failure. It has no nodes if the failure names no ops.
FailureGraph failureGraph(const OpTable &ops, const proof::Failure &failure);

} // namespace colldsl::show
