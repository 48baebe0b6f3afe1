#include "tests/random/Interpret.h"

#include "tests/random/Buffers.h"
#include "tests/random/ContractFault.h"
#include "tests/random/Values.h"

#include <algorithm>
#include <array>
#include <set>

namespace colldsl::generated {
namespace {

constexpr uint32_t kNotPlaced = 0xffffffffu;
constexpr int64_t kUnbound = -1;

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

/// Runs the program as one rank.
class RankRun {
public:
  RankRun(const Program &program, Job &job, uint32_t rank)
      : program_(program), job_(job), rank_(rank), values_(program),
        buffers_(program, rank, values_) {
    for (uint32_t r = 0; r < program.ranks; ++r)
      values_.context.members.push_back(r);
    values_.context.me = rank;
  }

  void run(Dag &dag, bool &synchronizes) {
    makeContract(dag, synchronizes);
    buffers_.enterBody();
    execute(program_.main().body);
    addOps();
  }

  /// Buffers and contract alone; slices that are promised to be equal need not be equally long.
  void runContract(Dag &dag, bool &synchronizes) {
    buffers_.leaveLengths();
    makeContract(dag, synchronizes);
  }

private:
  struct Place {
    std::vector<uint32_t> in, out; ///< ops that orders into it and out of it attach to
  };
  using LabelKey = std::pair<Name, std::vector<int64_t>>;

  void makeContract(Dag &dag, bool &synchronizes) {
    dag_ = &dag;
    synchronizes_ = &synchronizes;
    values_.sizes = program_.sizes;
    buffers_.begin(dag);
    const Collective &main = program_.main();
    for (const Param &param : main.params)
      setDefault(param);
    for (const Param &param : main.params)
      if (param.kind == Param::Kind::Buffer)
        buffers_.addParameter(param);
    if (program_.inPlace)
      for (const Alias &alias : main.aliases)
        buffers_.setAlias(alias);
    buffers_.layOut();
    for (const Ensure &ensure : main.ensures)
      if (ensure.kind == Ensure::Kind::Synchronizes)
        *synchronizes_ = true;
      else
        promise(ensure);
  }

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
    SliceValue target = buffers_.targetOf(e);
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
      SliceValue operand = buffers_.operandOf(e, rankOf(owner));
      if (!buffers_.areEqual({target}, {operand}))
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
      return buffers_.addTemporary(s);
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
      uint32_t op = addCombine(s, buffers_.slicesOf(s.sources), buffers_.slicesOf(s.targets));
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
    for (int64_t cell : buffers_.cellsOf(sources))
      buffers_.cells.read(cell, id, before);
    for (int64_t cell : buffers_.cellsOf(targets))
      buffers_.cells.write(cell, id, before);
    for (int64_t op : before)
      planned.deps.push_back({OpId{static_cast<uint32_t>(op)}, DepKind::Requires});
    ops_.push_back(std::move(planned));
    return static_cast<uint32_t>(id);
  }

  Place addCopy(const Stmt &s) {
    std::vector<SliceValue> from = buffers_.slicesOf(s.sources), to = buffers_.slicesOf(s.targets);
    std::vector<int64_t> sources = buffers_.cellsOf(from), targets = buffers_.cellsOf(to);
    if (!buffers_.areEqual(from, to))
      throw Invalid{"a copy to another length"};
    if (sources == targets && !sources.empty())
      return {};
    uint32_t op = add(OpKind::Copy, from, to);
    return {{op}, {op}};
  }

  uint32_t addCombine(const Stmt &s, const std::vector<SliceValue> &from,
                      const std::vector<SliceValue> &to) {
    if (!buffers_.areEqual(from, to))
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
    std::vector<SliceValue> from = buffers_.slicesOf(s.sources), to = buffers_.slicesOf(s.targets);
    OpKind kind = s.kind == Stmt::Kind::Send     ? OpKind::Send
                  : s.kind == Stmt::Kind::Recv   ? OpKind::Recv
                  : s.kind == Stmt::Kind::Signal ? OpKind::Signal
                                                 : OpKind::Wait;
    std::vector<SliceValue> into = to;
    if (s.combines)
      into = buffers_.hiddenFor(to);
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
    std::vector<int64_t> chosen = values_.members(s.group); // in the caller's numbering
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
    SymbolSizes sizes = values_.sizes;
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
    values_.sizes = sizes;
  }

  void bind(const Stmt &s, const Collective &callee, const std::vector<int64_t> &members) {
    SymbolSizes sizes;
    sizes.fill(kUnbound);
    for (const Argument &a : s.arguments) {
      auto param = std::find_if(callee.params.begin(), callee.params.end(),
                                [&](const Param &p) { return p.name == a.param; });
      if (param->kind == Param::Kind::Buffer) {
        bindBuffer(*param, values_.slice(a.slice[0]), sizes, static_cast<int64_t>(members.size()));
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
    values_.sizes = sizes;
  }

  /// A size symbol follows from the first buffer that has it; `members`: what `ranks` is inside.
  void bindBuffer(const Param &param, SliceValue given, SymbolSizes &sizes, int64_t members) {
    int64_t blocks = 1;
    if (param.dims.size() > 1)
      blocks = param.dims[0].op == ExprOp::Ranks ? members : values_.defined(param.dims[0]);
    int64_t &symbol = sizes[static_cast<size_t>(param.symbol)];
    if (hasBlocks(param)) {
      if (given.extent != param.extent || (param.dims.size() > 1 ? given.blocks : 1) != blocks)
        throw Invalid{"an argument of other blocks"};
      if (symbol == kUnbound && !values_.blockLengths[given.buffer].empty())
        symbol = values_.blockLengths[given.buffer].front();
      values_.slices[param.name] = given;
      return;
    }
    int64_t last = param.extent == Extent::Symbol ? symbol : values_.defined(param.dims.back());
    if (last < 0)
      last = symbol = blocks > 0 ? given.length / blocks : 0;
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
  RankBuffers buffers_;
  Dag *dag_ = nullptr;
  bool *synchronizes_ = nullptr;
  std::vector<PlannedOp> ops_;
  std::map<LabelKey, Place> labels_;
  std::map<std::pair<uint32_t, std::vector<uint32_t>>, uint32_t> counts_; // of calls
};

/// Of no rank yet.
Schedule emptySchedule(const Program &program) {
  Schedule schedule;
  schedule.ranks.resize(program.ranks);
  auto size = static_cast<uint64_t>(program.sizeOf(program.mainSize()));
  schedule.sizeClass = {size, size, size};
  schedule.names = {"b"};
  schedule.hasContract = true;
  schedule.deterministic = program.main().deterministic;
  return schedule;
}

} // namespace

Result<Schedule> interpret(const Program &program) {
  for (const Collective &collective : program.collectives)
    if (std::string fault = contractFault(collective); !fault.empty())
      return Status::error(fault);
  Schedule schedule = emptySchedule(program);
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

Result<Schedule> interpretContract(const Program &program) {
  Schedule schedule = emptySchedule(program);
  Job job;
  try {
    for (uint32_t r = 0; r < program.ranks; ++r)
      RankRun(program, job, r).runContract(schedule.ranks[r], schedule.synchronizes);
  } catch (const Invalid &invalid) {
    return Status::error(invalid.why);
  }
  return schedule;
}

} // namespace colldsl::generated
