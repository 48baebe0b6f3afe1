#include "show/Matrix.h"

namespace colldsl::show {
namespace {

constexpr uint32_t kMaxSide = 1024; ///< cells of the full matrix, per dimension

class Counter {
public:
  explicit Counter(uint32_t ranks) {
    matrix_.ranks = ranks;
    matrix_.ranksPerCell = (ranks + kMaxSide - 1) / kMaxSide;
    row_.resize(matrix_.size());
  }

  void count(uint32_t to, uint64_t bytes) {
    Matrix::Cell &cell = row_[to / matrix_.ranksPerCell];
    ++cell.messages;
    cell.bytes += bytes;
  }

  /// Ends the messages of a rank. The last rank of a group completes the group's row.
  void endRank(uint32_t rank) {
    if ((rank + 1) % matrix_.ranksPerCell != 0 && rank + 1 != matrix_.ranks)
      return;
    for (uint32_t to = 0; to < row_.size(); ++to)
      if (row_[to].messages > 0)
        matrix_.cells.push_back(
            {rank / matrix_.ranksPerCell, to, row_[to].messages, row_[to].bytes});
    row_.assign(row_.size(), {});
  }

  Matrix take() { return std::move(matrix_); }

private:
  Matrix matrix_;
  std::vector<Matrix::Cell> row_;
};

} // namespace

uint64_t Matrix::volume() const {
  uint64_t bytes = 0;
  for (const Cell &cell : cells)
    bytes += cell.bytes;
  return bytes;
}

void Matrix::addTo(const std::string &prefix, Columns &columns) const {
  columns.addSteps(prefix + "matrixFrom", Columns::of(cells, &Cell::from));
  columns.addSteps(prefix + "matrixTo", Columns::of(cells, &Cell::to));
  columns.add(prefix + "matrixMessages", Columns::of(cells, &Cell::messages));
  columns.add(prefix + "matrixBytes", Columns::of(cells, &Cell::bytes));
}

Matrix matrixOf(const sim::Workload &workload) {
  Counter counter(workload.numRanks());
  for (uint32_t r = 0; r < workload.numRanks(); ++r) {
    const sim::RankVertices &rank = workload.ranks[r];
    for (uint32_t i = 0; i < rank.count; ++i) {
      const sim::Vertex &v = workload.vertices[rank.at(i)];
      if (v.kind == sim::VertexKind::Send)
        counter.count(v.peer, workload.amountOf(v));
    }
    counter.endRank(r);
  }
  return counter.take();
}

Matrix matrixOf(const OpTable &ops) {
  Counter counter(ops.numRanks());
  for (uint32_t r = 0; r < ops.numRanks(); ++r) {
    const Dag &dag = ops.schedule->ranks[r];
    for (uint32_t i = 0; i < dag.size(); ++i)
      if (sendsMessage(dag.ops[i].kind) && index(dag.ops[i].peer) < ops.numRanks())
        counter.count(index(dag.ops[i].peer), ops.bytes[ops.first[r] + i]);
    counter.endRank(r);
  }
  return counter.take();
}

} // namespace colldsl::show
