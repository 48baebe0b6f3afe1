/// The edges of a graph between ranks, those that leave and those that arrive, in the
/// order of the slots.
#pragma once

#include "instantiate/graphs/GraphFileLines.h"

#include <cstdint>
#include <span>
#include <vector>

namespace colldsl {

class EdgeList {
public:
  struct Edge {
    uint32_t peer;
    int64_t weight;
  };

  struct Line {
    uint32_t from, to;
    int64_t weight;
  };

  /// Edges in the order of the lines; ranks are below numRanks.
  static EdgeList of(std::span<const Line> lines, uint32_t numRanks);
  /// The text form: one edge per line, "from to [weight]", ranks counted from 0; blank
  /// lines and lines that begin with '#' or '%' are skipped. Errors name file and line.
  static Result<EdgeList> read(GraphFileLines &lines);

  /// One past the largest rank that the lines name, or as many as were given.
  uint32_t numRanks() const { return numRanks_; }
  std::span<const Edge> out(uint32_t rank) const { return edges(out_, rank); }
  std::span<const Edge> in(uint32_t rank) const { return edges(in_, rank); }

private:
  struct Half { ///< compressed rows
    std::vector<uint64_t> begin;
    std::vector<Edge> edges;
  };
  static std::span<const Edge> edges(const Half &half, uint32_t rank);
  static Half rows(std::span<const Line> lines, uint32_t numRanks, bool in);

  uint32_t numRanks_ = 0;
  Half out_, in_;
};

} // namespace colldsl
