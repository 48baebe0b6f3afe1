#include "show/FailureGraph.h"

#include <algorithm>
#include <map>
#include <set>

// For a race, FailureGraph walks and marks both cones of happens-before whole. It then draws from
// the two ops on, nearest first, and stops at ops that precede both: a path between the two ops
// would have to leave the part that is drawn.
// Example: A and B both require S, and touch the same bytes. The picture has S, A, B, the edges S-A
// and S-B, and the missing edge between A and B.

namespace colldsl::show {
namespace {

constexpr size_t kMostPerCone = 12; ///< drawn; a reader looks at no more
constexpr size_t kMostDeps = 3;     ///< of ops that a failure other than a race names

/// Starts and finishes of ops, as in verifier/EventGraph.h.
constexpr uint32_t startOf(uint32_t op) { return 2 * op; }
constexpr uint32_t finishOf(uint32_t op) { return 2 * op + 1; }
constexpr uint32_t opOf(uint32_t event) { return event / 2; }

class Builder {
public:
  Builder(const OpTable &ops, const proof::Failure &failure) : ops_(ops), failure_(failure) {}

  FailureGraph build() {
    for (const proof::Failure::Step &step : failure_.steps)
      if (step.op != kNoOp && index(step.rank) < ops_.numRanks())
        named_.push_back(ops_.first[index(step.rank)] + index(step.op));
    graph_.isRace = failure_.proof == proof::Proof::Races && named_.size() == 2 &&
                    named_[0] != named_[1] && !ops_.isCyclic;
    for (uint32_t op : named_)
      add(op, true);
    if (graph_.isRace)
      addCones();
    else
      addNeighbors();
    connect();
    place();
    return std::move(graph_);
  }

private:
  bool add(uint32_t op, bool isNamed) {
    bool isNew = nodeOf_.try_emplace(op, static_cast<uint32_t>(graph_.nodes.size())).second;
    if (isNew)
      graph_.nodes.push_back({op, isNamed, 0});
    return isNew;
  }

  std::span<const Dep> depsOf(uint32_t op) const {
    const Dag &dag = ops_.schedule->ranks[ops_.rankOf(op)];
    return dag.depsOf(ops_.at(op));
  }
  uint32_t older(uint32_t op, const Dep &dep) const {
    return ops_.first[ops_.rankOf(op)] + index(dep.op);
  }
  bool receives(uint32_t op) const {
    return receivesMessage(ops_.at(op).kind) && ops_.partner[op] != kNoIndex;
  }

  void addNeighbors() {
    for (uint32_t op : named_) {
      std::span<const Dep> deps = depsOf(op);
      for (const Dep &dep : deps.last(std::min(deps.size(), kMostDeps)))
        add(older(op, dep), false);
      if (ops_.partner[op] != kNoIndex)
        add(ops_.partner[op], false);
    }
  }

  template <typename Visit> void forEachPredecessor(uint32_t event, Visit visit) const {
    uint32_t op = opOf(event);
    if (event == startOf(op)) {
      for (const Dep &dep : depsOf(op))
        visit(dep.kind == DepKind::Requires ? finishOf(older(op, dep)) : startOf(older(op, dep)));
      return;
    }
    visit(startOf(op));
    if (receives(op))
      visit(startOf(ops_.partner[op]));
  }

  void addCones() {
    cones_.assign(2 * size_t{ops_.size()}, 0);
    constexpr uint8_t kBits[] = {FailureGraph::kFirst, FailureGraph::kSecond};
    for (size_t i = 0; i < 2; ++i)
      mark(named_[i], kBits[i]);
    for (size_t i = 0; i < 2; ++i) {
      size_t drawn = draw(named_[i]);
      uint64_t all = 0;
      for (uint32_t op = 0; op < ops_.size(); ++op)
        all += op != named_[i] && (conesOf(op) & kBits[i]);
      graph_.leftOut[i] = all - drawn;
    }
    for (FailureGraph::Node &node : graph_.nodes)
      node.cones = conesOf(node.op);
  }

  uint8_t conesOf(uint32_t op) const { return cones_[startOf(op)] | cones_[finishOf(op)]; }

  void mark(uint32_t op, uint8_t bit) {
    std::vector<uint32_t> stack{startOf(op)};
    while (!stack.empty()) {
      uint32_t event = stack.back();
      stack.pop_back();
      forEachPredecessor(event, [&](uint32_t before) {
        if (cones_[before] & bit)
          return;
        cones_[before] |= bit;
        stack.push_back(before);
      });
    }
  }

  /// Draws the cone of an op and returns the number of ops drawn.
  size_t draw(uint32_t op) {
    std::vector<uint32_t> queue{startOf(op)}, seen;
    for (size_t at = 0; at < queue.size(); ++at)
      forEachPredecessor(queue[at], [&](uint32_t before) {
        uint32_t other = opOf(before);
        bool isSeen = std::find(seen.begin(), seen.end(), other) != seen.end();
        if (other != op && !isSeen) {
          if (seen.size() == kMostPerCone)
            return;
          seen.push_back(other);
          add(other, false);
        }
        bool isCommon = conesOf(other) == (FailureGraph::kFirst | FailureGraph::kSecond);
        if (!isCommon && std::find(queue.begin(), queue.end(), before) == queue.end())
          queue.push_back(before);
      });
    return seen.size();
  }

