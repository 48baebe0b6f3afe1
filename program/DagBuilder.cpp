#include "program/DagBuilder.h"

#include <algorithm>

namespace colldsl {
void DagBuilder::begin(Dag &dag, SizeRange &range) {
  dag_ = &dag;
  range_ = &range;
  usedMaps_ = 0;
  mapOfBuffer_.clear();
  readers_.nodes.clear();
  lastDepOf_.clear();
  stated_.clear();
}

AccessMap &DagBuilder::newMap(BufferId buffer) {
  if (mapOfBuffer_.size() <= index(buffer))
    mapOfBuffer_.resize(index(buffer) + 1);
  if (usedMaps_ == maps_.size())
    maps_.emplace_back();
  else
    maps_[usedMaps_].clear();
  return *(mapOfBuffer_[index(buffer)] = &maps_[usedMaps_++]);
}

void DagBuilder::addDep(OpId on, DepKind kind) {
  uint32_t mark = dag_->size() + 1;
  if (lastDepOf_.size() < mark)
    lastDepOf_.resize(mark + mark / 2);
  if (lastDepOf_[index(on)] == mark)
    return;
  lastDepOf_[index(on)] = mark;
  dag_->deps.push_back({on, kind});
}

Status DagBuilder::track(std::span<const Region> regions, bool writes, OpId op) {
  auto dependsOn = [&](OpId on) {
    if (on != op)
      addDep(on, DepKind::Requires);
  };
  for (const Region &region : regions) {
    AccessMap &map = mapOf(region.slice.buffer);
    if (map.accessAgain(region, writes, op, readers_, dependsOn)) [[likely]]
      continue;
    const Slice &s = region.slice;
    bool callTime = s.block != kNoBlock;
    uint32_t block = callTime ? s.block : 0;
    BufferPlace begin{block, {s.beginScale, s.beginOffset, s.denominator, region.beginAt}};
    BufferPlace end{block, {s.endScale, s.endOffset, s.denominator, region.endAt}};
    if (!map.access(begin, end, writes, op, *range_, readers_, callTime, dependsOn))
      return Status::error(dag_->ops[index(op)].loc,
                           "a block whose length is known at call time is cut in two ways "
                           "that cannot be compared for every length");
  }
  return {};
}

Status DagBuilder::touch(std::span<const Region> sources, std::span<const Region> targets) {
  OpId id{dag_->size() - 1};
  if (!sources.empty())
    if (Status s = track(sources, false, id); !s)
      return s;
  if (!targets.empty())
    if (Status s = track(targets, true, id); !s)
      return s;
  Op &op = dag_->ops.back();
  auto slices = static_cast<uint32_t>(dag_->slices.size());
  op.sourceBegin = slices;
  op.sourceCount = static_cast<uint32_t>(sources.size());
  op.targetBegin = slices + op.sourceCount;
  op.targetCount = static_cast<uint32_t>(targets.size());
  op.depCount = static_cast<uint32_t>(dag_->deps.size()) - op.depBegin;
  for (const Region &region : sources)
    dag_->slices.push_back(region.slice);
  for (const Region &region : targets)
    dag_->slices.push_back(region.slice);
  return {};
}

/// Only these two ops touch the temporary.
Status DagBuilder::receiveAndCombine(Reduction reduction, Side side,
                                     std::span<const Region> targets) {
  auto hidden = static_cast<uint32_t>(dag_->slices.size());
  auto count = static_cast<uint32_t>(targets.size());
  for (const Region &region : targets) {
    const Slice &s = region.slice;
    Buffer temp;
    temp.name = kHiddenName;
    temp.type = dag_->buffers[index(s.buffer)].type;
    temp.originScale = s.beginScale;
    temp.originOffset = s.beginOffset;
    temp.endScale = s.endScale;
    temp.endOffset = s.endOffset;
    temp.denominator = s.denominator;
    dag_->slices.emplace_back(s).buffer = dag_->addBuffer(temp);
  }
  for (uint32_t i = 0; i < count; ++i)
    dag_->slices.push_back(Slice(dag_->slices[hidden + i]));
  OpId receive{dag_->size() - 1};
  Op &recv = dag_->ops.back();
  recv.targetBegin = hidden;
  recv.targetCount = count;
  SourceLoc loc = recv.loc;

  Op &combine = addPlain();
  combine.kind = OpKind::Combine;
  combine.loc = loc;
  combine.reduction = reduction;
  combine.side = side;
  combine.type = dag_->buffers[index(targets.front().slice.buffer)].type;
  addDep(receive, DepKind::Requires);
  if (Status s = touch({}, targets); !s)
    return s;
  Op &added = dag_->ops.back();
  added.sourceBegin = hidden + count;
  added.sourceCount = count;
  return {};
}

std::vector<OpId> DagBuilder::entriesOf(const LabelRange &range) const {
  std::vector<OpId> entries;
  for (uint32_t i = range.first; i < range.last; ++i) {
    auto deps = dag_->depsOf(dag_->ops[i]);
    if (std::none_of(deps.begin(), deps.end(),
                     [&](const Dep &d) { return index(d.op) >= range.first; }))
      entries.push_back(OpId{i});
  }
  return entries;
}

std::vector<OpId> DagBuilder::exitsOf(const LabelRange &range) const {
  std::vector<bool> followed(range.last - range.first);
  for (uint32_t i = range.first; i < range.last; ++i)
    for (const Dep &dep : dag_->depsOf(dag_->ops[i]))
      if (index(dep.op) >= range.first && dep.kind == DepKind::Requires)
        followed[index(dep.op) - range.first] = true;
  std::vector<OpId> exits;
  for (uint32_t i = range.first; i < range.last; ++i)
    if (!followed[i - range.first])
      exits.push_back(OpId{i});
  return exits;
}

/// Where many wait for many, an op that does nothing stands between them: m + n edges instead
/// of m * n.
void DagBuilder::dependAll(const LabelRange &waiter, const LabelRange &first, DepKind kind) {
  std::vector<OpId> before = kind == DepKind::Requires ? exitsOf(first) : entriesOf(first);
  std::vector<OpId> after = entriesOf(waiter);
  if (before.size() * after.size() > 4 * (before.size() + after.size())) {
    OpId join{size()};
    addPlain().loc = dag_->op(after.front()).loc;
    for (OpId f : before)
      state(join, {f, kind});
    before = {join};
    kind = DepKind::Requires;
  }
  for (OpId w : after)
    for (OpId f : before)
      state(w, {f, kind});
}

/// Usually the waiter is among the newest ops and the other one older: then the edge
/// goes where it belongs at once. The rest waits for finish().
void DagBuilder::state(OpId waiter, Dep dep) {
  Op &op = dag_->ops[index(waiter)];
  std::vector<Dep> &deps = dag_->deps;
  if (index(dep.op) >= index(waiter) || op.depCount > kFewDeps) {
    stated_.push_back({waiter, dep});
    return;
  }
  for (uint32_t i = 0; i < op.depCount; ++i)
    if (deps[op.depBegin + i] == dep)
      return;
  if (op.depBegin + op.depCount != deps.size()) { // move its few to the end
    auto begin = static_cast<uint32_t>(deps.size());
    for (uint32_t i = 0; i < op.depCount; ++i)
      deps.push_back(Dep(deps[op.depBegin + i]));
    op.depBegin = begin;
  }
  deps.push_back(dep);
  ++op.depCount;
}

Status DagBuilder::finish() {
  if (stated_.empty())
    return {};
  mergeStatedDeps();
  bool sorted = std::all_of(stated_.begin(), stated_.end(),
                            [](const StatedDep &s) { return index(s.dep.op) < index(s.waiter); });
  return sorted ? Status() : sortByDeps();
}

void DagBuilder::mergeStatedDeps() {
  std::stable_sort(stated_.begin(), stated_.end(), [](const StatedDep &a, const StatedDep &b) {
    return index(a.waiter) < index(b.waiter);
  });
  std::vector<Dep> merged;
  merged.reserve(dag_->deps.size() + stated_.size());
  auto next = stated_.begin();
  for (uint32_t i = 0; i < dag_->size(); ++i) {
    Op &op = dag_->ops[i];
    auto begin = static_cast<uint32_t>(merged.size());
    for (const Dep &dep : dag_->depsOf(op))
      merged.push_back(dep);
    for (; next != stated_.end() && index(next->waiter) == i; ++next)
      if (std::find(merged.begin() + begin, merged.end(), next->dep) == merged.end())
        merged.push_back(next->dep);
    op.depBegin = begin;
    op.depCount = static_cast<uint32_t>(merged.size()) - begin;
  }
  dag_->deps.swap(merged);
}

Status DagBuilder::sortByDeps() {
  uint32_t count = dag_->size();
  std::vector<uint32_t> open(count), order;
  std::vector<std::vector<uint32_t>> successors(count);
  for (uint32_t i = 0; i < count; ++i) {
    open[i] = dag_->ops[i].depCount;
    for (const Dep &dep : dag_->depsOf(dag_->ops[i]))
      successors[index(dep.op)].push_back(i);
  }
  std::vector<uint32_t> ready; // a min-heap, so that program order is kept where it may be
  for (uint32_t i = count; i-- > 0;)
    if (open[i] == 0)
      ready.push_back(i);
  std::make_heap(ready.begin(), ready.end(), std::greater<>());
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), std::greater<>());
    uint32_t op = ready.back();
    ready.pop_back();
    order.push_back(op);
    for (uint32_t next : successors[op])
      if (--open[next] == 0) {
        ready.push_back(next);
        std::push_heap(ready.begin(), ready.end(), std::greater<>());
      }
  }
  if (order.size() != count)
    return cycleError(open);
  reorder(order);
  return {};
}

