#include "show/Grid.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace colldsl::show {
namespace {

constexpr uint32_t kMaxRows = 1024, kMaxColumns = 2048;

uint64_t ceilDiv(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

} // namespace

Grid::Grid(uint32_t ranks, uint64_t completion)
    : ranks_(ranks), perRow_(static_cast<uint32_t>(ceilDiv(ranks, kMaxRows))),
      rows_(static_cast<uint32_t>(ceilDiv(ranks, perRow_))),
      width_(std::max<uint64_t>(1, ceilDiv(completion, kMaxColumns))),
      columns_(static_cast<uint32_t>(columnOf(completion) + 1)) {
  for (std::vector<uint64_t> &busy : busyNs_)
    busy.resize(size_t{rows_} * columns_);
  begun_.resize(size_t{rows_} * columns_);
}

void Grid::add(uint32_t rank, Activity activity, uint64_t begin, uint64_t end) {
  size_t row = size_t{rank / perRow_} * columns_;
  uint64_t last = columns_ - 1;
  ++begun_[row + std::min(columnOf(begin), last)];
  std::vector<uint64_t> &busy = busyNs_[static_cast<size_t>(activity)];
  for (uint64_t at = begin; at < end;) {
    uint64_t column = std::min(columnOf(at), last);
    uint64_t until = column == last ? end : std::min(end, (column + 1) * width_);
    busy[row + column] += until - at;
    at = until;
  }
}

llvm::json::Object Grid::describe() const {
  return llvm::json::Object{{"rows", rows_},
                            {"columns", columns_},
                            {"ranksPerRow", perRow_},
                            {"nsPerColumn", static_cast<int64_t>(width_)}};
}

void Grid::addTo(const std::string &prefix, Columns &columns) const {
  constexpr const char *kNames[kActivities] = {"gridSend", "gridReceive", "gridLocal"};
  constexpr uint64_t kFull = 255;
  for (size_t a = 0; a < kActivities; ++a) {
    std::vector<uint8_t> shares(busyNs_[a].size());
    for (size_t i = 0; i < shares.size(); ++i) {
      uint64_t members = std::min<uint64_t>(perRow_, ranks_ - i / columns_ * perRow_);
      uint64_t share = ceilDiv(busyNs_[a][i] * kFull, width_ * members); // any work is visible
      shares[i] = static_cast<uint8_t>(std::min(share, kFull));
    }
    columns.add(prefix + kNames[a], shares);
  }
  columns.add(prefix + "gridBegun", begun_);
}

Grid::Shades Grid::shades(uint32_t mostRows, uint32_t mostColumns) const {
  auto foldRows = static_cast<uint32_t>(ceilDiv(rows_, mostRows));
  auto foldColumns = static_cast<uint32_t>(ceilDiv(columns_, mostColumns));
  Shades shades;
  shades.rows = static_cast<uint32_t>(ceilDiv(rows_, foldRows));
  shades.columns = static_cast<uint32_t>(ceilDiv(columns_, foldColumns));
  std::vector<std::array<uint64_t, kActivities>> sums(size_t{shades.rows} * shades.columns);
  for (uint32_t r = 0; r < rows_; ++r)
    for (uint32_t c = 0; c < columns_; ++c)
      for (size_t a = 0; a < kActivities; ++a)
        sums[size_t{r / foldRows} * shades.columns + c / foldColumns][a] +=
            busyNs_[a][size_t{r} * columns_ + c];
  uint64_t whole = width_ * foldColumns * perRow_ * foldRows;
  for (const auto &sum : sums) {
    size_t most = std::max_element(sum.begin(), sum.end()) - sum.begin();
    uint64_t busy = std::accumulate(sum.begin(), sum.end(), uint64_t{0});
    uint64_t level = std::min<uint64_t>(ceilDiv(busy * Shades::kLevels, whole), Shades::kLevels);
    shades.cells.emplace_back(static_cast<uint8_t>(most), static_cast<uint8_t>(level));
  }
  return shades;
}

Grid gridOf(const OpTable &ops, const Times &times, uint64_t completion) {
  Grid grid(ops.numRanks(), completion);
  for (uint32_t r = 0; r < ops.numRanks(); ++r)
    for (uint32_t op = ops.first[r]; op < ops.first[r + 1]; ++op) {
      OpKind kind = ops.schedule->ranks[r].ops[op - ops.first[r]].kind;
      Activity activity = sendsMessage(kind)      ? Activity::Send
                          : receivesMessage(kind) ? Activity::Receive
                                                  : Activity::Local;
      grid.add(r, activity, times.begin[op], times.end[op]);
    }
  return grid;
}

Grid gridOf(const sim::Workload &workload, const sim::Outcome &outcome) {
  Grid grid(workload.numRanks(), outcome.makespan);
  for (uint32_t r = 0; r < workload.numRanks(); ++r) {
    const sim::RankVertices &rank = workload.ranks[r];
    for (uint32_t i = 0; i < rank.count; ++i) {
      uint32_t vertex = rank.at(i);
      const sim::Vertex &v = workload.vertices[vertex];
      if (v.kind == sim::VertexKind::Recv)
        continue; // its message is the activity
      const sim::Activity &op = outcome.recording->ops[vertex];
      bool isSend = v.kind == sim::VertexKind::Send;
      grid.add(r, isSend ? Activity::Send : Activity::Local, op.begin, op.end);
      const sim::Activity &message = outcome.recording->messages[vertex];
      if (message.happened)
        grid.add(v.peer, Activity::Receive, message.begin, message.end);
    }
  }
  return grid;
}

} // namespace colldsl::show
