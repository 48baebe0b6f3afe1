#include "tests/mutation/Mutation.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

namespace colldsl::mutation {
namespace {

/// Without one op. Ops that depended on it lose that, or (bridged) inherit its dependencies.
void dropOp(Dag &dag, OpId dropped, bool bridged) {
  std::vector<Dep> deps;
  std::vector<Op> ops;
  const Op gone = dag.op(dropped);
  auto add = [&](size_t first, Dep dep) {
    dep.op = dep.op > dropped ? OpId{index(dep.op) - 1} : dep.op;
    if (std::find(deps.begin() + first, deps.end(), dep) == deps.end())
      deps.push_back(dep);
  };
  for (uint32_t i = 0; i < dag.size(); ++i) {
    if (OpId{i} == dropped)
      continue;
    Op op = dag.ops[i];
    size_t first = deps.size();
    for (const Dep &dep : dag.depsOf(op)) {
      if (dep.op != dropped)
        add(first, dep);
      else if (bridged)
        for (const Dep &inherited : dag.depsOf(gone))
          add(first, inherited);
    }
    op.depBegin = static_cast<uint32_t>(first);
    op.depCount = static_cast<uint32_t>(deps.size() - first);
    ops.push_back(op);
  }
  dag.ops = std::move(ops);
  dag.deps = std::move(deps);
}

/// Gives the op a list of dependencies of its own, at the end.
void setDeps(Dag &dag, OpId id, const std::vector<Dep> &deps) {
  Op &op = dag.ops[index(id)];
  op.depBegin = static_cast<uint32_t>(dag.deps.size());
  op.depCount = static_cast<uint32_t>(deps.size());
  dag.deps.insert(dag.deps.end(), deps.begin(), deps.end());
}

std::vector<Dep> copyDeps(const Dag &dag, OpId id) {
  std::span<const Dep> deps = dag.depsOf(dag.op(id));
  return {deps.begin(), deps.end()};
}

void changeSlice(const Mutation &m, const Buffer &buffer, Slice &slice) {
  int64_t shift = m.by * slice.denominator;
  slice.endOffset += m.kind == Kind::Block && slice.block != kNoBlock ? 0 : shift;
  if (m.kind == Kind::Size)
    return;
  if (m.kind == Kind::Block && slice.block != kNoBlock)
    slice.block = static_cast<uint32_t>((slice.block + m.by + buffer.blocks) % buffer.blocks);
  else
    slice.beginOffset += shift;
}

/// Gives the op a list of slices of its own, changed.
void changeSlices(const Mutation &m, Dag &dag, Op &op, bool target) {
  std::span<const Slice> old = target ? dag.targets(op) : dag.sources(op);
  std::vector<Slice> slices(old.begin(), old.end());
  if (m.kind == Kind::SwapSlices)
    std::swap(slices[m.which], slices[m.which + 1]);
  else if (m.kind == Kind::DropSlice)
    slices.erase(slices.begin() + m.which);
  else
    changeSlice(m, dag.bufferOf(slices[m.which]), slices[m.which]);
  (target ? op.targetBegin : op.sourceBegin) = static_cast<uint32_t>(dag.slices.size());
  (target ? op.targetCount : op.sourceCount) = static_cast<uint32_t>(slices.size());
  dag.slices.insert(dag.slices.end(), slices.begin(), slices.end());
}

bool requiresFinish(const Dag &dag, OpId op, OpId other) {
  std::span<const Dep> deps = dag.depsOf(dag.op(op));
  return std::find(deps.begin(), deps.end(), Dep{other, DepKind::Requires}) != deps.end();
}

bool touches(const Dag &dag, const Op &op, BufferId buffer) {
  auto isThere = [&](const Slice &slice) { return slice.buffer == buffer; };
  std::span<const Slice> sources = dag.sources(op), targets = dag.targets(op);
  return std::any_of(sources.begin(), sources.end(), isThere) ||
         std::any_of(targets.begin(), targets.end(), isThere);
}

int64_t originOf(const Buffer &buffer, uint64_t elements) {
  return positionAt(buffer.originScale, buffer.originOffset, buffer.denominator, elements);
}

bool isEndOf(const Op &op, Rank self, const Op &other, Rank rank) {
  return isMessage(op.kind) && sendsMessage(op.kind) != sendsMessage(other.kind) &&
         op.peer == rank && other.peer == self && op.message == other.message;
}

/// The next op of the rank that is of the same kind; the same op if none is.
OpId nextAlike(const Dag &dag, OpId id) {
  for (uint32_t i = index(id) + 1; i < dag.size(); ++i)
    if (dag.ops[i].kind == dag.op(id).kind)
      return OpId{i};
  return id;
}

class Enumeration {
public:
  Enumeration(const Schedule &schedule, const std::vector<Sizes> &sizes)
      : schedule_(schedule), sizes_(sizes) {}

