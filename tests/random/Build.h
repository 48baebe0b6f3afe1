/// Short ways to make pieces of programs, and a source of random numbers.
#pragma once

#include "tests/random/Program.h"

#include <initializer_list>

namespace colldsl::generated {

/// The same numbers for the same seed, everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) { next(); }
  uint64_t next() {
    uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(next() % static_cast<uint64_t>(bound));
  }
  int64_t between(int64_t least, int64_t most) { return least + below(most - least + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T> const T &anyOf(const std::vector<T> &list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }

private:
  uint64_t state_;
};

inline Expr num(int64_t value) { return {ExprOp::Number, value, kNoName, {}}; }
inline Expr var(Name name) { return {ExprOp::Var, 0, name, {}}; }
inline Expr rankExpr() { return {ExprOp::Rank, 0, kNoName, {}}; }
inline Expr ranksExpr() { return {ExprOp::Ranks, 0, kNoName, {}}; }
inline Expr none() { return {ExprOp::None, 0, kNoName, {}}; }
inline Expr of(ExprOp op, std::vector<Expr> args) { return {op, 0, kNoName, std::move(args)}; }
inline Expr of(ExprOp op, Name name) { return {op, 0, name, {}}; }
inline Expr sizeExpr(Symbol symbol) {
  return {ExprOp::Size, static_cast<int64_t>(symbol), kNoName, {}};
}
/// leader(level, include = include, index = i)
inline Expr leaderExpr(Level level, Expr include, int64_t i) {
  return {ExprOp::Leader, static_cast<int64_t>(level), kNoName, {std::move(include), num(i)}};
}
inline Expr plus(Expr a, Expr b) { return of(ExprOp::Add, {std::move(a), std::move(b)}); }
inline Expr minus(Expr a, Expr b) { return of(ExprOp::Sub, {std::move(a), std::move(b)}); }
inline Expr modulo(Expr a, Expr b) { return of(ExprOp::Mod, {std::move(a), std::move(b)}); }
inline Expr equal(Expr a, Expr b) { return of(ExprOp::Eq, {std::move(a), std::move(b)}); }
inline Expr differs(Expr a, Expr b) { return of(ExprOp::Ne, {std::move(a), std::move(b)}); }
inline Expr less(Expr a, Expr b) { return of(ExprOp::Lt, {std::move(a), std::move(b)}); }
inline Expr select(Expr c, Expr a, Expr b) {
  return of(ExprOp::Select, {std::move(c), std::move(a), std::move(b)});
}
/// (rank + by) % ranks
inline Expr onward(Expr by) { return modulo(plus(rankExpr(), std::move(by)), ranksExpr()); }
/// (rank - by) % ranks
inline Expr backward(Expr by) { return modulo(minus(rankExpr(), std::move(by)), ranksExpr()); }
inline Expr element(const std::vector<int64_t> &list, Expr at) {
  Expr e = of(ExprOp::ListElement, std::vector<Expr>{});
  for (int64_t value : list)
    e.args.push_back(num(value));
  e.args.push_back(std::move(at));
  return e;
}

inline SliceExpr whole(Name name) { return {SliceExpr::Kind::Var, name, {}, {}}; }
inline SliceExpr block(SliceExpr base, Expr at) {
  return {SliceExpr::Kind::Block, kNoName, {std::move(base)}, {std::move(at)}};
}
inline SliceExpr elements(SliceExpr base, Expr lo, Expr hi) {
  return {SliceExpr::Kind::Elements, kNoName, {std::move(base)}, {std::move(lo), std::move(hi)}};
}

inline Range upto(Expr lo, Expr hi) {
  return {Range::Kind::Upto, {std::move(lo), std::move(hi)}, {}, kNoName};
}
inline Range through(Expr lo, Expr hi) {
  return {Range::Kind::Through, {std::move(lo), std::move(hi)}, {}, kNoName};
}
inline Range allRanks() { return upto(num(0), ranksExpr()); }
inline Range overAll(Range::Kind kind, Name name) { return {kind, {}, {}, name}; }

inline Stmt forEach(Name name, Range range, std::vector<Stmt> body) {
  Stmt s;
  s.kind = Stmt::Kind::For;
  s.name = name;
  s.range = std::move(range);
  s.body = std::move(body);
  return s;
}
inline Stmt when(Expr condition, std::vector<Stmt> body, std::vector<Stmt> otherwise = {}) {
  Stmt s;
  s.kind = Stmt::Kind::If;
  s.exprs = {std::move(condition)};
  s.body = std::move(body);
  s.otherwise = std::move(otherwise);
  return s;
}
inline Stmt send(std::vector<SliceExpr> slices, Expr to) {
  Stmt s;
  s.kind = Stmt::Kind::Send;
  s.sources = std::move(slices);
  s.exprs = {std::move(to)};
  return s;
}
inline Stmt recv(std::vector<SliceExpr> slices, Expr from) {
  Stmt s;
  s.kind = Stmt::Kind::Recv;
  s.targets = std::move(slices);
  s.exprs = {std::move(from)};
  return s;
}
inline Stmt recvCombine(SliceExpr slice, Expr from, Reduction reduction, Side side) {
  Stmt s = recv({std::move(slice)}, std::move(from));
  s.combines = true;
  s.reduction = reduction;
  s.side = side;
  return s;
}
inline Stmt copy(std::vector<SliceExpr> from, std::vector<SliceExpr> to) {
  Stmt s;
  s.kind = Stmt::Kind::Copy;
  s.sources = std::move(from);
  s.targets = std::move(to);
  return s;
}
inline Stmt simple(Stmt::Kind kind, std::vector<Expr> exprs = {}) {
  Stmt s;
  s.kind = kind;
  s.exprs = std::move(exprs);
  return s;
}
inline Stmt let(Name name, Expr value) {
  Stmt s = simple(Stmt::Kind::Let, {std::move(value)});
  s.name = name;
  return s;
}
inline Stmt letTree(Name name, uint32_t tree, Expr root) {
  Stmt s = simple(Stmt::Kind::LetTree, {std::move(root)});
  s.name = name;
  s.callee = tree;
  return s;
}
/// temp name: T[n];
inline Stmt temporary(Name name) {
  Stmt s = simple(Stmt::Kind::Temp, {num(0)});
  s.name = name;
  s.extent = Extent::Symbol;
  return s;
}
/// temp name: T[count][<= m];
inline Stmt temporaryBlocks(Name name, Expr count) {
  Stmt s = simple(Stmt::Kind::Temp, {std::move(count), num(0)});
  s.name = name;
  s.extent = Extent::Capacity;
  s.symbol = Symbol::M;
  return s;
}
inline Stmt labelled(Stmt s, Name label, std::vector<Expr> index = {}) {
  s.label = {label, std::move(index)};
  return s;
}
inline Stmt ordered(Label later, Label earlier, bool irequires = false) {
  Stmt s = simple(Stmt::Kind::Depend);
  s.labels = {std::move(later), std::move(earlier)};
  s.irequires = irequires;
  return s;
}

inline Param buffer(Name name, BufferRole role) {
  Param p;
  p.name = name;
  p.role = role;
  p.dims = {num(0)};
  return p;
}
/// name: T[blocks][n]
inline Param blocks(Name name, BufferRole role, Expr count) {
  Param p = buffer(name, role);
  p.dims = {std::move(count), num(0)};
  return p;
}
/// name: T[count][*], T[count][<= m], or of one dimension, if the count is nothing
inline Param callTimeBlocks(Name name, BufferRole role, std::vector<Expr> count, Extent extent) {
  Param p = buffer(name, role);
  p.dims = std::move(count);
  p.dims.push_back(num(0));
  p.extent = extent;
  p.symbol = Symbol::M;
  return p;
}
inline Param rankParam(Name name, Expr value) {
  Param p;
  p.kind = Param::Kind::Rank;
  p.name = name;
  p.value = {std::move(value)};
  return p;
}

inline Ensure holds(SliceExpr target, SliceExpr operand, Expr rank) {
  Ensure e;
  e.target = std::move(target);
  e.operand = std::move(operand);
  e.rank = {std::move(rank)};
  return e;
}
inline Ensure reduces(SliceExpr target, Reduction reduction, Name name, Range range,
                      SliceExpr operand, Expr rank) {
  Ensure e = holds(std::move(target), std::move(operand), std::move(rank));
  e.kind = Ensure::Kind::Reduce;
  e.reduction = reduction;
  e.var = name;
  e.range = std::move(range);
  return e;
}
inline Ensure forAll(Name name, Range range, Ensure inner) {
  Ensure e;
  e.kind = Ensure::Kind::For;
  e.var = name;
  e.range = std::move(range);
  e.inner = {std::move(inner)};
  return e;
}
inline Ensure at(Expr condition, Ensure inner) {
  Ensure e;
  e.kind = Ensure::Kind::At;
  e.condition = {std::move(condition)};
  e.inner = {std::move(inner)};
  return e;
}
inline Ensure synchronizing() {
  Ensure e;
  e.kind = Ensure::Kind::Synchronizes;
  return e;
}

} // namespace colldsl::generated
