/// A square matrix of which only the pattern counts, or a METIS graph, whose matrix
/// has a row for each vertex and an entry for each neighbour.
#pragma once

#include "instantiate/graphs/EdgeList.h"
#include "instantiate/graphs/GraphFileLines.h"

#include <span>
#include <vector>

namespace colldsl {

struct SparseMatrix {
  static constexpr uint32_t kMaxRows = 1u << 26;
  static constexpr uint64_t kMaxEntries = uint64_t{1} << 30; ///< with those implied by symmetry

  uint32_t numRows = 0;
  std::vector<uint64_t> begin; ///< of row i: columns[begin[i]..begin[i + 1])
  std::vector<uint32_t> columns;
  // Weights of METIS graphs, empty if all are 1:
  std::vector<int32_t> entryWeights;
  std::vector<int32_t> rowWeights; ///< weightsPerRow for each row
  uint32_t weightsPerRow = 1;

  std::span<const uint32_t> row(uint32_t i) const {
    return {columns.data() + begin[i], begin[i + 1] - begin[i]};
  }
};

/// Matrix Market coordinate format: a banner, comments with '%', "rows columns
/// entries", then "row column [value [imaginary part]]" from 1. `lines` has not been
/// read from. Columns ascend within a row, each once.
/// source: R. Boisvert, R. Pozo, K. Remington, "The Matrix Market exchange formats", 1996
Result<SparseMatrix> readMatrixMarket(GraphFileLines &lines);

/// METIS graph format: "vertices edges [format [weights per vertex]]", then a line for
/// each vertex: [size] [weights] {neighbour [weight]}, from 1. Each edge is there from
/// both sides.
/// source: G. Karypis, "METIS, a software package for partitioning unstructured graphs",
/// manual of version 5.1, 2013
Result<SparseMatrix> readMetisGraph(GraphFileLines &lines);

/// A METIS graph with a rank for each vertex: its edges both ways, in the order of the
/// file, with their weights.
EdgeList edgesOfEntries(const SparseMatrix &matrix);

} // namespace colldsl
