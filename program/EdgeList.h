/// A graph read from a file: one edge per line, "from to [weight]", ranks counted
/// from 0, lines in the order of the slots; blank lines and lines that begin with
/// '#' or '%' are skipped.
#pragma once

#include "ir/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace colldsl {

class EdgeList {
public:
  struct Edge {
    uint32_t peer;
    int64_t weight;
  };

  /// Errors name the file and the line.
  static Result<EdgeList> load(const std::string &path);

  /// One past the largest rank named.
  uint32_t numRanks() const { return numRanks_; }
  std::span<const Edge> out(uint32_t rank) const { return edges(out_, rank); }
  std::span<const Edge> in(uint32_t rank) const { return edges(in_, rank); }

private:
  struct Half { ///< compressed rows
    std::vector<uint64_t> begin;
    std::vector<Edge> edges;
  };
  struct Line {
    uint32_t from, to;
    int64_t weight;
  };
  static std::span<const Edge> edges(const Half &half, uint32_t rank);
  static Half rows(std::span<const Line> lines, uint32_t numRanks, bool in);

  uint32_t numRanks_ = 0;
  Half out_, in_;
};

} // namespace colldsl