  std::vector<Mutation> run() {
    for (uint32_t r = 0; r < schedule_.numRanks(); ++r) {
      for (uint32_t i = 0; i < schedule_.ranks[r].size(); ++i)
        visit(OpPlace{Rank{r}, OpId{i}});
      addScratch(Rank{r});
    }
    return std::move(all_);
  }

private:
  const Dag &dag() const { return schedule_.ranks[index(at_.rank)]; }
  const Op &op() const { return dag().op(at_.op); }

  void add(Kind kind, uint32_t which = 0, int64_t by = 0, bool target = false, bool both = false) {
    all_.push_back({kind, both, target, at_.rank, at_.op, which, by});
  }

  void visit(OpPlace at) {
    at_ = at;
    partner_ = isMessage(op().kind) ? partnerOf(schedule_, at) : OpPlace();
    add(Kind::DropOp);
    add(Kind::BridgeOp);
    addEdges();
    if (isMessage(op().kind))
      addMessage();
    if (op().kind == OpKind::Combine)
      addCombine();
    addLists(false);
    addLists(true);
  }

  void addEdges() {
    OpId before{index(at_.op) - 1};
    bool follows = index(at_.op) == 0;
    std::span<const Dep> deps = dag().depsOf(op());
    for (uint32_t i = 0; i < deps.size(); ++i) {
      add(Kind::DropEdge, i);
      if (deps[i].kind == DepKind::Requires)
        add(Kind::WeakenEdge, i);
      follows |= deps[i] == Dep{before, DepKind::Requires};
    }
    if (!follows)
      add(Kind::AddEdge, 0, index(before));
    if (at_.rank == Rank{0} && index(at_.op) > 0)
      add(Kind::AddEdges);
  }

  /// Each temporary in each parameter that has room for it.
  void addScratch(Rank rank) {
    const Dag &dag = schedule_.ranks[index(rank)];
    auto fits = [&](const Buffer &temp, const Buffer &param) {
      return temp.role == BufferRole::Temp && param.role != BufferRole::Temp && param.significant &&
             temp.layout == Layout::Dense && param.layout == Layout::Dense &&
             extentBytes(temp, sizes_[0]) <= extentBytes(param, sizes_[0]);
    };
    for (uint32_t t = 0; t < dag.buffers.size(); ++t) {
      uint32_t first = 0;
      while (first < dag.size() && !touches(dag, dag.ops[first], BufferId{t}))
        ++first;
      at_ = {rank, OpId{first}};
      for (uint32_t p = 0; p < dag.buffers.size() && first < dag.size(); ++p)
        if (fits(dag.buffers[t], dag.buffers[p]))
          add(Kind::Scratch, t, p);
    }
  }

  void addMessage() {
    for (uint32_t r = 0; r < schedule_.numRanks(); ++r)
      if (Rank{r} != op().peer)
        add(Kind::Peer, 0, r);
    if (nextAlike(dag(), at_.op) != at_.op)
      add(Kind::Cross);
    if (partner_.exists() && sendsMessage(op().kind))
      add(Kind::DropMessage);
  }

  void addCombine() {
    add(Kind::Side);
    for (Reduction other : {Reduction::Sum, Reduction::Prod, Reduction::Max, Reduction::MatMul})
      if (other != op().reduction)
        add(Kind::Operator, 0, static_cast<int64_t>(other));
    for (ElementType other : {ElementType::I32, ElementType::U32, ElementType::F32})
      if (other != op().type && sizeBytes(other) == sizeBytes(op().type))
        add(Kind::Type, 0, static_cast<int64_t>(other));
  }

  void addLists(bool target) {
    std::span<const Slice> slices = target ? dag().targets(op()) : dag().sources(op());
    for (uint32_t i = 0; i < slices.size(); ++i) {
      addSlice(slices[i], i, target);
      if (i + 1 < slices.size())
        addAlone(Kind::SwapSlices, i, 0, target);
      if (slices.size() > 1)
        addAlone(Kind::DropSlice, i, 0, target);
    }
  }

