#include "tests/random/Mutate.h"

namespace colldsl::generated {
namespace {

using Lists = std::vector<std::vector<Stmt> *>;

void collect(std::vector<Stmt> &body, Lists &lists) {
  if (body.empty())
    return;
  lists.push_back(&body);
  for (Stmt &s : body) {
    collect(s.body, lists);
    collect(s.otherwise, lists);
  }
}

bool isStructural(Stmt::Kind kind) { return kind == Stmt::Kind::Let || kind == Stmt::Kind::Temp; }

/// All numbers that statements and promises name.
class Numbers {
public:
  explicit Numbers(Program &program) {
    for (Collective &c : program.collectives) {
      add(c.body);
      for (Ensure &e : c.ensures)
        add(e);
    }
  }
  std::vector<Expr *> found;

private:
  void add(Expr &e) {
    if (e.op == ExprOp::Number)
      found.push_back(&e);
    add(e.args);
  }
  void add(std::vector<Expr> &list) {
    for (Expr &e : list)
      add(e);
  }
  void add(SliceExpr &s) {
    add(s.base);
    add(s.args);
  }
  void add(std::vector<SliceExpr> &list) {
    for (SliceExpr &s : list)
      add(s);
  }
  void add(Range &r) {
    add(r.exprs);
    add(r.slice);
  }
  void add(std::vector<Stmt> &body) {
    for (Stmt &s : body) {
      if (!isStructural(s.kind) && s.kind != Stmt::Kind::Calc)
        add(s.exprs);
      add(s.sources);
      add(s.targets);
      add(s.range);
      add(s.body);
      add(s.otherwise);
    }
  }
  void add(Ensure &e) {
    add(e.target);
    add(e.operand);
    add(e.rank);
    add(e.range);
    add(e.condition);
    for (Ensure &inner : e.inner)
      add(inner);
  }
};

void changeStatement(std::vector<Stmt> &list, Random &random) {
  auto at = random.below(static_cast<int64_t>(list.size()));
  Stmt &s = list[static_cast<size_t>(at)];
  switch (random.below(6)) {
  case 0:
    if (!isStructural(s.kind))
      list.erase(list.begin() + at);
    return;
  case 1:
    if (!isStructural(s.kind) && s.label.name == kNoName && s.kind != Stmt::Kind::For)
      list.insert(list.begin() + at, Stmt(s));
    return;
  case 2:
    if (at > 0 && !isStructural(list[static_cast<size_t>(at) - 1].kind))
      std::swap(list[static_cast<size_t>(at) - 1], s);
    return;
  case 3:
    s.side = s.side == Side::Before ? Side::After : Side::Before;
    s.irequires = !s.irequires;
    return;
  case 4:
    s.reduction = random.chance(50) ? Reduction::Sum : Reduction::Max;
    return;
  case 5:
    std::swap(s.body, s.otherwise);
    return;
  }
}

/// Promises of nothing among them.
void changeContract(Collective &c, Program &program, Random &random) {
  Expr never = equal(num(0), num(1));
  switch (random.below(5)) {
  case 0:
    if (c.ensures.size() > 1)
      c.ensures.erase(c.ensures.begin() + random.below(static_cast<int64_t>(c.ensures.size())));
    return;
  case 1:
    c.ensures.push_back(at(equal(num(0), num(0)), synchronizing()));
    return;
  case 2:
    c.ensures.push_back(synchronizing());
    return;
  case 3:
    if (!c.ensures.empty() && c.ensures[0].kind == Ensure::Kind::Reduce)
      c.ensures[0].range = upto(num(0), num(random.below(2)));
    return;
  case 4:
    for (Ensure &e : c.ensures)
      e = forAll(program.newName(), upto(num(0), num(random.below(2))), Ensure(e));
    return;
  }
}

} // namespace

std::vector<std::vector<Stmt> *> statementLists(Program &program) {
  Lists lists;
  for (Collective &c : program.collectives)
    collect(c.body, lists);
  return lists;
}

void mutate(Program &program, Random &random) {
  Lists lists = statementLists(program);
  auto kind = random.below(10);
  if (kind < 5 && !lists.empty())
    return changeStatement(*random.anyOf(lists), random);
  if (kind < 8) {
    Numbers numbers(program);
    if (!numbers.found.empty())
      random.anyOf(numbers.found)->value += random.chance(50) ? 1 : -1;
    return;
  }
  changeContract(program.main(), program, random);
}

} // namespace colldsl::generated
