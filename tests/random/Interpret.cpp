#include "tests/random/Interpret.h"

#include "tests/random/ContractFault.h"
#include "tests/random/Values.h"

#include <algorithm>
#include <array>
#include <set>

namespace colldsl::generated {
namespace {

constexpr uint32_t kNotPlaced = 0xffffffffu;

struct PlannedOp {
  Op op;
  std::vector<Slice> sources, targets;
  std::vector<Dep> deps;
};

/// What the ranks of a job agree on: numbers of calls and of messages' keys.
struct Job {
  using CallKey = std::tuple<uint32_t, std::vector<uint32_t>, uint32_t>; // caller, group, count
  std::map<CallKey, uint32_t> calls;
  std::map<CallKey, const Stmt *> statements;
  std::map<CallKey, std::set<uint32_t>> callers;
  std::map<std::array<int64_t, 5>, uint64_t> messages;
};

Slice asSlice(const SliceValue &value) {
  Slice slice;
  slice.beginOffset = value.begin;
  slice.endOffset = value.begin + value.length;
  slice.buffer = BufferId{value.buffer};
  return slice;
}

/// Runs the program as one rank.
class RankRun {
public:
  RankRun(const Program &program, Job &job, uint32_t rank)
      : program_(program), job_(job), rank_(rank), values_(program) {
    for (uint32_t r = 0; r < program.ranks; ++r)
      values_.context.members.push_back(r);
    values_.context.me = rank;
  }

  void run(Dag &dag, bool &synchronizes) {
    dag_ = &dag;
    synchronizes_ = &synchronizes;
    const Collective &main = program_.main();
    for (const Param &param : main.params)
      setDefault(param);
    int64_t n = static_cast<int64_t>(program_.elements);
    for (const Param &param : main.params)
      if (param.kind == Param::Kind::Buffer)
        addParameter(param, n);
    if (program_.inPlace)
      for (const Alias &alias : main.aliases)
        setAlias(alias);
    layOut();
    for (const Ensure &ensure : main.ensures)
      if (ensure.kind == Ensure::Kind::Synchronizes)
        *synchronizes_ = true;
      else
        promise(ensure);
    size_ = n;
    execute(main.body);
    addOps();
  }

private:
  struct Place {
    std::vector<uint32_t> in, out; ///< ops that orders into it and out of it attach to
  };
  using LabelKey = std::pair<Name, std::vector<int64_t>>;

  /// In the order of the text where that may be; an order may name a later op.
  void addOps() {
    std::vector<uint32_t> places(ops_.size(), kNotPlaced);
    uint32_t placed = 0;
    auto isReady = [&](const PlannedOp &op) {
      return std::all_of(op.deps.begin(), op.deps.end(),
                         [&](const Dep &d) { return places[index(d.op)] != kNotPlaced; });
    };
    while (placed < ops_.size()) {
      size_t next = 0;
      while (next < ops_.size() && (places[next] != kNotPlaced || !isReady(ops_[next])))
        ++next;
      if (next == ops_.size())
        throw Invalid{"an operation waits for itself"};
      PlannedOp &op = ops_[next];
      for (Dep &dep : op.deps)
        dep.op = OpId{places[index(dep.op)]};
      dag_->add(op.op, op.sources, op.targets, op.deps);
      places[next] = placed++;
    }
  }

  // Buffers

  uint32_t addBuffer(BufferRole role, int64_t length) {
    Buffer buffer;
    buffer.endOffset = length;
    buffer.role = role;
    dag_->addBuffer(buffer);
    return static_cast<uint32_t>(dag_->buffers.size() - 1);
  }

  SliceValue shaped(SliceValue value, const std::vector<int64_t> &dims) {
    value.blocks = dims.size() > 1 ? dims[0] : -1;
    value.blockLength = dims.back();
    return value;
  }

  std::vector<int64_t> dimsOf(const std::vector<Expr> &exprs, bool isGeneric, int64_t n) {
    std::vector<int64_t> dims;
    for (size_t i = 0; i < exprs.size(); ++i)
      dims.push_back(isGeneric && i + 1 == exprs.size() ? n : values_.defined(exprs[i]));
    for (int64_t dim : dims)
      if (dim < 0)
        throw Invalid{"a buffer of negative length"};
    return dims;
  }

  static int64_t lengthOf(const std::vector<int64_t> &dims) {
    return dims.size() > 1 ? dims[0] * dims[1] : dims[0];
  }

