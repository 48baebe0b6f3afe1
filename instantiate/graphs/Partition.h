/// The partition of a sparse matrix: the rows of each rank, and the entries that the ranks then
/// need of each other's vectors.
#pragma once

#include "instantiate/graphs/SparseMatrix.h"

#include <vector>

namespace colldsl {

/// The rank of each row, and of the column of the same number. One rank has all rows,
/// and of at least as many ranks as rows each has one at most; else METIS cuts the graph
/// of the symmetrised pattern, with a fixed seed, so that everybody gets the same.
/// source: G. Karypis, V. Kumar, "A fast and high quality multilevel scheme for
/// partitioning irregular graphs", 1998
Result<std::vector<uint32_t>> partitionRows(const SparseMatrix &matrix, uint32_t numRanks);

/// The halo exchange of a product of matrix and vector: an edge a -> b if rows of b have
/// entries in columns of a; its weight is the number of such columns. Peers ascend.
EdgeList haloOf(const SparseMatrix &matrix, const std::vector<uint32_t> &owner, uint32_t numRanks);

} // namespace colldsl
