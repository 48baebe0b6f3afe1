/// The ops in the picture of a failed proof: those that the failure names, and the ops that these
/// wait for. For a race also the ops before either one, down to the last ops that precede both.
#pragma once

#include "show/OpTable.h"
#include "verifier/Verifier.h"

namespace colldsl::show {

struct FailureGraph {
  enum class Way : uint8_t {
    Requires,  ///< from an op to what it requires; of a race, to what requires it
    IRequires, ///< the same, of the start alone
    Message,   ///< from the send to the receive
    Cycle,     ///< of a deadlock: waits for
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
  /// Rows of one rank are beside each other.
  struct Lane {
    uint32_t rank, firstRow, rows;
  };

  bool isRace = false;
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<Lane> lanes;
  uint64_t leftOut[2] = {}; ///< ops that come before either op of a race, and are not shown

  uint32_t numRows() const { return lanes.empty() ? 0 : lanes.back().firstRow + lanes.back().rows; }
  uint32_t numColumns() const;
  llvm::json::Object toJson() const;
};

/// Without nodes if the failure names no ops.
FailureGraph failureGraph(const OpTable &ops, const Failure &failure);

} // namespace colldsl::show