  void addSlice(const Slice &slice, uint32_t which, bool target) {
    int64_t length = lengthOf(at_.rank, slice);
    uint32_t blocks = dag().bufferOf(slice).blocks;
    if (slice.block == kNoBlock) {
      if (length > 1)
        addAlone(Kind::Block, which, length, target), addAlone(Kind::Block, which, -length, target);
    } else if (blocks > 1) {
      addAlone(Kind::Block, which, 1, target);
      if (blocks > 2)
        addAlone(Kind::Block, which, -1, target);
    }
    if (length > 0)
      addAlone(Kind::Offset, which, 1, target), addAlone(Kind::Offset, which, -1, target);
    if (length > 0)
      addAlone(Kind::Size, which, -1, target);
    addAlone(Kind::Size, which, 1, target);
    if (length > 1)
      addAlone(Kind::Size, which, -length, target);
  }

  /// Alone, and once for each pair of counterparts together with the other one.
  void addAlone(Kind kind, uint32_t which, int64_t by, bool target) {
    add(kind, which, by, target);
    if (!target && counterpart() > which + (kind == Kind::SwapSlices))
      add(kind, which, by, target, true);
  }

  /// Slices in the list that receives what this op's sources hold.
  uint32_t counterpart() const {
    if (!isMessage(op().kind))
      return op().targetCount;
    return partner_.exists() ? schedule_.ranks[index(partner_.rank)].op(partner_.op).targetCount
                             : 0;
  }

  int64_t lengthOf(Rank rank, const Slice &slice) const {
    const Buffer &buffer = schedule_.ranks[index(rank)].bufferOf(slice);
    return static_cast<int64_t>(resolve(slice, buffer, sizes_[index(rank)]).length /
                                sizeBytes(buffer.type));
  }

