#include "formats/NodeGraph.h"

#include "ir/Concat.h"
#include "ir/MessageLines.h"
#include "ir/TopologicalOrder.h"

#include <algorithm>
#include <numeric>

namespace colldsl {
namespace {

constexpr size_t kMaxCycleNotes = 12;

class GraphOrder {
public:
  explicit GraphOrder(NodeGraph graph)
      : graph_(std::move(graph)), size_(static_cast<uint32_t>(graph_.ops.size())) {}

  void numberMessages();
  /// Shorter than the rank if there is a cycle.
  std::vector<uint32_t> order() const;
  Status cycle(const std::vector<uint32_t> &ordered,
               const std::function<std::string(uint32_t)> &nameOf) const;
  Dag build(const std::vector<uint32_t> &order) const;
  uint32_t size() const { return size_; }

private:
  std::span<const Dep> depsOf(uint32_t i) const {
    return {graph_.deps.data() + graph_.depBegin[i], graph_.depBegin[i + 1] - graph_.depBegin[i]};
  }

  NodeGraph graph_;
  uint32_t size_;
};

void GraphOrder::numberMessages() {
  forEachInLine(graph_.ops, [&](OpId id, OpId previous) {
    MessageId &message = graph_.ops[index(id)].message;
    message = makeMessageId(tagOf(message), impliedCount(graph_.ops, previous));
  });
}

std::vector<uint32_t> GraphOrder::order() const {
  std::vector<uint32_t> open(size_);
  std::vector<uint64_t> begin(size_t{size_} + 1); // of the successors of each op
  for (uint32_t i = 0; i < size_; ++i) {
    open[i] = static_cast<uint32_t>(depsOf(i).size());
    for (const Dep &dep : depsOf(i))
      ++begin[index(dep.op) + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<uint32_t> successors(graph_.deps.size());
  std::vector<uint64_t> cursor(begin.begin(), begin.end() - 1);
  for (uint32_t i = 0; i < size_; ++i)
    for (const Dep &dep : depsOf(i))
      successors[cursor[index(dep.op)]++] = i;
  return topologicalOrder(open, [&](uint32_t i, auto visit) {
    for (uint64_t k = begin[i]; k < begin[i + 1]; ++k)
      visit(successors[k]);
  });
}

Status GraphOrder::cycle(const std::vector<uint32_t> &ordered,
                         const std::function<std::string(uint32_t)> &nameOf) const {
  std::vector<bool> isOrdered = placesIn(ordered, size_);
  auto blocker = [&](uint32_t i) {
    auto deps = depsOf(i);
    return index(std::find_if(deps.begin(), deps.end(), [&](const Dep &dep) {
                   return !isOrdered[index(dep.op)];
                 })->op);
  };
  uint32_t first = opOfCycle(isOrdered, blocker);
  std::string chain;
  size_t length = 0;
  for (uint32_t i = first; length == 0 || i != first; i = blocker(i))
    if (++length <= kMaxCycleNotes)
      chain += concat(" waits for ", nameOf(blocker(i)), ", which");
  chain.resize(chain.size() - std::string_view(", which").size());
  return Status::error(concat(nameOf(first), ": waits for itself, in a cycle of ", length,
                              length == 1 ? " node" : " nodes", ": it", chain,
                              length > kMaxCycleNotes ? " ..." : ""));
}

Dag GraphOrder::build(const std::vector<uint32_t> &order) const {
  std::vector<uint32_t> newIndex(size_);
  for (uint32_t i = 0; i < order.size(); ++i)
    newIndex[order[i]] = i;
  Dag dag;
  dag.ops.reserve(order.size());
  dag.deps.reserve(graph_.deps.size());
  std::vector<Dep> deps;
  for (uint32_t from : order) {
    deps.clear();
    for (const Dep &dep : depsOf(from))
      deps.push_back({OpId{newIndex[index(dep.op)]}, dep.kind});
    std::sort(deps.begin(), deps.end(), [](const Dep &a, const Dep &b) {
      return std::pair(a.op, a.kind) < std::pair(b.op, b.kind);
    });
    dag.add(graph_.ops[from], {}, {}, deps);
  }
  return dag;
}

} // namespace

Result<Dag> toDag(NodeGraph graph, const std::function<std::string(uint32_t)> &nameOf) {
  GraphOrder nodes(std::move(graph));
  nodes.numberMessages();
  std::vector<uint32_t> order = nodes.order();
  if (order.size() != nodes.size())
    return nodes.cycle(order, nameOf);
  return nodes.build(order);
}

} // namespace colldsl