void DagBuilder::reorder(std::span<const uint32_t> order) {
  std::vector<uint32_t> place(order.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    place[order[i]] = i;
  for (Dep &dep : dag_->deps)
    dep.op = OpId{place[index(dep.op)]};
  std::vector<Op> sorted;
  sorted.reserve(order.size());
  for (uint32_t old : order)
    sorted.push_back(dag_->ops[old]);
  dag_->ops.swap(sorted);
}

Diagnostic DagBuilder::cycleError(std::span<const uint32_t> openDeps) const {
  // Every op that is still open waits for another one; follow that until one repeats.
  uint32_t op = std::find_if(openDeps.begin(), openDeps.end(), [](uint32_t n) { return n != 0; }) -
                openDeps.begin();
  std::vector<uint32_t> path;
  while (std::find(path.begin(), path.end(), op) == path.end()) {
    path.push_back(op);
    for (const Dep &dep : dag_->depsOf(dag_->ops[op]))
      if (openDeps[index(dep.op)] != 0) {
        op = index(dep.op);
        break;
      }
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), op));
  Diagnostic error = Diagnostic::error(
      dag_->ops[op].loc,
      "dependency cycle: this " + std::string(spelling(dag_->ops[op].kind)) + " waits for itself");
  for (size_t i = 0; i < path.size(); ++i) {
    const Op &on = dag_->ops[path[(i + 1) % path.size()]];
    error.notes.push_back(
        Diagnostic::note(on.loc, "through this " + std::string(spelling(on.kind))));
  }
  return error;
}

} // namespace colldsl
