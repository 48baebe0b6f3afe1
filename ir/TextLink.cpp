#include "ir/TextLink.h"

#include "ir/Concat.h"
#include "ir/Index32.h"
#include "ir/MessageLines.h"
#include "ir/TopologicalOrder.h"

#include <algorithm>
#include <numeric>

namespace colldsl {
namespace {

constexpr size_t kMaxCycleNotes = 12;

/// One dependency between ops of the text.
struct Edge {
  uint32_t op;
  uint32_t on;
  DepKind kind;
  uint32_t text; ///< index of its statement
};

// By length first: labels that count up, l0 to l12, are in order already, and unequal
// lengths compare at once.
bool isShorter(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

/// The edges the other way around: which ops each op releases.
struct Releases {
  Releases(std::span<const Edge> edges, uint32_t ops)
      : open(ops), begin(ops + size_t{1}), successors(edges.size()) {
    for (const Edge &edge : edges) {
      ++open[edge.op];
      ++begin[edge.on + size_t{1}];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<uint32_t> cursor(begin.begin(), begin.end() - 1);
    for (const Edge &edge : edges)
      successors[cursor[edge.on]++] = edge.op;
  }
  std::span<const uint32_t> of(uint32_t op) const {
    return {successors.data() + begin[op], begin[op + size_t{1}] - begin[op]};
  }

  std::vector<uint32_t> open; ///< per op: how many have yet to release it
  std::vector<uint32_t> begin;
  std::vector<uint32_t> successors;
};

class Linker {
public:
  Linker(RankText &rank, ErrorList &errors) : rank_(rank), errors_(errors) {}
  Dag run();

private:
  void sortLabels();
  const RankText::Label *find(std::string_view name, TextPlace place);
  void collectEdges();
  void groupEdges();
  std::span<const Edge> edgesOf(uint32_t op) const {
    return {edges_.data() + begin_[op], begin_[op + 1] - begin_[op]};
  }
  std::vector<uint32_t> order();
  void reportCycle(const std::vector<uint32_t> &ordered);
  std::string describe(uint32_t op);
  void numberMessages();
  Dag build(const std::vector<uint32_t> &order);

  RankText &rank_;
  ErrorList &errors_;
  std::vector<Edge> edges_;     ///< grouped by op, in the order of the text
  std::vector<uint32_t> begin_; ///< of each op's edges
};

void Linker::sortLabels() {
  auto &labels = rank_.labels;
  auto byName = [](const RankText::Label &a, const RankText::Label &b) {
    return isShorter(a.name, b.name);
  };
  if (!std::is_sorted(labels.begin(), labels.end(), byName))
    std::stable_sort(labels.begin(), labels.end(), byName);
  for (size_t i = 1; i < labels.size(); ++i)
    if (labels[i].name == labels[i - 1].name)
      errors_.add(
          Diagnostic::error(locOf(labels[i].place), concat("label '", labels[i].name,
                                                           "' is declared twice, before on line ",
                                                           labels[i - 1].place.line)));
}

const RankText::Label *Linker::find(std::string_view name, TextPlace place) {
  auto &labels = rank_.labels;
  auto at = std::lower_bound(
      labels.begin(), labels.end(), name,
      [](const RankText::Label &a, std::string_view b) { return isShorter(a.name, b); });
  if (at != labels.end() && at->name == name)
    return &*at;
  errors_.add(
      Diagnostic::error(locOf(place), concat("no op of this rank has the label '", name, "'")));
  return nullptr;
}

void Linker::collectEdges() {
  for (uint32_t i = 0; i < rank_.deps.size() && !errors_.isFull(); ++i) {
    const RankText::DepText &dep = rank_.deps[i];
    const RankText::Label *op = find(dep.op, dep.place);
    const RankText::Label *on = find(dep.on, dep.onPlace);
    if (op != nullptr && on != nullptr && op->op != RankText::kBrokenOp &&
        on->op != RankText::kBrokenOp)
      edges_.push_back({op->op, on->op, dep.kind, i});
  }
}

void Linker::groupEdges() {
  auto byOp = [](const Edge &a, const Edge &b) { return a.op < b.op; };
  if (!std::is_sorted(edges_.begin(), edges_.end(), byOp))
    std::stable_sort(edges_.begin(), edges_.end(), byOp);
  begin_.assign(rank_.dag.size() + size_t{1}, 0);
  for (const Edge &edge : edges_)
    ++begin_[edge.op + size_t{1}];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
}

// Shorter than the rank if there is a cycle.
std::vector<uint32_t> Linker::order() {
  if (std::all_of(edges_.begin(), edges_.end(), [](const Edge &e) { return e.on < e.op; })) {
    std::vector<uint32_t> order(rank_.dag.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  Releases releases(edges_, rank_.dag.size());
  return topologicalOrder(releases.open, [&](uint32_t op, auto visit) {
    for (uint32_t successor : releases.of(op))
      visit(successor);
  });
}

std::string Linker::describe(uint32_t op) {
  auto at = std::find_if(rank_.labels.begin(), rank_.labels.end(),
                         [&](const RankText::Label &label) { return label.op == op; });
  return concat("'", at->name, "' (", spelling(rank_.dag.ops[op].kind), ", line ",
                rank_.opPlaces[op].line, ")");
}

void Linker::reportCycle(const std::vector<uint32_t> &ordered) {
  std::vector<bool> isOrdered = placesIn(ordered, rank_.dag.size());
  auto blocker = [&](uint32_t op) {
    auto edges = edgesOf(op);
    return *std::find_if(edges.begin(), edges.end(),
                         [&](const Edge &edge) { return !isOrdered[edge.on]; });
  };
  uint32_t first = opOfCycle(isOrdered, [&](uint32_t op) { return blocker(op).on; }), op = first;
  Diagnostic error = Diagnostic::error(locOf(rank_.opPlaces[first]), "");
  size_t length = 0;
  do {
    Edge edge = blocker(op);
    std::string_view word = edge.kind == DepKind::Requires ? " requires " : " irequires ";
    if (++length <= kMaxCycleNotes)
      error.notes.push_back(Diagnostic::note(locOf(rank_.deps[edge.text].place),
                                             concat(describe(op), word, describe(edge.on))));
    op = edge.on;
  } while (op != first);
  error.message = concat(describe(first), " waits for itself, in a cycle of ", length,
                         length == 1 ? " op" : " ops");
  if (length > kMaxCycleNotes)
    error.notes.push_back(
        Diagnostic::note(error.loc, concat("and ", length - kMaxCycleNotes, " more")));
  errors_.add(std::move(error));
}

void Linker::numberMessages() {
  std::vector<Op> &ops = rank_.dag.ops;
  forEachInLine(ops, [&](OpId id, OpId previous) {
    MessageId &message = ops[index(id)].message;
    if (!rank_.hasCount[index(id)])
      message = makeMessageId(tagOf(message), impliedCount(ops, previous));
  });
}

// The Dag's lists of slices stay as they are, ops carry their parts along.
Dag Linker::build(const std::vector<uint32_t> &order) {
  Dag &dag = rank_.dag;
  std::vector<uint32_t> newIndex(dag.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    newIndex[order[i]] = i;
  std::vector<Op> ops;
  ops.reserve(dag.size());
  dag.deps.reserve(edges_.size());
  for (uint32_t from : order) {
    Op &op = ops.emplace_back(dag.ops[from]);
    op.depBegin = index32(dag.deps.size());
    for (const Edge &edge : edgesOf(from))
      dag.deps.push_back({OpId{newIndex[edge.on]}, edge.kind});
    op.depCount = index32(dag.deps.size()) - op.depBegin;
  }
  dag.ops = std::move(ops);
  return std::move(dag);
}

Dag Linker::run() {
  size_t errorsBefore = errors_.size();
  sortLabels();
  collectEdges();
  if (errors_.size() != errorsBefore)
    return {};
  groupEdges();
  numberMessages();
  std::vector<uint32_t> opOrder = order();
  if (opOrder.size() == rank_.dag.size())
    return build(opOrder);
  reportCycle(opOrder);
  return {};
}

} // namespace

Dag linkRank(RankText &rank, ErrorList &errors) { return Linker(rank, errors).run(); }

} // namespace colldsl