  void addParameter(const Param &param, int64_t n) {
    std::vector<int64_t> dims = dimsOf(param.dims, param.isGeneric, n);
    uint32_t buffer = addBuffer(param.role, lengthOf(dims));
    values_.slices[param.name] = shaped({buffer, 0, lengthOf(dims), -1, 0}, dims);
  }

  void setAlias(const Alias &alias) {
    SliceValue at = values_.slice(alias.slice);
    Buffer &buffer = dag_->buffers[values_.slices[alias.param].buffer];
    if (at.length != buffer.endOffset)
      throw Invalid{"an alias of another length"};
    buffer.aliasOf = BufferId{at.buffer};
    buffer.aliasSlice = static_cast<uint32_t>(dag_->slices.size());
    dag_->slices.push_back(asSlice(at));
  }

  /// Where each buffer's elements lie among all of the rank.
  void layOut() {
    for (const Buffer &buffer : dag_->buffers) {
      if (buffer.aliasOf == kNoBuffer)
        addCells(buffer.endOffset);
      else
        firsts_.push_back(-1);
    }
    for (size_t b = 0; b < dag_->buffers.size(); ++b)
      if (const Buffer &buffer = dag_->buffers[b]; buffer.aliasOf != kNoBuffer)
        firsts_[b] = firsts_[index(buffer.aliasOf)] + dag_->slices[buffer.aliasSlice].beginOffset;
  }

  void addCells(int64_t length) {
    firsts_.push_back(static_cast<int64_t>(writer_.size()));
    writer_.resize(writer_.size() + static_cast<size_t>(length), -1);
    readers_.resize(writer_.size());
  }

  // Parameters

  void setDefault(const Param &param) {
    switch (param.kind) {
    case Param::Kind::Buffer:
      return;
    case Param::Kind::Int:
      values_.numbers[param.name] = values_.defined(param.value[0]);
      return;
    case Param::Kind::Rank:
      values_.numbers[param.name] = rankOf(values_.number(param.value[0]));
      return;
    case Param::Kind::Tree:
      return values_.makeTree(param.name, param.structure, rankOf(values_.number(param.value[0])));
    case Param::Kind::Graph:
      return values_.makeGraph(param.name, param.structure);
    }
  }

  int64_t rankOf(int64_t value) const {
    if (value < 0 || value >= values_.context.size())
      throw Invalid{"no such rank"};
    return value;
  }

  // Contract

  void promise(const Ensure &e) {
    auto holds = [&] { return e.condition.empty() || values_.truth(e.condition[0]); };
    switch (e.kind) {
    case Ensure::Kind::Synchronizes:
      return;
    case Ensure::Kind::At:
      if (holds())
        promise(e.inner[0]);
      return;
    case Ensure::Kind::For:
      return values_.forEach(e.range, e.var, [&] {
        if (holds())
          promise(e.inner[0]);
      });
    case Ensure::Kind::Equal:
    case Ensure::Kind::Reduce:
      return promiseValue(e);
    }
  }

  void promiseValue(const Ensure &e) {
    Contract &contract = dag_->contract;
    colldsl::Ensure made;
    SliceValue target = values_.slice(e.target);
    made.target = asSlice(target);
    made.isReduction = e.kind == Ensure::Kind::Reduce;
    made.reduction = e.reduction;
    made.operandBegin = static_cast<uint32_t>(contract.operands.size());
    bool isVoid = false;
    auto addOperand = [&] {
      int64_t owner = e.rank.empty() ? values_.context.me : values_.number(e.rank[0]);
      isVoid |= owner == kNobody;
      if (owner == kNobody)
        return;
      SliceValue operand = values_.slice(e.operand);
      if (operand.length != target.length)
        throw Invalid{"a promise of another length"};
      contract.operands.push_back({Rank{static_cast<uint32_t>(rankOf(owner))}, asSlice(operand)});
    };
    if (!made.isReduction)
      addOperand();
    else
      values_.forEach(e.range, e.var, [&] {
        if (e.condition.empty() || values_.truth(e.condition[0]))
          addOperand();
      });
    if (made.isReduction && contract.operands.size() == made.operandBegin)
      throw Invalid{"a reduction of nothing"};
    made.operandCount = static_cast<uint32_t>(contract.operands.size()) - made.operandBegin;
    if (!isVoid)
      contract.ensures.push_back(made);
  }

  // Statements

  void execute(const std::vector<Stmt> &body) {
    for (const Stmt &s : body)
      execute(s);
  }

