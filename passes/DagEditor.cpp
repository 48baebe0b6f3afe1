#include "passes/DagEditor.h"

#include <algorithm>
#include <queue>

namespace colldsl {
namespace {

constexpr uint64_t kPlaces = uint64_t{1} << 32; ///< from one old op to the next

template <typename T> std::vector<T> listOf(std::span<const T> items) {
  return {items.begin(), items.end()};
}

} // namespace

DagEditor::DagEditor(const Dag &dag) {
  result_.buffers = dag.buffers;
  result_.contract = dag.contract;
  for (Buffer &buffer : result_.buffers)
    if (buffer.aliasOf != kNoBuffer) {
      result_.slices.push_back(dag.slices[buffer.aliasSlice]);
      buffer.aliasSlice = static_cast<uint32_t>(result_.slices.size() - 1);
    }
  nodes_.reserve(dag.size());
  for (uint32_t i = 0; i < dag.size(); ++i) {
    const Op &op = dag.ops[i];
    Node node{op, listOf(dag.sources(op)),    listOf(dag.targets(op)), {},
              {}, (uint64_t{i} + 1) * kPlaces};
    for (const Dep &dep : dag.depsOf(op))
      node.waits.push_back({of(dep.op), dep.kind});
    nodes_.push_back(std::move(node));
  }
}

EditId DagEditor::add(const Op &op, std::vector<Slice> sources, std::vector<Slice> targets,
                      EditId near) {
  EditId id{size()};
  uint64_t place = index(near) < size() ? nodes_[index(near)].place - 1 : (size() + 1) * kPlaces;
  nodes_.push_back({op, std::move(sources), std::move(targets), {}, {}, place});
  return id;
}

void DagEditor::wait(EditId op, EditId on, DepKind kind) {
  nodes_[index(op)].waits.push_back({on, kind});
}

void DagEditor::replace(EditId op, EditId instead) {
  nodes_[index(op)].isDropped = true;
  nodes_[index(op)].instead = instead;
}

void DagEditor::replaceByEarlier(EditId op, EditId instead) {
  replace(op, instead);
  nodes_[index(op)].isLater = true;
}

bool DagEditor::standsFor(EditId op, EditId other) const {
  while (op != other && nodes_[index(op)].isDropped && !nodes_[index(op)].isBridged)
    op = nodes_[index(op)].instead;
  return op == other;
}

void DagEditor::bridge(EditId op) {
  nodes_[index(op)].isDropped = true;
  nodes_[index(op)].isBridged = true;
}

// Resolves a wait for an op that may have been dropped. A wait for the start of a bridged op
// becomes waits for all that this start waited for.
void DagEditor::resolve(EditId on, DepKind kind, std::vector<Wait> &into) const {
  const Node *node = &nodes_[index(on)];
  while (node->isDropped && !node->isBridged) {
    kind = node->isLater ? DepKind::Requires : kind;
    on = node->instead;
    node = &nodes_[index(on)];
  }
  if (!node->isDropped) {
    into.push_back({on, kind});
    return;
  }
  for (const Wait &wait : node->waits)
    resolve(wait.on, wait.kind, into);
}

void DagEditor::settleWaits() {
  auto before = [](const Wait &a, const Wait &b) {
    return std::pair(index(a.on), a.kind) < std::pair(index(b.on), b.kind);
  };
  auto sameOp = [](const Wait &a, const Wait &b) { return a.on == b.on; };
  for (uint32_t i = 0; i < size(); ++i) {
    if (nodes_[i].isDropped)
      continue;
    std::vector<Wait> waits;
    for (const Wait &wait : nodes_[i].waits)
      resolve(wait.on, wait.kind, waits);
    std::erase_if(waits, [&](const Wait &wait) { return index(wait.on) == i; });
    std::sort(waits.begin(), waits.end(), before); // Requires first: it is the stronger one
    waits.erase(std::unique(waits.begin(), waits.end(), sameOp), waits.end());
    nodes_[i].waits = std::move(waits);
  }
  for (uint32_t i = 0; i < size(); ++i) // now nothing leads through them any more
    if (nodes_[i].isDropped)
      nodes_[i].waits.clear();
}

Result<Dag> DagEditor::build() {
  settleWaits();
  std::vector<uint32_t> waiting(size(), 0);
  std::vector<std::vector<uint32_t>> releases(size());
  using Entry = std::pair<uint64_t, uint32_t>; // by place, then by number
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  size_t kept = 0;
  for (uint32_t i = 0; i < size(); ++i) {
    if (nodes_[i].isDropped)
      continue;
    ++kept;
    waiting[i] = static_cast<uint32_t>(nodes_[i].waits.size());
    for (const Wait &wait : nodes_[i].waits)
      releases[index(wait.on)].push_back(i);
    for (EditId before : nodes_[i].follows) {
      releases[index(before)].push_back(i);
      ++waiting[i];
    }
    if (waiting[i] == 0)
      open.push({nodes_[i].place, i});
  }
  std::vector<OpId> placed(size(), kNoOp);
  std::vector<Dep> deps;
  while (!open.empty()) {
    uint32_t i = open.top().second;
    open.pop();
    deps.clear();
    for (const Wait &wait : nodes_[i].waits)
      deps.push_back({placed[index(wait.on)], wait.kind});
    std::sort(deps.begin(), deps.end(),
              [](const Dep &a, const Dep &b) { return index(a.op) < index(b.op); });
    placed[i] = result_.add(nodes_[i].op, nodes_[i].sources, nodes_[i].targets, deps);
    for (uint32_t next : releases[i])
      if (--waiting[next] == 0)
        open.push({nodes_[next].place, next});
  }
  if (result_.size() != kept)
    return Status::error("an op would wait for itself");
  return std::move(result_);
}

} // namespace colldsl
