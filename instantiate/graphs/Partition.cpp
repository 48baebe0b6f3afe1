#include "instantiate/graphs/Partition.h"

#include <algorithm>
#include <numeric>

#ifdef COLLDSL_HAS_METIS
#include <metis.h>

#include <cstdlib>
#include <mutex>
#include <type_traits>
#endif

namespace colldsl {
namespace {

#ifdef COLLDSL_HAS_METIS

/// The graph that METIS takes: neighbours from both sides, no self-loops.
struct MetisGraph {
  std::vector<idx_t> begin, neighbors, weights;
};

MetisGraph symmetrized(const SparseMatrix &matrix) {
  struct Side {
    uint32_t from, to;
    int32_t weight;
    auto operator<=>(const Side &) const = default;
  };
  std::vector<Side> sides;
  sides.reserve(2 * matrix.columns.size());
  for (uint32_t i = 0; i < matrix.numRows; ++i)
    for (uint64_t k = matrix.begin[i]; k < matrix.begin[i + 1]; ++k)
      if (matrix.columns[k] != i) {
        int32_t weight = matrix.entryWeights.empty() ? 1 : matrix.entryWeights[k];
        sides.push_back({i, matrix.columns[k], weight});
        sides.push_back({matrix.columns[k], i, weight});
      }
  std::sort(sides.begin(), sides.end());
  MetisGraph graph;
  graph.begin.assign(size_t{matrix.numRows} + 1, 0);
  for (size_t k = 0; k < sides.size(); ++k) {
    if (k > 0 && sides[k].from == sides[k - 1].from && sides[k].to == sides[k - 1].to)
      continue;
    ++graph.begin[sides[k].from + 1];
    graph.neighbors.push_back(static_cast<idx_t>(sides[k].to));
    graph.weights.push_back(sides[k].weight);
  }
  std::partial_sum(graph.begin.begin(), graph.begin.end(), graph.begin.begin());
  return graph;
}

/// METIS draws from rand(): with a sequence of its own, one call at a time, it cannot
/// disturb the program's, and always draws the same.
class OwnRandomNumbers {
public:
  OwnRandomNumbers() : lock_(mutex()), before_(initstate(1, state_, sizeof state_)) {}
  ~OwnRandomNumbers() { setstate(before_); }
  OwnRandomNumbers(const OwnRandomNumbers &) = delete;
  OwnRandomNumbers &operator=(const OwnRandomNumbers &) = delete;

private:
  static std::mutex &mutex() {
    static std::mutex mutex;
    return mutex;
  }
  std::lock_guard<std::mutex> lock_;
  char state_[128] = {};
  char *before_;
};

Status partition(const SparseMatrix &matrix, uint32_t numRanks, std::vector<uint32_t> &owner) {
  static_assert(std::is_same_v<idx_t, int32_t>);
  MetisGraph graph = symmetrized(matrix);
  std::vector<idx_t> rowWeights = matrix.rowWeights;
  auto numRows = static_cast<idx_t>(matrix.numRows), numParts = static_cast<idx_t>(numRanks);
  auto numWeights = static_cast<idx_t>(matrix.weightsPerRow);
  idx_t options[METIS_NOPTIONS], cut = 0;
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  std::vector<idx_t> part(matrix.numRows);
  OwnRandomNumbers random;
  int result = METIS_PartGraphKway(
      &numRows, &numWeights, graph.begin.data(), graph.neighbors.data(),
      rowWeights.empty() ? nullptr : rowWeights.data(), nullptr, graph.weights.data(), &numParts,
      nullptr, nullptr, options, &cut, part.data());
  if (result != METIS_OK)
    return Status::error("METIS cannot partition " + std::to_string(matrix.numRows) +
                         " rows over " + std::to_string(numRanks) + " ranks (error " +
                         std::to_string(result) + ")");
  owner.assign(part.begin(), part.end());
  return {};
}

#else

Status partition(const SparseMatrix &matrix, uint32_t numRanks, std::vector<uint32_t> &) {
  return Status::error(std::to_string(matrix.numRows) + " rows cannot be partitioned over " +
                       std::to_string(numRanks) + " ranks, as colldsl was built without METIS");
}

#endif

} // namespace

Result<std::vector<uint32_t>> partitionRows(const SparseMatrix &matrix, uint32_t numRanks) {
  std::vector<uint32_t> owner(matrix.numRows, 0);
  if (matrix.numRows <= numRanks)
    std::iota(owner.begin(), owner.end(), 0u);
  else if (numRanks > 1)
    if (Status s = partition(matrix, numRanks, owner); !s)
      return s;
  return owner;
}

EdgeList haloOf(const SparseMatrix &matrix, const std::vector<uint32_t> &owner, uint32_t numRanks) {
  std::vector<uint32_t> rows(matrix.numRows); // by their ranks
  std::iota(rows.begin(), rows.end(), 0u);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t i, uint32_t j) { return owner[i] < owner[j]; });
  std::vector<EdgeList::Line> lines;
  std::vector<std::pair<uint32_t, uint32_t>> needed; // of one rank: owners and columns
  for (size_t i = 0; i < rows.size();) {
    uint32_t me = owner[rows[i]];
    needed.clear();
    for (; i < rows.size() && owner[rows[i]] == me; ++i)
      for (uint32_t column : matrix.row(rows[i]))
        if (owner[column] != me)
          needed.emplace_back(owner[column], column);
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    for (size_t k = 0; k < needed.size(); ++k) {
      if (k == 0 || needed[k].first != needed[k - 1].first)
        lines.push_back({needed[k].first, me, 0});
      ++lines.back().weight;
    }
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto &a, const auto &b) { return a.from < b.from; });
  return EdgeList::of(lines, numRanks);
}

} // namespace colldsl