  void execute(const Stmt &s) {
    auto first = static_cast<uint32_t>(ops_.size());
    Place place;
    switch (s.kind) {
    case Stmt::Kind::Let:
      values_.numbers[s.name] = values_.number(s.exprs[0]);
      return;
    case Stmt::Kind::LetSlice:
      values_.slices[s.name] = values_.slice(s.sources[0]);
      return;
    case Stmt::Kind::Temp:
      return addTemporary(s);
    case Stmt::Kind::For:
      return values_.forEach(s.range, s.name, [&] { execute(s.body); });
    case Stmt::Kind::If:
      return execute(values_.truth(s.exprs[0]) ? s.body : s.otherwise);
    case Stmt::Kind::Depend:
      return order(s);
    case Stmt::Kind::Send:
    case Stmt::Kind::Recv:
    case Stmt::Kind::Signal:
    case Stmt::Kind::Wait:
      place = addMessage(s);
      break;
    case Stmt::Kind::Copy:
      place = addCopy(s);
      break;
    case Stmt::Kind::Combine: {
      uint32_t op = addCombine(s, slicesOf(s.sources), slicesOf(s.targets));
      place = {{op}, {op}};
      break;
    }
    case Stmt::Kind::Calc: {
      uint32_t op = add(OpKind::Calc, {}, {});
      place = {{op}, {op}};
      break;
    }
    case Stmt::Kind::Call:
      call(s);
      for (auto op = first; op < ops_.size(); ++op)
        place.in.push_back(op);
      place.out = place.in;
      break;
    case Stmt::Kind::LetTree:
    case Stmt::Kind::Parent:
    case Stmt::Kind::Child:
    case Stmt::Kind::EdgeTo:
    case Stmt::Kind::EdgeFrom:
      throw Invalid{"a statement of structures"};
    }
    if (s.label.name != kNoName && !labels_.emplace(keyOf(s.label), place).second)
      throw Invalid{"a label is set twice"};
  }

  void addTemporary(const Stmt &s) {
    std::vector<int64_t> dims = dimsOf(s.exprs, s.isGeneric, size_);
    uint32_t buffer = addBuffer(BufferRole::Temp, lengthOf(dims));
    addCells(lengthOf(dims));
    values_.slices[s.name] = shaped({buffer, 0, lengthOf(dims), -1, 0}, dims);
  }

  std::vector<SliceValue> slicesOf(const std::vector<SliceExpr> &exprs) {
    std::vector<SliceValue> all;
    for (const SliceExpr &e : exprs)
      all.push_back(values_.slice(e));
    return all;
  }

  std::vector<int64_t> cellsOf(const std::vector<SliceValue> &slices) const {
    std::vector<int64_t> cells;
    for (const SliceValue &s : slices)
      for (int64_t i = 0; i < s.length; ++i)
        cells.push_back(firsts_[s.buffer] + s.begin + i);
    return cells;
  }

  uint32_t add(OpKind kind, const std::vector<SliceValue> &sources,
               const std::vector<SliceValue> &targets) {
    PlannedOp planned;
    planned.op.kind = kind;
    for (const SliceValue &s : sources)
      planned.sources.push_back(asSlice(s));
    for (const SliceValue &s : targets)
      planned.targets.push_back(asSlice(s));
    auto id = static_cast<int64_t>(ops_.size());
    std::set<int64_t> before;
    for (int64_t cell : cellsOf(sources))
      read(cell, id, before);
    for (int64_t cell : cellsOf(targets))
      write(cell, id, before);
    for (int64_t op : before)
      planned.deps.push_back({OpId{static_cast<uint32_t>(op)}, DepKind::Requires});
    ops_.push_back(std::move(planned));
    return static_cast<uint32_t>(id);
  }

  void read(int64_t cell, int64_t op, std::set<int64_t> &before) {
    auto c = static_cast<size_t>(cell);
    if (writer_[c] >= 0)
      before.insert(writer_[c]);
    readers_[c].push_back(op);
  }

  void write(int64_t cell, int64_t op, std::set<int64_t> &before) {
    auto c = static_cast<size_t>(cell);
    if (writer_[c] >= 0 && writer_[c] != op)
      before.insert(writer_[c]);
    for (int64_t reader : readers_[c])
      if (reader != op)
        before.insert(reader);
    readers_[c].clear();
    writer_[c] = op;
  }

  Place addCopy(const Stmt &s) {
    std::vector<SliceValue> from = slicesOf(s.sources), to = slicesOf(s.targets);
    std::vector<int64_t> sources = cellsOf(from), targets = cellsOf(to);
    if (sources.size() != targets.size())
      throw Invalid{"a copy to another length"};
    if (sources == targets && !sources.empty())
      return {};
    uint32_t op = add(OpKind::Copy, from, to);
    return {{op}, {op}};
  }

