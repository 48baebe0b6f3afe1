#include "instantiate/dependence/DagBuilder.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace colldsl {
namespace {

/// The fewest ops to join: of fewer no join saves three of four dependencies.
constexpr uint32_t kFewestToJoin = 5;

/// True if a join pays, when each of `after` ops waits for each of `before` ops.
constexpr bool isWorthJoin(uint64_t before, uint64_t after) {
  return before * after > 4 * (before + after);
}

/// True if the region is empty at every size.
bool isEmptyAlways(const Region &region) {
  const Slice &s = region.slice;
  return region.beginAt == region.endAt && s.beginScale == s.endScale &&
         s.beginOffset == s.endOffset;
}

} // namespace

void DagBuilder::begin(Dag &dag, ValidityRange &range) {
  firstMark_ += index32(lastDepOf_.size()); // at least as many as there were ops
  if (firstMark_ > UINT32_MAX - kMaxOps - 1) {
    lastDepOf_.clear();
    firstMark_ = 0;
  }
  dag_ = &dag;
  range_ = &range;
  usedMaps_ = 0;
  mapOfBuffer_.clear();
  readers_.clear();
  stated_.clear();
  joins_.clear();
  joinDeps_.clear();
  writerGroups_.clear();
  numDeps_ = 0;
  added_.clear();
}

LastAccesses &DagBuilder::newMap(BufferId buffer) {
  if (mapOfBuffer_.size() <= index(buffer))
    mapOfBuffer_.resize(index(buffer) + 1);
  if (usedMaps_ == maps_.size())
    maps_.emplace_back();
  else
    maps_[usedMaps_].clear();
  return *(mapOfBuffer_[index(buffer)] = &maps_[usedMaps_++]);
}

/// True if the newest op does not depend on this op or join so far. From now on it does.
inline bool DagBuilder::isNewDep(OpId on, OpId newest) {
  uint32_t mark = firstMark_ + index(newest) + 1;
  uint32_t &last = isJoin(on) ? joinOf(on).lastWaiter : lastDepOf_[index(on)];
  return std::exchange(last, mark) != mark;
}

inline void DagBuilder::addDep(OpId on, OpId newest) {
  if (isNewDep(on, newest))
    dag_->deps.push_back({on, DepKind::Requires});
}

/// The dependsOn of LastAccesses::access().
inline bool DagBuilder::waitFor(OpId on, uint32_t reader, OpId newest) {
  if (on == newest)
    return true;
  if (reader != ReaderPool::kEmpty && readers_[reader].length >= kFewestToJoin) [[unlikely]]
    return waitForReaders(on, reader, newest);
  addDep(on, newest);
  return true;
}

/// Variant of waitFor() for the many readers from this node on: they get a join once it pays.
/// False: the newest op waits for the join, and so for the rest of the list.
bool DagBuilder::waitForReaders(OpId on, uint32_t reader, OpId newest) {
  ReaderPool::Node &node = readers_[reader];
  if (node.join == kNoOp) {
    if (!isNewDep(on, newest))
      return true;
    if (!isWorthJoin(node.length, ++node.waiters)) {
      dag_->deps.push_back({on, DepKind::Requires});
      return true;
    }
    node.join = joinReaders(reader);
  }
  addDep(node.join, newest);
  return false;
}

OpId DagBuilder::beginJoin(uint32_t before) {
  OpId join{kMaxOps + 1 + index32(joins_.size())};
  joins_.push_back({.before = before, .depBegin = index32(joinDeps_.size())});
  return join;
}

/// Adds a dependency to a join, which is the newest one.
void DagBuilder::addToJoin(OpId join, Dep dep) {
  Join &to = joinOf(join);
  to.oldest = std::min(to.oldest, isJoin(dep.op) ? joinOf(dep.op).oldest : index(dep.op));
  to.newest = std::max(to.newest, isJoin(dep.op) ? joinOf(dep.op).newest : index(dep.op));
  joinDeps_.push_back(dep);
  ++to.depCount;
  ++numDeps_;
}

