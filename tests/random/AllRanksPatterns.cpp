#include "tests/random/AllRanksPatterns.h"

#include "tests/random/Mutate.h"
#include "tests/random/Patterns.h"

namespace colldsl::generated {
namespace {

class Maker {
public:
  Maker(Program &program, Random &random) : program_(program), random_(random) {}

  Collective make() {
    switch (random_.below(14)) {
    case 0:
    case 1:
      return shift();
    case 2:
      return reversal();
    case 3:
      return involution(of(ExprOp::Xor, std::vector<Expr>{rankExpr(), num(random_.between(1, 9))}));
    case 4:
      return involution(neighbor());
    case 5:
      return pipeline();
    case 6:
      return fromRoot();
    case 7:
      return toRoot();
    case 8:
      return window();
    case 9:
      return random_.chance(25) ? twoShifts() : shift();
    case 10:
      return suffixes();
    case 11:
      return byNumberOfRanks();
    case 12:
      return reduceToRoot();
    default:
      return library();
    }
  }

private:
  Name name() { return program_.newName(); }
  Name x_ = 0, y_ = 0;

  /// in x: T[n], out y: T[n]
  Collective exchange() {
    Collective c;
    x_ = name(), y_ = name();
    c.params = {buffer(x_, BufferRole::In), buffer(y_, BufferRole::Out)};
    return c;
  }

  /// A number, or a parameter that is one.
  Expr offset(Collective &c, int64_t least, int64_t most) {
    Expr number = num(random_.between(least, most));
    if (random_.chance(60))
      return number;
    Param p;
    p.kind = Param::Kind::Int;
    p.name = name();
    p.value = {number};
    c.params.push_back(p);
    return var(p.name);
  }

  Expr root(Collective &c) {
    Expr value = random_.chance(50)   ? num(0)
                 : random_.chance(50) ? minus(ranksExpr(), num(1))
                                      : modulo(num(random_.below(9)), ranksExpr());
    if (random_.chance(40))
      return value;
    Name r = name();
    c.params.push_back(rankParam(r, value));
    return var(r);
  }

  /// The statements for the whole of x and y, or for one part after the other, or for two parts.
  template <typename Body> std::vector<Stmt> inParts(Body body) {
    if (random_.chance(60))
      return body(whole(x_), whole(y_));
    auto part = [](Name buffer, Expr at, Expr of) {
      return SliceExpr{
          SliceExpr::Kind::Part, kNoName, {whole(buffer)}, {std::move(at), std::move(of)}};
    };
    Expr count = random_.chance(30) ? ranksExpr() : num(random_.between(1, 4));
    if (random_.chance(50)) {
      Name i = name();
      return {
          forEach(i, upto(num(0), count), body(part(x_, var(i), count), part(y_, var(i), count)))};
    }
    std::vector<Stmt> both = body(part(x_, num(0), num(2)), part(y_, num(0), num(2)));
    for (Stmt &s : body(part(x_, num(1), num(2)), part(y_, num(1), num(2))))
      both.push_back(std::move(s));
    return both;
  }

  void swapSome(std::vector<Stmt> &two) {
    if (random_.chance(40))
      std::swap(two[0], two[1]);
  }

  void mayLieInPlace(Collective &c) {
    if (random_.chance(20))
      c.aliases = {{x_, whole(y_)}};
  }

  Collective shift() {
    Collective c = exchange();
    Expr by = offset(c, -3, 7);
    c.ensures = {holds(whole(y_), whole(x_), backward(by))};
    c.body = inParts([&](const SliceExpr &x, const SliceExpr &y) {
      std::vector<Stmt> two{send({x}, onward(by)), recv({y}, backward(by))};
      swapSome(two);
      return two;
    });
    return c;
  }

  /// The next rank of each pair of ranks.
  Expr neighbor() {
    Expr first = num(random_.below(2));
    return select(equal(modulo(rankExpr(), num(2)), first), plus(rankExpr(), num(1)),
                  minus(rankExpr(), num(1)));
  }

  /// Ranks that are each other's peer, where the peer is a rank.
  Collective involution(const Expr &peer) {
    Collective c = exchange();
    Expr is = of(ExprOp::And, std::vector<Expr>{less(num(-1), peer), less(peer, ranksExpr())});
    Name p = name();
    c.ensures = {
        at(is, holds(whole(y_), whole(x_), peer)),
        at(of(ExprOp::Not, std::vector<Expr>{is}), holds(whole(y_), whole(x_), rankExpr()))};
    c.body = {let(p, peer)};
    Expr there = random_.chance(50) ? var(p) : peer;
    for (Stmt &s : inParts([&](const SliceExpr &x, const SliceExpr &y) -> std::vector<Stmt> {
           std::vector<Stmt> two{send({x}, there), recv({y}, there)};
           swapSome(two);
           return {when(is, two, {copy({x}, {y})})};
         }))
      c.body.push_back(s);
    return c;
  }

