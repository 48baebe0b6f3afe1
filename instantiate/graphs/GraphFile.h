/// A graph read from a file: a list of edges, a METIS graph (a name that ends with
/// ".graph") or a sparse matrix (it begins with "%%MatrixMarket").
#pragma once

#include "instantiate/graphs/EdgeList.h"
#include "instantiate/graphs/SparseMatrix.h"

#include <map>
#include <string>

namespace colldsl {

class GraphFile {
public:
  /// Errors name the file and the line, what was expected and what was found.
  static Result<GraphFile> load(const std::string &path);

  /// The graph for so many ranks, valid as long as this lives. A list of edges and a
  /// METIS graph with a vertex for each rank or fewer are as they are. Of all else the
  /// rows are partitioned over the ranks; there is an edge a -> b if rows of b have
  /// entries in columns of a, and its weight is the number of these columns: what b
  /// needs of a's vector. Worked out once for each number of ranks, and alike wherever
  /// METIS is the same.
  Result<const EdgeList *> edges(uint32_t numRanks);

private:
  std::string path_;
  bool isList_ = false;
  bool isGraph_ = false;
  EdgeList list_; ///< as it is
  SparseMatrix matrix_;
  std::map<uint32_t, EdgeList> partitioned_; ///< by the number of ranks
};

} // namespace colldsl
