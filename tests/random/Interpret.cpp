#include "tests/random/Interpret.h"

#include "tests/random/Cells.h"
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

Slice asSlice(const SliceValue &value) {
  Slice slice;
  if (value.isOfBlocks())
    slice.block = static_cast<uint32_t>(value.block);
  if (value.extent == Extent::Capacity) { // as long as the block is then
    slice.endScale = 1;
    slice.buffer = BufferId{value.buffer};
    return slice;
  }
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
    makeContract(dag, synchronizes);
    for (const auto &[param, block] : lent_)
      values_.slices[param] = block;
    execute(program_.main().body);
    addOps();
  }

  /// Buffers and contract alone; slices that are promised to be equal need not be equally long.
  void runContract(Dag &dag, bool &synchronizes) {
    checksLengths_ = false;
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
    const Collective &main = program_.main();
    for (const Param &param : main.params)
      setDefault(param);
    for (const Param &param : main.params)
      if (param.kind == Param::Kind::Buffer)
        addParameter(param);
    if (program_.inPlace)
      for (const Alias &alias : main.aliases)
        setAlias(alias);
    layOut();
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

  // Buffers

  uint32_t addBuffer(BufferRole role, int64_t length) {
    Buffer buffer;
    buffer.endOffset = length;
    buffer.role = role;
    dag_->addBuffer(buffer);
    return static_cast<uint32_t>(dag_->buffers.size() - 1);
  }

  /// A buffer of blocks whose lengths are known at call time; of capacity those are their rooms.
  uint32_t addBlocks(BufferRole role, Extent extent, const std::vector<int64_t> &lengths) {
    uint32_t id = addBuffer(role, 0);
    Buffer &buffer = dag_->buffers[id];
    buffer.layout = extent == Extent::Capacity ? Layout::Capacity : Layout::CallTime;
    buffer.blocks = static_cast<uint32_t>(lengths.size());
    if (extent == Extent::Capacity && !lengths.empty())
      buffer.endOffset = lengths.front() * static_cast<int64_t>(lengths.size());
    values_.blockLengths[id] = lengths;
    return id;
  }

  SliceValue shaped(SliceValue value, const std::vector<int64_t> &dims) {
    value.blocks = dims.size() > 1 ? dims[0] : -1;
    value.blockLength = dims.back();
    return value;
  }

  std::vector<int64_t> dimsOf(const std::vector<Expr> &exprs, Extent extent, Symbol symbol) {
    std::vector<int64_t> dims;
    for (size_t i = 0; i < exprs.size(); ++i) {
      bool isLast = i + 1 == exprs.size();
      dims.push_back(!isLast || extent == Extent::Number
                         ? values_.defined(exprs[i])
                         : values_.sizes[static_cast<size_t>(symbol)]);
    }
    for (int64_t dim : dims)
      if (dim < 0)
        throw Invalid{"a buffer of negative length"};
    return dims;
  }

  static int64_t lengthOf(const std::vector<int64_t> &dims) {
    return dims.size() > 1 ? dims[0] * dims[1] : dims[0];
  }

  SliceValue sliceOfBlocks(uint32_t buffer, Extent extent, bool isGrid) const {
    const std::vector<int64_t> &lengths = values_.blockLengths.at(buffer);
    if (isGrid)
      return {buffer, 0, 0, static_cast<int64_t>(lengths.size()), 0, extent, -1};
    return {buffer, 0, lengths.front(), -1, 0, extent, 0};
  }

  void addParameter(const Param &param) {
    auto id = static_cast<uint32_t>(dag_->buffers.size());
    addBufferOf(param);
    if (!param.root.empty())
      dag_->buffers[id].significant = values_.number(param.root[0]) == values_.context.me;
  }

  void addBufferOf(const Param &param) {
    std::vector<int64_t> dims = dimsOf(param.dims, param.extent, param.symbol);
    if (hasBlocks(param))
      return addParameterOfBlocks(param, dims);
    uint32_t buffer = addBuffer(param.role, lengthOf(dims));
    values_.slices[param.name] = shaped({buffer, 0, lengthOf(dims)}, dims);
  }

  void addParameterOfBlocks(const Param &param, const std::vector<int64_t> &dims) {
    auto id = static_cast<uint32_t>(dag_->buffers.size());
    std::vector<int64_t> lengths;
    for (int64_t i = 0; i < (dims.size() > 1 ? dims[0] : 1); ++i)
      lengths.push_back(program_.lengths.of(rank_, id, static_cast<uint32_t>(i)));
    if (param.extent == Extent::Capacity)
      for (int64_t &length : lengths) {
        if (checksLengths_ && length > dims.back())
          throw Invalid{"a block is longer than its room"};
        length = dims.back();
      }
    addBlocks(param.role, param.extent, lengths);
    values_.slices[param.name] = sliceOfBlocks(id, param.extent, dims.size() > 1);
  }

  void setAlias(const Alias &alias) {
    SliceValue at = values_.slice(alias.slice), own = values_.slices[alias.param];
    Buffer &buffer = dag_->buffers[own.buffer];
    if (!dag_->buffers[at.buffer].significant) // in place at the root alone
      return;
    bool isAlike = at.isOfBlocks() ? at.extent == own.extent : !own.isOfBlocks();
    if (!isAlike || (checksLengths_ && at.length != own.length))
      throw Invalid{"an alias of another length"};
    buffer.aliasOf = BufferId{at.buffer};
    buffer.aliasSlice = static_cast<uint32_t>(dag_->slices.size());
    dag_->slices.push_back(asSlice(at));
    aliases_[own.buffer] = at;
    if (at.extent == Extent::Capacity) // the length is that of one block, not of two
      lent_[alias.param] = at;
  }

  /// Where each buffer's elements lie among all of the rank.
  void layOut() {
    firsts_.resize(dag_->buffers.size());
    for (uint32_t b = 0; b < dag_->buffers.size(); ++b)
      if (!aliases_.contains(b))
        addCells(b);
    for (const auto &[b, at] : aliases_)
      firsts_[b] = {firsts_[at.buffer][at.isOfBlocks() ? static_cast<size_t>(at.block) : 0] +
                    at.begin};
  }

  void addCells(uint32_t b) {
    const Buffer &buffer = dag_->buffers[b];
    firsts_.resize(dag_->buffers.size());
    if (buffer.layout == Layout::Dense)
      firsts_[b] = {cells_.add(buffer.endOffset)};
    else
      for (int64_t length : values_.blockLengths[b])
        firsts_[b].push_back(cells_.add(length + (buffer.layout == Layout::Capacity ? 1 : 0)));
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
    SliceValue target = oneSlice(e.target);
    requireSignificant(target, values_.context.me);
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
      SliceValue operand = operandOf(e, rankOf(owner));
      requireSignificant(operand, owner);
      bool travels = operand.extent == Extent::Capacity || target.extent == Extent::Capacity;
      if (checksLengths_ && !travels && operand.length != target.length)
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

  /// Blocks have the lengths that they have on the owner.
  SliceValue operandOf(const Ensure &e, int64_t owner) {
    auto lengths = values_.blockLengths;
    auto slices = values_.slices;
    for (const Param &param : program_.main().params) {
      if (!hasBlocks(param) || param.extent == Extent::Capacity)
        continue;
      SliceValue &slice = values_.slices[param.name];
      std::vector<int64_t> &all = values_.blockLengths[slice.buffer];
      for (size_t i = 0; i < all.size(); ++i)
        all[i] = program_.lengths.of(static_cast<uint32_t>(owner), slice.buffer,
                                     static_cast<uint32_t>(i));
      if (slice.block >= 0)
        slice.length = all.front();
    }
    SliceValue operand = oneSlice(e.operand);
    values_.blockLengths = std::move(lengths);
    values_.slices = std::move(slices);
    return operand;
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
    std::vector<int64_t> dims = dimsOf(s.exprs, s.extent, s.symbol);
    if (s.extent == Extent::Capacity) {
      values_.slices[s.name] =
          sliceOfBlocks(addTemporaryBlocks(dims.size() > 1 ? dims[0] : 1, dims.back()), s.extent,
                        dims.size() > 1);
      return;
    }
    uint32_t buffer = addBuffer(BufferRole::Temp, lengthOf(dims));
    addCells(buffer);
    values_.slices[s.name] = shaped({buffer, 0, lengthOf(dims)}, dims);
  }

  uint32_t addTemporaryBlocks(int64_t count, int64_t room) {
    uint32_t buffer = addBlocks(BufferRole::Temp, Extent::Capacity,
                                std::vector<int64_t>(static_cast<size_t>(count), room));
    addCells(buffer);
    return buffer;
  }

  std::vector<SliceValue> slicesOf(const std::vector<SliceExpr> &exprs) {
    std::vector<SliceValue> all;
    for (const SliceExpr &e : exprs) {
      all.push_back(oneSlice(e));
      if (!dag_->buffers[all.back().buffer].significant)
        throw Invalid{"a buffer that is not significant there"};
    }
    return all;
  }

  /// Of a parameter.
  void requireSignificant(const SliceValue &slice, int64_t rank) {
    uint32_t id = 0;
    for (const Param &param : program_.main().params)
      if (param.kind == Param::Kind::Buffer && id++ == slice.buffer && !param.root.empty() &&
          values_.number(param.root[0]) != rank)
        throw Invalid{"a buffer that is not significant there"};
  }

  SliceValue oneSlice(const SliceExpr &e) {
    SliceValue slice = values_.slice(e);
    if (slice.isOfBlocks() && slice.block < 0)
      throw Invalid{"blocks whose lengths are known at call time only, as one slice"};
    return slice;
  }

  /// Of a block of capacity all of its room, and its length.
  std::vector<int64_t> cellsOf(const std::vector<SliceValue> &slices) const {
    std::vector<int64_t> cells;
    for (const SliceValue &s : slices) {
      int64_t first = firsts_[s.buffer][s.isOfBlocks() ? static_cast<size_t>(s.block) : 0];
      for (int64_t i = 0; i < s.length + (s.extent == Extent::Capacity ? 1 : 0); ++i)
        cells.push_back(first + s.begin + i);
    }
    return cells;
  }

  static bool travels(const std::vector<SliceValue> &slices) {
    return std::any_of(slices.begin(), slices.end(),
                       [](const SliceValue &s) { return s.extent == Extent::Capacity; });
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
      cells_.read(cell, id, before);
    for (int64_t cell : cellsOf(targets))
      cells_.write(cell, id, before);
    for (int64_t op : before)
      planned.deps.push_back({OpId{static_cast<uint32_t>(op)}, DepKind::Requires});
    ops_.push_back(std::move(planned));
    return static_cast<uint32_t>(id);
  }

  Place addCopy(const Stmt &s) {
    std::vector<SliceValue> from = slicesOf(s.sources), to = slicesOf(s.targets);
    std::vector<int64_t> sources = cellsOf(from), targets = cellsOf(to);
    if (!travels(from) && !travels(to) && sources.size() != targets.size())
      throw Invalid{"a copy to another length"};
    if (sources == targets && !sources.empty())
      return {};
    uint32_t op = add(OpKind::Copy, from, to);
    return {{op}, {op}};
  }

  uint32_t addCombine(const Stmt &s, const std::vector<SliceValue> &from,
                      const std::vector<SliceValue> &to) {
    if (!travels(from) && !travels(to) && cellsOf(from).size() != cellsOf(to).size())
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
    if (s.combines)
      into = {hiddenFor(to)};
    uint32_t op = add(kind, from, into);
    ops_[op].op.peer = Rank{values_.context.members[static_cast<size_t>(rankOf(peer))]};
    ops_[op].op.message = MessageId{job_.messages.emplace(key, job_.messages.size()).first->second};
    uint32_t last = s.combines ? addCombine(s, into, to) : op;
    return {{op}, {last}};
  }

  SliceValue hiddenFor(const std::vector<SliceValue> &to) {
    if (travels(to)) {
      if (to.size() != 1)
        throw Invalid{"a list of blocks is combined"};
      return sliceOfBlocks(addTemporaryBlocks(1, to[0].length), Extent::Capacity, false);
    }
    auto length = static_cast<int64_t>(cellsOf(to).size());
    uint32_t hidden = addBuffer(BufferRole::Temp, length);
    addCells(hidden);
    return {hidden, 0, length};
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
  Dag *dag_ = nullptr;
  bool *synchronizes_ = nullptr;
  bool checksLengths_ = true;
  std::vector<PlannedOp> ops_;
  Cells cells_;
  std::vector<std::vector<int64_t>> firsts_; // per buffer: its first cell, or that of each block
  std::map<uint32_t, SliceValue> aliases_;   // per buffer that lies in another one: where
  std::map<Name, SliceValue> lent_;          // such buffers of capacity, by name
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