  uint32_t addCombine(const Stmt &s, const std::vector<SliceValue> &from,
                      const std::vector<SliceValue> &to) {
    if (cellsOf(from).size() != cellsOf(to).size())
      throw Invalid{"a combine into another length"};
    uint32_t op = add(OpKind::Combine, from, to);
    ops_[op].op.reduction = s.reduction;
    ops_[op].op.side = s.side;
    return op;
  }

  Place addMessage(const Stmt &s) {
    int64_t peer = kNobody;
    std::array<int64_t, 5> key{values_.context.call, 0, -1, 0, 0};
    if (s.name != kNoName) {
      const EdgeValue &edge = values_.edges[s.name];
      peer = edge.peer;
      key = {values_.context.call, 0, edge.key, edge.count, 0};
      key[1] = s.exprs.empty() ? 0 : values_.defined(s.exprs[0]);
    } else {
      peer = values_.number(s.exprs[0]);
      key[1] = s.exprs.size() > 1 ? values_.defined(s.exprs[1]) : 0;
    }
    if (peer == kNobody)
      return {};
    std::vector<SliceValue> from = slicesOf(s.sources), to = slicesOf(s.targets);
    OpKind kind = s.kind == Stmt::Kind::Send     ? OpKind::Send
                  : s.kind == Stmt::Kind::Recv   ? OpKind::Recv
                  : s.kind == Stmt::Kind::Signal ? OpKind::Signal
                                                 : OpKind::Wait;
    std::vector<SliceValue> into = to;
    if (s.combines) {
      auto length = static_cast<int64_t>(cellsOf(to).size());
      uint32_t hidden = addBuffer(BufferRole::Temp, length);
      addCells(length);
      into = {{hidden, 0, length, -1, 0}};
    }
    uint32_t op = add(kind, from, into);
    ops_[op].op.peer = Rank{values_.context.members[static_cast<size_t>(rankOf(peer))]};
    ops_[op].op.message = MessageId{job_.messages.emplace(key, job_.messages.size()).first->second};
    uint32_t last = s.combines ? addCombine(s, into, to) : op;
    return {{op}, {last}};
  }

  LabelKey keyOf(const Label &label) {
    LabelKey key{label.name, {}};
    for (const Expr &e : label.index)
      key.second.push_back(values_.defined(e));
    return key;
  }

  const Place &placeOf(const Label &label) {
    auto found = labels_.find(keyOf(label));
    if (found == labels_.end())
      throw Invalid{"a label is not set"};
    return found->second;
  }

  void order(const Stmt &s) {
    const Place &waits = placeOf(s.labels[0]);
    for (size_t i = 1; i < s.labels.size(); ++i) {
      const Place &first = placeOf(s.labels[i]);
      for (uint32_t before : s.irequires ? startsOf(first) : first.out)
        for (uint32_t op : waits.in)
          ops_[op].deps.push_back(
              {OpId{before}, s.irequires ? DepKind::IRequires : DepKind::Requires});
    }
  }

  /// With whose starts it has started: what waits for none of the others.
  std::vector<uint32_t> startsOf(const Place &place) const {
    std::vector<uint32_t> starts;
    for (uint32_t op : place.in)
      if (std::none_of(ops_[op].deps.begin(), ops_[op].deps.end(), [&](const Dep &d) {
            return std::find(place.in.begin(), place.in.end(), index(d.op)) != place.in.end();
          }))
        starts.push_back(op);
    return starts;
  }

  // Calls

  void call(const Stmt &s) {
    std::vector<int64_t> chosen = membersOf(s.group); // in the caller's numbering
    Context inner;
    for (int64_t r : chosen) {
      if (r == values_.context.me)
        inner.me = static_cast<int64_t>(inner.members.size());
      inner.members.push_back(values_.context.members[static_cast<size_t>(r)]);
    }
    if (std::find(chosen.begin(), chosen.end(), values_.context.me) == chosen.end())
      return;
    uint32_t caller = values_.context.call;
    uint32_t count = counts_[{caller, inner.members}]++;
    Job::CallKey key{caller, inner.members, count};
    inner.call = job_.calls.emplace(key, job_.calls.size() + 1).first->second;
    if (job_.statements.emplace(key, &s).first->second != &s)
      throw Invalid{"members of a group make different calls"};
    job_.callers[key].insert(rank_);
    const Collective &callee = program_.collectives[s.callee];
    int64_t size = size_;
    bind(s, callee, chosen);
    Context outer = std::exchange(values_.context, inner);
    auto labels = std::exchange(labels_, {});
    for (const Param &param : callee.params)
      if (std::none_of(s.arguments.begin(), s.arguments.end(),
                       [&](const Argument &a) { return a.param == param.name; }))
        setDefault(param);
    execute(callee.body);
    labels_ = std::move(labels);
    values_.context = outer;
    size_ = size;
  }