  Collective reversal() {
    Collective c = exchange();
    Expr peer = minus(minus(ranksExpr(), num(1)), rankExpr());
    c.ensures = {holds(whole(y_), whole(x_), peer)};
    c.body = inParts([&](const SliceExpr &x, const SliceExpr &y) -> std::vector<Stmt> {
      return {send({x}, peer), recv({y}, peer)};
    });
    return c;
  }

  /// Each rank passes on what it gets from the one `by` before it.
  Collective pipeline() {
    Collective c;
    x_ = y_ = name();
    c.params = {buffer(x_, BufferRole::InOut)};
    Expr by = num(random_.between(1, 3));
    bool isDown = random_.chance(40);
    Expr last = minus(ranksExpr(), num(1));
    Expr place = isDown ? minus(last, rankExpr()) : rankExpr();
    Expr first = modulo(place, by);
    c.ensures = {holds(whole(x_), whole(x_), isDown ? minus(last, first) : first)};
    Expr before = isDown ? plus(rankExpr(), by) : minus(rankExpr(), by);
    Expr next = isDown ? minus(rankExpr(), by) : plus(rankExpr(), by);
    auto isRank = [&](const Expr &r) { return isDown ? less(num(-1), r) : less(r, ranksExpr()); };
    auto hasBefore = isDown ? less(before, ranksExpr()) : less(num(-1), before);
    c.body = inParts([&](const SliceExpr &x, const SliceExpr &) -> std::vector<Stmt> {
      return {when(hasBefore, {recv({x}, before)}), when(isRank(next), {send({x}, next)})};
    });
    return c;
  }

  /// A broadcast, or a scatter of blocks.
  Collective fromRoot() {
    Collective c = exchange();
    bool scatters = random_.chance(50);
    if (scatters)
      c.params[0] = blocks(x_, BufferRole::In, ranksExpr());
    Expr from = root(c);
    Name r = name();
    auto blockOf = [&](const Expr &rank) { return scatters ? block(whole(x_), rank) : whole(x_); };
    c.ensures = {holds(whole(y_), blockOf(rankExpr()), from)};
    Stmt out = send({blockOf(var(r))}, var(r));
    Stmt own = copy({blockOf(rankExpr())}, {whole(y_)});
    if (random_.chance(50))
      c.body = {when(equal(rankExpr(), from),
                     {forEach(r, allRanks(), {when(differs(var(r), from), {out}, {own})})},
                     {recv({whole(y_)}, from)})};
    else // messages to oneself
      c.body = {when(equal(rankExpr(), from), {forEach(r, allRanks(), {out})}),
                recv({whole(y_)}, from)};
    return c;
  }

  Collective toRoot() {
    Collective c = exchange();
    c.params[1] = blocks(y_, BufferRole::Out, ranksExpr());
    Expr to = root(c);
    Name r = name(), q = name();
    c.params[1].root = {to};
    c.ensures = {at(equal(rankExpr(), to),
                    forAll(q, allRanks(), holds(block(whole(y_), var(q)), whole(x_), var(q))))};
    Stmt in = recv({block(whole(y_), var(r))}, var(r));
    c.body = {when(equal(rankExpr(), to),
                   {copy({whole(x_)}, {block(whole(y_), to)}),
                    forEach(r, allRanks(), {when(differs(var(r), to), {in})})},
                   {send({whole(x_)}, to)})};
    return c;
  }

  /// Each rank gets what the ranks at some distances before it have; messages of one key if there
  /// are few ranks.
  Collective window() {
    Collective c = exchange();
    int64_t width = random_.between(1, 4), begin = random_.between(-1, 2);
    Name k = name(), q = name();
    c.params[1] = blocks(y_, BufferRole::Out, num(width));
    c.ensures = {
        forAll(q, upto(num(0), num(width)),
               holds(block(whole(y_), var(q)), whole(x_), backward(plus(var(q), num(begin)))))};
    Expr by = plus(var(k), num(begin));
    std::vector<Stmt> two{send({whole(x_)}, onward(by)),
                          recv({block(whole(y_), var(k))}, backward(by))};
    if (random_.chance(30))
      for (Stmt &s : two)
        s.exprs.push_back(var(k));
    swapSome(two);
    c.body = {forEach(k, upto(num(0), num(width)), two)};
    return c;
  }

  Collective twoShifts() {
    Collective c = exchange();
    Name t = name();
    Expr a = num(random_.between(0, 4)), b = num(random_.between(0, 4));
    c.ensures = {holds(whole(y_), whole(x_), backward(plus(a, b)))};
    c.body = {temporary(t), send({whole(x_)}, onward(a)), recv({whole(t)}, backward(a)),
              send({whole(t)}, onward(b)), recv({whole(y_)}, backward(b))};
    return c;
  }