/// A join for the readers from this node on.
OpId DagBuilder::joinReaders(uint32_t reader) {
  OpId join = beginJoin(size() - 1);
  for (uint32_t r = reader; r != ReaderPool::kEmpty; r = readers_[r].next) {
    const ReaderPool::Node &node = readers_[r];
    addToJoin(join, {node.join != kNoOp ? node.join : node.op, DepKind::Requires});
    if (node.join != kNoOp)
      break;
  }
  return join;
}

/// Puts a join in the place of these dependencies of the newest op once it pays: other ops may read
/// what the same writers wrote.
void DagBuilder::joinWriters(size_t firstDep) {
  std::span<const Dep> writers = std::span(dag_->deps).subspan(firstDep);
  uint64_t key = 0;
  for (const Dep &dep : writers)
    key = key * 0x9e3779b97f4a7c15u + index(dep.op) + 1;
  WriterGroup &group = writerGroups_[mixHash(key, writers.size())];
  if (group.join == kNoOp) {
    if (!isWorthJoin(writers.size(), ++group.waiters))
      return;
    group.join = beginJoin(size() - 1);
    for (const Dep &dep : writers)
      addToJoin(group.join, dep);
  } else if (auto joined = depsOf(joinOf(group.join));
             !std::equal(writers.begin(), writers.end(), joined.begin(), joined.end())) {
    return; // another group with the same hash
  }
  dag_->deps.resize(firstDep);
  addDep(group.join, OpId{size() - 1});
}

