#include "tests/random/Values.h"

namespace colldsl::generated {
namespace {

constexpr int64_t kElementBytes = 4;
constexpr int kMaxDepth = 100;

int64_t mod(int64_t a, int64_t b) {
  int64_t rest = a % b;
  return rest < 0 ? rest + (b < 0 ? -b : b) : rest;
}

} // namespace

int64_t Evaluator::defined(const Expr &e) {
  int64_t value = number(e);
  if (value == kNobody)
    throw Invalid{"none is no number"};
  return value;
}

int64_t Evaluator::number(const Expr &e) {
  auto arg = [&](size_t i) { return defined(e.args[i]); };
  switch (e.op) {
  case ExprOp::Number:
    return e.value;
  case ExprOp::None:
    return kNobody;
  case ExprOp::Var:
    return numbers[e.name];
  case ExprOp::Rank:
    return context.me;
  case ExprOp::Ranks:
    return context.size();
  case ExprOp::Add:
    return arg(0) + arg(1);
  case ExprOp::Sub:
    return arg(0) - arg(1);
  case ExprOp::Mul:
    return arg(0) * arg(1);
  case ExprOp::Div:
  case ExprOp::Mod: {
    int64_t a = arg(0), b = arg(1);
    if (b == 0)
      throw Invalid{"division by zero"};
    return e.op == ExprOp::Mod ? mod(a, b) : (a - mod(a, b)) / b;
  }
  case ExprOp::Xor:
    return arg(0) ^ arg(1);
  case ExprOp::Min:
    return std::min(arg(0), arg(1));
  case ExprOp::Max:
    return std::max(arg(0), arg(1));
  case ExprOp::Eq:
    return number(e.args[0]) == number(e.args[1]);
  case ExprOp::Ne:
    return number(e.args[0]) != number(e.args[1]);
  case ExprOp::Lt:
    return arg(0) < arg(1);
  case ExprOp::Le:
    return arg(0) <= arg(1);
  case ExprOp::And:
    return truth(e.args[0]) && truth(e.args[1]);
  case ExprOp::Or:
    return truth(e.args[0]) || truth(e.args[1]);
  case ExprOp::Not:
    return !truth(e.args[0]);
  case ExprOp::Select:
    return number(e.args[truth(e.args[0]) ? 1 : 2]);
  case ExprOp::ListElement: {
    int64_t at = defined(e.args.back());
    if (at < 0 || at + 1 >= static_cast<int64_t>(e.args.size()))
      throw Invalid{"index outside of a list"};
    return arg(static_cast<size_t>(at));
  }
  case ExprOp::CallFunction:
    return call(e);
  case ExprOp::TreeParent:
    return trees[e.name].parent;
  case ExprOp::TreeRoot:
    return trees[e.name].root;
  case ExprOp::InDegree:
    return static_cast<int64_t>(graphs[e.name].in.size());
  case ExprOp::OutDegree:
    return static_cast<int64_t>(graphs[e.name].out.size());
  case ExprOp::EdgeSlot:
    return edges[e.name].slot;
  case ExprOp::EdgePeer:
    return edges[e.name].peer;
  case ExprOp::Size:
    return sizes[static_cast<size_t>(e.value)];
  case ExprOp::Leader:
    return leader(e);
  }
  return 0;
}

int64_t Evaluator::call(const Expr &e) {
  const Function &function = program_.functions[e.name];
  if (++depth_ > kMaxDepth)
    throw Invalid{"calls within calls"};
  std::vector<int64_t> given, kept;
  for (const Expr &arg : e.args)
    given.push_back(defined(arg));
  for (size_t i = 0; i < given.size(); ++i) {
    kept.push_back(numbers[function.params[i]]);
    numbers[function.params[i]] = given[i];
  }
  int64_t result = number(function.result);
  for (size_t i = 0; i < given.size(); ++i)
    numbers[function.params[i]] = kept[i];
  --depth_;
  return result;
}

SliceValue Evaluator::cut(SliceValue from, int64_t lo, int64_t hi) const {
  if (lo < 0 || hi < lo || hi > from.length)
    throw Invalid{"slice outside of its buffer"};
  SliceValue part = from;
  part.begin += lo;
  part.length = hi - lo;
  part.blocks = -1;
  part.blockLength = 0;
  return part;
}

SliceValue Evaluator::blockAt(const SliceValue &base, int64_t at) const {
  if (base.block >= 0)
    throw Invalid{"elements of a block whose length is known at call time only"};
  if (at < 0 || at >= base.blocks)
    throw Invalid{"block outside of its buffer"};
  return {base.buffer, 0, blockLengths.at(base.buffer)[static_cast<size_t>(at)], -1, 0,
          base.extent, at};
}

SliceValue Evaluator::slice(const SliceExpr &s) {
  if (s.kind == SliceExpr::Kind::Var)
    return slices[s.name];
  SliceValue base = slice(s.base[0]);
  int64_t lo = defined(s.args[0]);
  if (base.isOfBlocks() && s.kind == SliceExpr::Kind::Block)
    return blockAt(base, lo);
  bool isPart = s.kind == SliceExpr::Kind::Part || s.kind == SliceExpr::Kind::Parts;
  if (base.isOfBlocks() && (!isPart || base.block < 0 || base.extent == Extent::Capacity))
    throw Invalid{"a cut of blocks whose lengths are known at call time only"};
  switch (s.kind) {
  case SliceExpr::Kind::Var:
    break;
  case SliceExpr::Kind::Block:
    if (base.blocks < 0)
      return cut(base, lo, lo + 1);
    if (lo < 0 || lo >= base.blocks)
      throw Invalid{"block outside of its buffer"};
    return cut(base, lo * base.blockLength, (lo + 1) * base.blockLength);
  case SliceExpr::Kind::Blocks: {
    int64_t hi = defined(s.args[1]);
    if (lo < 0 || hi < lo || hi > base.blocks)
      throw Invalid{"blocks outside of their buffer"};
    SliceValue run = cut(base, lo * base.blockLength, hi * base.blockLength);
    run.blocks = hi - lo;
    run.blockLength = base.blockLength;
    return run;
  }
  case SliceExpr::Kind::Elements:
    return cut(base, lo, defined(s.args[1]));
  case SliceExpr::Kind::Part:
  case SliceExpr::Kind::Parts: {
    bool single = s.kind == SliceExpr::Kind::Part;
    int64_t hi = single ? lo + 1 : defined(s.args[1]), of = defined(s.args[single ? 1 : 2]);
    if (of < 1 || lo < 0 || hi < lo || hi > of)
      throw Invalid{"part outside of its slice"};
    return cut(base, base.length * lo / of, base.length * hi / of);
  }
  }
  return base;
}

std::vector<SliceValue> Evaluator::segments(const Range &range) {
  SliceValue whole = slice(range.slice[0]);
  if (whole.isOfBlocks())
    throw Invalid{"segments of a block whose length is known at call time only"};
  int64_t step = std::max<int64_t>(1, defined(range.exprs[0]) / kElementBytes);
  std::vector<SliceValue> pieces;
  for (int64_t at = 0; at < whole.length; at += step)
    pieces.push_back(cut(whole, at, std::min(at + step, whole.length)));
  return pieces;
}

/// What one rank declares.
void Evaluator::runStructure(const std::vector<Stmt> &body, TreeValue *tree, GraphValue *graph) {
  for (const Stmt &s : body) {
    switch (s.kind) {
    case Stmt::Kind::Let:
      numbers[s.name] = number(s.exprs[0]);
      break;
    case Stmt::Kind::LetTree:
      trees[s.name] = treeAt(s.callee, number(s.exprs[0]), context.me);
      break;
    case Stmt::Kind::For:
      forEach(s.range, s.name, [&] { runStructure(s.body, tree, graph); });
      break;
    case Stmt::Kind::If:
      runStructure(truth(s.exprs[0]) ? s.body : s.otherwise, tree, graph);
      break;
    case Stmt::Kind::Parent:
      tree->parent = number(s.exprs[0]);
      break;
    case Stmt::Kind::Child:
      if (int64_t child = number(s.exprs[0]); child != kNobody)
        tree->children.push_back(child);
      break;
    case Stmt::Kind::EdgeTo:
    case Stmt::Kind::EdgeFrom: {
      std::vector<EdgeValue> &side = s.kind == Stmt::Kind::EdgeTo ? graph->out : graph->in;
      EdgeValue edge{static_cast<int64_t>(side.size()), number(s.exprs[0]),
                     s.exprs.size() > 1 ? defined(s.exprs[1]) : 0, 0};
      for (const EdgeValue &other : side)
        edge.count += other.peer == edge.peer && other.key == edge.key;
      side.push_back(edge);
      break;
    }
    default:
      throw Invalid{"no statement of a structure"};
    }
  }
}

TreeValue Evaluator::treeAt(uint32_t structure, int64_t root, int64_t rank) {
  int64_t me = std::exchange(context.me, rank);
  TreeValue tree;
  tree.root = root;
  numbers[program_.structures[structure].root] = root;
  runStructure(program_.structures[structure].body, &tree, nullptr);
  context.me = me;
  return tree;
}

void Evaluator::makeTree(Name name, uint32_t structure, int64_t root) {
  std::vector<TreeValue> all;
  for (int64_t r = 0; r < context.size(); ++r)
    all.push_back(treeAt(structure, root, r));
  int64_t edges = 0;
  for (int64_t r = 0; r < context.size(); ++r) {
    const TreeValue &tree = all[static_cast<size_t>(r)];
    if ((tree.parent == kNobody) != (r == root))
      throw Invalid{"a tree has one root"};
    for (int64_t child : tree.children) {
      if (child < 0 || child >= context.size() || all[static_cast<size_t>(child)].parent != r)
        throw Invalid{"a child has another parent"};
      ++edges;
    }
    int64_t at = r, steps = 0;
    for (; at != root && steps <= context.size(); ++steps)
      at = all[static_cast<size_t>(at)].parent;
    if (at != root)
      throw Invalid{"a tree has a cycle"};
  }
  if (edges != context.size() - 1)
    throw Invalid{"a parent has not all its children"};
  trees[name] = all[static_cast<size_t>(context.me)];
}

void Evaluator::makeGraph(Name name, uint32_t structure) {
  GraphValue graph;
  runStructure(program_.structures[structure].body, nullptr, &graph);
  graphs[name] = graph;
}

} // namespace colldsl::generated