  Collective suffixes() {
    Collective c = exchange();
    Name r = name();
    Reduction op = random_.chance(50) ? Reduction::MatMul : Reduction::Sum;
    c.ensures = {reduces(whole(y_), op, r, upto(rankExpr(), ranksExpr()), whole(x_), var(r))};
    Expr next = plus(rankExpr(), num(1));
    c.body = inParts([&](const SliceExpr &x, const SliceExpr &y) -> std::vector<Stmt> {
      return {copy({x}, {y}),
              when(less(next, ranksExpr()), {recvCombine(y, next, op, Side::After)}),
              when(less(num(0), rankExpr()), {send({y}, minus(rankExpr(), num(1)))})};
    });
    mayLieInPlace(c);
    return c;
  }

  /// One way for few ranks, and another one for many.
  Collective byNumberOfRanks() {
    Collective c = exchange();
    c.params[1] = blocks(y_, BufferRole::Out, ranksExpr());
    Name q = name(), k = name(), j = name();
    c.ensures = {forAll(q, allRanks(), holds(block(whole(y_), var(q)), whole(x_), var(q)))};
    Stmt ring =
        forEach(k, upto(num(0), minus(ranksExpr(), num(1))),
                {send({block(whole(y_), backward(var(k)))}, onward(num(1))),
                 recv({block(whole(y_), backward(plus(var(k), num(1))))}, backward(num(1)))});
    Stmt direct = forEach(j, upto(num(1), ranksExpr()),
                          {send({whole(x_)}, onward(var(j))),
                           recv({block(whole(y_), backward(var(j)))}, backward(var(j)))});
    c.body = {copy({whole(x_)}, {block(whole(y_), rankExpr())}),
              when(less(ranksExpr(), num(random_.between(2, 30))), {ring}, {direct})};
    return c;
  }

  /// The root combines in the order of ranks.
  Collective reduceToRoot() {
    Collective c = exchange();
    Name r = name(), q = name();
    Reduction op = random_.chance(50) ? Reduction::MatMul : Reduction::Sum;
    c.ensures = {
        at(equal(rankExpr(), num(0)), reduces(whole(y_), op, q, allRanks(), whole(x_), var(q)))};
    c.body = {when(
        equal(rankExpr(), num(0)),
        {copy({whole(x_)}, {whole(y_)}),
         forEach(r, upto(num(1), ranksExpr()), {recvCombine(whole(y_), var(r), op, Side::After)})},
        {send({whole(x_)}, num(0))})};
    return c;
  }

  /// A pattern of the other random programs that is for any number of ranks.
  Collective library() {
    const std::vector<Pattern> known{Pattern::Scan,      Pattern::Allgather, Pattern::Alltoall,
                                     Pattern::Allreduce, Pattern::Rotate,    Pattern::Relay};
    addPattern(program_, random_, random_.anyOf(known));
    Collective made = std::move(program_.collectives.back());
    program_.collectives.pop_back();
    std::erase_if(made.ensures,
                  [](const Ensure &e) { return e.kind == Ensure::Kind::Synchronizes; });
    made.deterministic = false;
    return made;
  }

  Program &program_;
  Random &random_;
};

/// Conditions that hold for most ranks, or for most numbers of ranks.
Expr rareException(Random &random) {
  Expr few = num(random.between(1, 12));
  switch (random.below(5)) {
  case 0:
    return differs(rankExpr(), few);
  case 1:
    return differs(ranksExpr(), few);
  case 2:
    return less(rankExpr(), plus(few, num(8)));
  case 3:
    return of(ExprOp::Or,
              std::vector<Expr>{differs(rankExpr(), few), less(ranksExpr(), plus(few, num(6)))});
  default:
    return differs(modulo(ranksExpr(), num(random.between(7, 20))), num(0));
  }
}

void makeMistake(Program &program, Random &random) {
  auto lists = statementLists(program);
  if (random.chance(60) || lists.empty())
    return mutate(program, random);
  std::vector<Stmt> &list = *random.anyOf(lists);
  Stmt &s = list[static_cast<size_t>(random.below(static_cast<int64_t>(list.size())))];
  if (s.kind != Stmt::Kind::Let && s.kind != Stmt::Kind::Temp && s.label.name == kNoName)
    s = when(rareException(random), {Stmt(s)});
}

} // namespace

Program generateForAllRanks(uint64_t seed) {
  Random random(seed ^ 0xa11a115u);
  Program program;
  program.ranks = 8; // patterns may look at it
  Collective made = Maker(program, random).make();
  program.collectives.push_back(std::move(made));
  for (int percent = 45; random.chance(percent); percent = 25)
    makeMistake(program, random);
  return program;
}

Program withOtherValues(const Program &program, Random &random) {
  Program other = program;
  for (Param &p : other.main().params) {
    if (p.kind == Param::Kind::Int)
      p.value = {num(random.between(-9, 30))};
    if (p.kind == Param::Kind::Rank)
      p.value = {num(random.below(program.ranks))};
  }
  return other;
}

} // namespace colldsl::generated