  void connect() {
    using Way = FailureGraph::Way;
    for (size_t i = 0; failure_.proof == proof::Proof::Deadlock && i < named_.size(); ++i)
      addEdge(named_[i], named_[(i + 1) % named_.size()], Way::Cycle);
    for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      uint32_t op = graph_.nodes[i].op;
      for (const Dep &dep : depsOf(op))
        if (auto it = nodeOf_.find(older(op, dep)); it != nodeOf_.end()) {
          Way way = dep.kind == DepKind::Requires ? Way::Requires : Way::IRequires;
          addEdge(graph_.isRace ? FailureGraph::Edge{it->second, i, way}
                                : FailureGraph::Edge{i, it->second, way});
        }
      if (receives(op))
        if (auto it = nodeOf_.find(ops_.partner[op]); it != nodeOf_.end())
          addEdge({it->second, i, Way::Message});
    }
    if (graph_.isRace)
      addEdge(named_[0], named_[1], Way::Missing);
  }

  void addEdge(uint32_t from, uint32_t to, FailureGraph::Way way) {
    if (from != to)
      addEdge({nodeOf_.at(from), nodeOf_.at(to), way});
  }

  /// Skips an edge whose ends an edge of the cycle joins already, in either direction.
  void addEdge(const FailureGraph::Edge &edge) {
    auto ends = [](const FailureGraph::Edge &e) { return std::minmax(e.from, e.to); };
    bool isOfCycle =
        std::any_of(graph_.edges.begin(), graph_.edges.end(), [&](const FailureGraph::Edge &other) {
          return other.way == FailureGraph::Way::Cycle && ends(other) == ends(edge);
        });
    if (!isOfCycle)
      graph_.edges.push_back(edge);
  }

  /// For a race, each op stands to the right of the ops that precede it, and ops that precede the
  /// second op alone have rows of their own. Otherwise each rank's ops stand in their order.
  void place() {
    std::vector<uint32_t> byOp(graph_.nodes.size());
    for (uint32_t i = 0; i < byOp.size(); ++i)
      byOp[i] = i;
    std::sort(byOp.begin(), byOp.end(),
              [&](uint32_t a, uint32_t b) { return graph_.nodes[a].op < graph_.nodes[b].op; });
    if (graph_.isRace)
      orderColumns();
    uint32_t firstRow = 0, rank = kNoIndex;
    std::map<uint32_t, uint32_t> columns;            // per rank, their number
    std::set<std::pair<uint32_t, uint32_t>> isTaken; // row and column
    for (uint32_t i : byOp) {
      FailureGraph::Node &node = graph_.nodes[i];
      if (ops_.rankOf(node.op) != rank) {
        firstRow = graph_.numRows();
        rank = ops_.rankOf(node.op);
        graph_.lanes.push_back({rank, firstRow, 1});
      }
      if (!graph_.isRace)
        node.column = columns[rank]++;
      bool isOfSecond = node.cones == FailureGraph::kSecond || node.op == named_.back();
      bool isBelow = graph_.isRace && isOfSecond && rank == ops_.rankOf(named_.front());
      node.row = firstRow + (isBelow ? 1 : 0);
      while (!isTaken.insert({node.row, node.column}).second)
        ++node.row;
      graph_.lanes.back().rows = std::max(graph_.lanes.back().rows, node.row + 1 - firstRow);
    }
  }

  /// It terminates, because schedules with cycles have no picture of a race.
  void orderColumns() {
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (const FailureGraph::Edge &edge : graph_.edges) {
        uint32_t least = graph_.nodes[edge.from].column + 1;
        if (edge.way == FailureGraph::Way::Missing || graph_.nodes[edge.to].column >= least)
          continue;
        graph_.nodes[edge.to].column = least;
        isChanged = true;
      }
    }
  }

  const OpTable &ops_;
  const proof::Failure &failure_;
  FailureGraph graph_;
  std::vector<uint32_t> named_;
  std::map<uint32_t, uint32_t> nodeOf_; ///< of ops
  std::vector<uint8_t> cones_;          ///< per event
};

} // namespace

uint32_t FailureGraph::numColumns() const {
  uint32_t columns = 0;
  for (const Node &node : nodes)
    columns = std::max(columns, node.column + 1);
  return columns;
}

llvm::json::Object FailureGraph::toJson() const {
  llvm::json::Array nodeList, edgeList, laneList;
  for (const Node &node : nodes)
    nodeList.push_back(llvm::json::Object{{"op", node.op},
                                          {"isNamed", node.isNamed},
                                          {"cones", node.cones},
                                          {"column", node.column},
                                          {"row", node.row}});
  for (const Edge &edge : edges)
    edgeList.push_back(llvm::json::Array{edge.from, edge.to, static_cast<int64_t>(edge.way)});
  for (const Lane &lane : lanes)
    laneList.push_back(
        llvm::json::Object{{"rank", lane.rank}, {"firstRow", lane.firstRow}, {"rows", lane.rows}});
  return llvm::json::Object{{"isRace", isRace},
                            {"nodes", std::move(nodeList)},
                            {"edges", std::move(edgeList)},
                            {"lanes", std::move(laneList)},
                            {"leftOut", llvm::json::Array{static_cast<int64_t>(leftOut[0]),
                                                          static_cast<int64_t>(leftOut[1])}}};
}

FailureGraph failureGraph(const OpTable &ops, const proof::Failure &failure) {
  return Builder(ops, failure).build();
}

} // namespace colldsl::show