Status DagBuilder::track(std::span<const Region> regions, bool writes, OpId op) {
  auto dependsOn = [ this, op ](OpId on, uint32_t reader) __attribute__((always_inline)) {
    return waitFor(on, reader, op);
  };
  for (const Region &region : regions) {
    if (isEmptyAlways(region))
      continue;
    LastAccesses &map = mapOf(region.slice.buffer);
    if (map.accessAgain(region, writes, op, readers_, dependsOn)) [[likely]]
      continue;
    const Slice &s = region.slice;
    bool callTime = s.block != kNoBlock;
    uint32_t block = callTime ? s.block : 0;
    BufferPlace begin{block, {s.beginScale, s.beginOffset, s.denominator, region.beginAt}};
    BufferPlace end{block, {s.endScale, s.endOffset, s.denominator, region.endAt}};
    size_t firstDep = dag_->deps.size();
    if (!map.access(begin, end, writes, op, *range_, readers_, callTime, dependsOn))
      return Status::error(dag_->ops[index(op)].loc,
                           "a block whose length is known at call time is cut in two ways "
                           "that cannot be compared for every length");
    if (!writes && dag_->deps.size() - firstDep >= kFewestToJoin)
      joinWriters(firstDep);
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
  uint32_t end = index32(dag_->slices.size() + sources.size() + targets.size());
  op.sourceCount = static_cast<uint32_t>(sources.size());
  op.targetCount = static_cast<uint32_t>(targets.size());
  op.targetBegin = end - op.targetCount;
  op.sourceBegin = op.targetBegin - op.sourceCount;
  op.depCount = index32(dag_->deps.size()) - op.depBegin;
  numDeps_ += op.depCount;
  for (const Region &region : sources)
    dag_->slices.push_back(region.slice);
  for (const Region &region : targets)
    dag_->slices.push_back(region.slice);
  return {};
}

/// A temporary for the bytes that are received and then combined into the slice; a block of
/// capacity has as much room there.
Buffer DagBuilder::incomingFor(const Slice &s) const {
  const Buffer &target = dag_->buffers[index(s.buffer)];
  Buffer temp;
  temp.name = kHiddenName;
  temp.type = target.type;
  if (s.block != kNoBlock) {
    temp.layout = Layout::Capacity;
    temp.blocks = 1;
    temp.endScale = target.endScale / target.blocks;
    temp.endOffset = target.endOffset / target.blocks;
    return temp;
  }
  temp.originScale = s.beginScale;
  temp.originOffset = s.beginOffset;
  temp.endScale = s.endScale;
  temp.endOffset = s.endOffset;
  temp.denominator = s.denominator;
  return temp;
}

/// Only these two ops touch the temporary.
Status DagBuilder::receiveAndCombine(Reduction reduction, Side side,
                                     std::span<const Region> targets) {
  uint32_t hidden = index32(dag_->slices.size()), count = index32(targets.size());
  for (const Region &region : targets) {
    Slice incoming = region.slice;
    incoming.block = region.slice.block == kNoBlock ? kNoBlock : 0;
    incoming.buffer = dag_->addBuffer(incomingFor(region.slice));
    dag_->slices.push_back(incoming);
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
  addDep(receive, OpId{dag_->size() - 1});
  if (Status s = touch({}, targets); !s)
    return s;
  Op &added = dag_->ops.back();
  added.sourceBegin = hidden + count;
  added.sourceCount = count;
  return {};
}

/// True if some op of the range is this one, or one for which this join waits.
bool DagBuilder::dependsInto(OpId on, const OpRange &range) const {
  auto isWithin = [&](uint32_t op) { return op >= range.first && op < range.last; };
  if (!isJoin(on))
    return isWithin(index(on));
  const Join &join = joinOf(on);
  if (join.newest < range.first || join.oldest >= range.last)
    return false;
  if (isWithin(join.newest))
    return true;
  auto deps = depsOf(join); // joins of joins end before the ops that wait for them
  return std::any_of(deps.begin(), deps.end(), [&](const Dep &d) { return isWithin(index(d.op)); });
}

std::vector<OpId> DagBuilder::entriesOf(const OpRange &range) const {
  std::vector<OpId> entries;
  for (uint32_t i = range.first; i < range.last; ++i) {
    auto deps = dag_->depsOf(dag_->ops[i]);
    if (std::none_of(deps.begin(), deps.end(),
                     [&](const Dep &d) { return dependsInto(d.op, range); }))
      entries.push_back(OpId{i});
  }
  return entries;
}

std::vector<OpId> DagBuilder::exitsOf(const OpRange &range) const {
  std::vector<bool> followed(range.last - range.first);
  std::vector<bool> seen(joins_.size());
  std::vector<std::span<const Dep>> open; // of an op, and of the joins for which it waits
  for (uint32_t i = range.first; i < range.last; ++i) {
    open.push_back(dag_->depsOf(dag_->ops[i]));
    while (!open.empty()) {
      std::span<const Dep> deps = open.back();
      open.pop_back();
      for (const Dep &dep : deps) {
        if (dep.kind != DepKind::Requires || !dependsInto(dep.op, range))
          continue;
        if (!isJoin(dep.op))
          followed[index(dep.op) - range.first] = true;
        else if (!seen[joinIndex(dep.op)])
          open.push_back(depsOf(joinOf(dep.op)));
        if (isJoin(dep.op))
          seen[joinIndex(dep.op)] = true;
      }
    }
  }
  std::vector<OpId> exits;
  for (uint32_t i = range.first; i < range.last; ++i)
    if (!followed[i - range.first])
      exits.push_back(OpId{i});
  return exits;
}

void DagBuilder::dependAll(const OpRange &waiter, const OpRange &first, DepKind kind) {
  std::vector<OpId> before = kind == DepKind::Requires ? exitsOf(first) : entriesOf(first);
  std::vector<OpId> after = entriesOf(waiter);
  if (isWorthJoin(before.size(), after.size())) {
    OpId join = beginJoin(index(after.front()));
    for (OpId f : before)
      addToJoin(join, {f, kind});
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
  if ((!isJoin(dep.op) && index(dep.op) >= index(waiter)) || op.depCount > kFewDeps) {
    stated_.push_back({waiter, dep});
    ++numDeps_;
    return;
  }
  for (uint32_t i = 0; i < op.depCount; ++i)
    if (deps[op.depBegin + i] == dep)
      return;
  if (op.depBegin + op.depCount != deps.size()) { // move its few to the end
    uint32_t begin = index32(deps.size());
    for (uint32_t i = 0; i < op.depCount; ++i)
      deps.push_back(Dep(deps[op.depBegin + i]));
    op.depBegin = begin;
  }
  deps.push_back(dep);
  ++op.depCount;
  ++numDeps_;
}

Status DagBuilder::finish() {
  if (stated_.empty() && joins_.empty())
    return {};
  if (!stated_.empty())
    mergeStatedDeps();
  if (!joins_.empty())
    placeJoins();
  return isSorted() ? Status() : sortByDeps();
}

bool DagBuilder::isSorted() const {
  for (uint32_t i = 0; i < dag_->size(); ++i)
    for (const Dep &dep : dag_->depsOf(dag_->ops[i]))
      if (index(dep.op) >= i)
        return false;
  return true;
}

/// Joins become ops: behind all others, then each before the first that waits for it.
void DagBuilder::placeJoins() {
  uint32_t count = size();
  auto number = [&](Dep dep) {
    return isJoin(dep.op) ? Dep{OpId{count + joinIndex(dep.op)}, dep.kind} : dep;
  };
  std::transform(dag_->deps.begin(), dag_->deps.end(), dag_->deps.begin(), number);
  std::vector<std::pair<uint32_t, uint32_t>> places; // of joins: before which op, and their own
  for (const Join &join : joins_) {
    places.push_back({join.before, size()});
    Op &op = addPlain();
    op.loc = dag_->ops[join.before].loc;
    op.depCount = join.depCount;
    auto deps = depsOf(join);
    std::transform(deps.begin(), deps.end(), std::back_inserter(dag_->deps), number);
  }
  std::sort(places.begin(), places.end());
  std::vector<uint32_t> order;
  order.reserve(size());
  auto next = places.begin();
  for (uint32_t i = 0; i < count; ++i) {
    for (; next != places.end() && next->first == i; ++next)
      order.push_back(next->second);
    order.push_back(i);
  }
  reorder(order);
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
    uint32_t begin = index32(merged.size());
    for (const Dep &dep : dag_->depsOf(op))
      merged.push_back(dep);
    for (; next != stated_.end() && index(next->waiter) == i; ++next)
      if (std::find(merged.begin() + begin, merged.end(), next->dep) == merged.end())
        merged.push_back(next->dep);
    op.depBegin = begin;
    op.depCount = index32(merged.size()) - begin;
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
  std::vector<uint32_t> added(order.begin(), order.end());
  for (uint32_t &number : added)
    number = number < added_.size() ? added_[number] : number;
  added_.swap(added);
}

std::vector<OpId> DagBuilder::programOrder() const {
  std::vector<OpId> order(added_.size());
  for (uint32_t i = 0; i < added_.size(); ++i)
    order[added_[i]] = OpId{i};
  return order;
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
  std::string text = "dependency cycle: this " + std::string(spelling(dag_->ops[op].kind));
  if (path.size() == 1)
    text += " waits for itself";
  else
    text += " and " + std::to_string(path.size() - 1) +
            (path.size() == 2 ? " other op" : " other ops") + " wait for each other";
  Diagnostic error = Diagnostic::error(dag_->ops[op].loc, std::move(text));
  for (size_t i = 0; i < path.size(); ++i) {
    const Op &on = dag_->ops[path[(i + 1) % path.size()]];
    error.notes.push_back(
        Diagnostic::note(on.loc, "through this " + std::string(spelling(on.kind))));
  }
  return error;
}

} // namespace colldsl