  const Schedule &schedule_;
  const std::vector<Sizes> &sizes_;
  std::vector<Mutation> all_;
  OpPlace at_;
  OpPlace partner_;
};

} // namespace

std::string_view spelling(Kind kind) {
  switch (kind) {
#define COLLDSL_MUTATION(Name, spelling, summary)                                                  \
  case Kind::Name:                                                                                 \
    return spelling;
#include "tests/mutation/Mutations.def"
  }
  llvm_unreachable("all kinds have a spelling");
}

std::string_view summary(Kind kind) {
  switch (kind) {
#define COLLDSL_MUTATION(Name, spelling, summary)                                                  \
  case Kind::Name:                                                                                 \
    return summary;
#include "tests/mutation/Mutations.def"
  }
  llvm_unreachable("all kinds have a summary");
}

OpPlace partnerOf(const Schedule &schedule, OpPlace end) {
  const Op &op = schedule.ranks[index(end.rank)].op(end.op);
  OpPlace found;
  const Dag &dag = schedule.ranks[index(op.peer)];
  for (uint32_t i = 0; i < dag.size(); ++i) {
    if (!isEndOf(dag.ops[i], op.peer, op, end.rank))
      continue;
    if (found.exists())
      return {};
    found = {op.peer, OpId{i}};
  }
  return found;
}

std::vector<Mutation> allMutations(const Schedule &schedule, const std::vector<Sizes> &sizes) {
  return Enumeration(schedule, sizes).run();
}

std::string words(const Mutation &m, const Schedule &schedule) {
  const Op &op = schedule.ranks[index(m.rank)].op(m.op);
  std::string text(spelling(m.kind));
  text += ": rank " + std::to_string(index(m.rank)) + ", op " + std::to_string(index(m.op)) + ", " +
          std::string(colldsl::spelling(op.kind));
  if (isMessage(op.kind))
    text += (sendsMessage(op.kind) ? " to " : " from ") + std::to_string(index(op.peer)) + " tag " +
            std::to_string(value(op.message));
  text += op.loc.known() ? ", line " + std::to_string(op.loc.line) : "";
  text += (m.target ? ": target " : ": ") + std::to_string(m.which) + " by " + std::to_string(m.by);
  return text + (m.both ? ", and its counterpart" : "");
}

Dag &Mutant::touch(Rank rank) {
  if (std::find(touched_.begin(), touched_.end(), rank) == touched_.end())
    touched_.push_back(rank);
  return schedule_.ranks[index(rank)];
}

const Schedule &Mutant::become(const Mutation &mutation) {
  for (Rank rank : touched_)
    schedule_.ranks[index(rank)] = original_.ranks[index(rank)];
  touched_.clear();
  mutate(mutation);
  return schedule_;
}

std::vector<OpPlace> Mutant::suspects(const Mutation &m) const {
  std::vector<OpPlace> ends{{m.rank, m.op}};
  const Op &op = original_.ranks[index(m.rank)].op(m.op);
  if (isMessage(op.kind))
    ends.push_back(partnerOf(original_, ends.front()));
  std::vector<OpPlace> all;
  for (OpPlace end : ends) {
    if (!end.exists())
      continue;
    const Dag &dag = original_.ranks[index(end.rank)];
    for (const Dep &dep : dag.depsOf(dag.op(end.op))) // older ones: they keep their numbers
      all.push_back({end.rank, dep.op});
    all.push_back(end);
  }
  std::erase_if(all, [&](OpPlace place) {
    return index(place.op) >= schedule_.ranks[index(place.rank)].size();
  });
  return all;
}

void Mutant::mutate(const Mutation &m) {
  Dag &dag = touch(m.rank);
  Op &op = dag.ops[index(m.op)];
  std::vector<Dep> deps = copyDeps(dag, m.op);
  switch (m.kind) {
  case Kind::DropOp:
  case Kind::BridgeOp:
    return dropOp(dag, m.op, m.kind == Kind::BridgeOp);
  case Kind::DropMessage: {
    OpPlace partner = partnerOf(schedule_, {m.rank, m.op});
    bool shifts = partner.rank == m.rank && partner.op > m.op;
    dropOp(dag, m.op, true);
    return dropOp(touch(partner.rank), shifts ? OpId{index(partner.op) - 1} : partner.op, true);
  }
  case Kind::DropEdge:
    deps.erase(deps.begin() + m.which);
    return setDeps(dag, m.op, deps);
  case Kind::WeakenEdge:
    deps[m.which].kind = DepKind::IRequires;
    return setDeps(dag, m.op, deps);
  case Kind::AddEdge:
    deps.push_back({OpId{static_cast<uint32_t>(m.by)}, DepKind::Requires});
    return setDeps(dag, m.op, deps);
  case Kind::AddEdges:
    return addEdges(m.op);
  case Kind::Block:
  case Kind::Offset:
  case Kind::Size:
  case Kind::SwapSlices:
  case Kind::DropSlice:
    return mutateSlices(m);
  case Kind::Peer:
    op.peer = Rank{static_cast<uint32_t>(m.by)};
    return;
  case Kind::Cross:
    return cross(m);
  case Kind::Side:
    op.side = op.side == Side::Before ? Side::After : Side::Before;
    return;
  case Kind::Operator:
    op.reduction = static_cast<Reduction>(m.by);
    return;
  case Kind::Type:
    op.type = static_cast<ElementType>(m.by);
    return;
  case Kind::Scratch:
    return useAsScratch(m);
  }
  llvm_unreachable("all kinds mutate");
}

void Mutant::mutateSlices(const Mutation &m) {
  Dag &dag = touch(m.rank);
  Op &op = dag.ops[index(m.op)];
  OpPlace partner = m.both && isMessage(op.kind) ? partnerOf(schedule_, {m.rank, m.op}) : OpPlace();
  changeSlices(m, dag, op, m.target);
  if (!m.both)
    return;
  if (!isMessage(op.kind))
    return changeSlices(m, dag, op, true);
  Dag &other = touch(partner.rank);
  changeSlices(m, other, other.ops[index(partner.op)], true);
}

void Mutant::addEdges(OpId op) {
  OpId before{index(op) - 1};
  for (uint32_t r = 0; r < schedule_.numRanks(); ++r) {
    if (index(op) >= original_.ranks[r].size() || requiresFinish(original_.ranks[r], op, before))
      continue;
    Dag &dag = touch(Rank{r});
    std::vector<Dep> deps = copyDeps(dag, op);
    deps.push_back({before, DepKind::Requires});
    setDeps(dag, op, deps);
  }
}

void Mutant::useAsScratch(const Mutation &m) {
  Dag &dag = touch(m.rank);
  BufferId temp{m.which}, param{static_cast<uint32_t>(m.by)};
  int64_t shift = originOf(dag.buffers[index(param)], elements_) -
                  originOf(dag.buffers[index(temp)], elements_);
  for (Slice &slice : dag.slices)
    if (slice.buffer == temp) {
      slice.buffer = param;
      slice.beginOffset += shift * slice.denominator;
      slice.endOffset += shift * slice.denominator;
    }
}

void Mutant::cross(const Mutation &m) {
  Dag &dag = touch(m.rank);
  Op &a = dag.ops[index(m.op)];
  Op &b = dag.ops[index(nextAlike(dag, m.op))];
  std::swap(a.peer, b.peer);
  std::swap(a.message, b.message);
}

} // namespace colldsl::mutation