  std::vector<int64_t> membersOf(const GroupExpr &group) {
    std::vector<int64_t> members, values;
    for (int64_t r = 0; r < values_.context.size(); ++r) {
      if (group.kind == GroupExpr::Kind::Current) {
        members.push_back(r);
        continue;
      }
      values_.numbers[group.var] = r;
      values.push_back(values_.number(group.choice[0]));
    }
    for (int64_t r = 0; r < static_cast<int64_t>(values.size()); ++r) {
      int64_t value = values[static_cast<size_t>(r)];
      int64_t mine = values[static_cast<size_t>(values_.context.me)];
      bool isIn =
          group.kind == GroupExpr::Kind::Where ? value != 0 : value != kNobody && value == mine;
      if (isIn)
        members.push_back(r);
    }
    return members;
  }

  void bind(const Stmt &s, const Collective &callee, const std::vector<int64_t> &members) {
    int64_t n = -1;
    for (const Argument &a : s.arguments) {
      auto param = std::find_if(callee.params.begin(), callee.params.end(),
                                [&](const Param &p) { return p.name == a.param; });
      if (param->kind == Param::Kind::Buffer) {
        bindBuffer(*param, values_.slice(a.slice[0]), n, static_cast<int64_t>(members.size()));
        continue;
      }
      int64_t value = values_.defined(a.value[0]);
      if (param->kind == Param::Kind::Rank) {
        auto at = std::find(members.begin(), members.end(), value);
        if (at == members.end())
          throw Invalid{"a rank that is no member"};
        value = at - members.begin();
      }
      values_.numbers[a.param] = value;
    }
    size_ = n;
  }

  /// The size symbol follows from the first buffer; `members`: what `ranks` is inside.
  void bindBuffer(const Param &param, SliceValue given, int64_t &n, int64_t members) {
    int64_t blocks = 1;
    if (param.dims.size() > 1)
      blocks = param.dims[0].op == ExprOp::Ranks ? members : values_.defined(param.dims[0]);
    int64_t last = param.isGeneric ? n : values_.defined(param.dims.back());
    if (last < 0)
      last = n = blocks > 0 ? given.length / blocks : 0;
    if (blocks * last != given.length)
      throw Invalid{"an argument of another length"};
    given.blocks = param.dims.size() > 1 ? blocks : -1;
    given.blockLength = last;
    values_.slices[param.name] = given;
  }

  const Program &program_;
  Job &job_;
  uint32_t rank_;
  Evaluator values_;
  Dag *dag_ = nullptr;
  bool *synchronizes_ = nullptr;
  int64_t size_ = 0; ///< n of the collective at hand
  std::vector<PlannedOp> ops_;
  std::vector<int64_t> firsts_;               // per buffer: its first cell
  std::vector<int64_t> writer_;               // per cell: the op that wrote it last
  std::vector<std::vector<int64_t>> readers_; // since then
  std::map<LabelKey, Place> labels_;
  std::map<std::pair<uint32_t, std::vector<uint32_t>>, uint32_t> counts_; // of calls
};

} // namespace

Result<Schedule> interpret(const Program &program) {
  for (const Collective &collective : program.collectives)
    if (std::string fault = contractFault(collective); !fault.empty())
      return Status::error(fault);
  Schedule schedule;
  schedule.ranks.resize(program.ranks);
  schedule.sizeClass = {program.elements, program.elements, program.elements};
  schedule.names = {"b"};
  schedule.hasContract = true;
  schedule.deterministic = program.main().deterministic;
  Job job;
  try {
    for (uint32_t r = 0; r < program.ranks; ++r)
      RankRun(program, job, r).run(schedule.ranks[r], schedule.synchronizes);
  } catch (const Invalid &invalid) {
    return Status::error(invalid.why);
  }
  for (const auto &[key, callers] : job.callers)
    if (callers.size() != std::get<1>(key).size())
      return Status::error("members of a group make different calls");
  return schedule;
}

} // namespace colldsl::generated
