#include "tests/random/Blocks.h"

#include <algorithm>

namespace colldsl::generated {
namespace {

class BlockMaker {
public:
  BlockMaker(Program &program, Random &random)
      : program_(program), random_(random),
        extent_(random.chance(50) ? Extent::CallTime : Extent::Capacity) {}

  void addPattern() {
    Collective added;
    c_ = &added;
    switch (random_.below(14)) {
    case 0:
    case 1:
      exchange();
      break;
    case 2:
      gatherAll();
      break;
    case 3:
      broadcast();
      break;
    case 4:
      reduce();
      break;
    case 5:
    case 6:
      crossings();
      break;
    case 7:
      list();
      break;
    case 8:
      twoInto();
      break;
    case 9:
      overwrite();
      break;
    case 10:
      throughTemporary();
      break;
    case 11:
      calls();
      break;
    case 12:
      gather();
      break;
    case 13:
      scatter();
      break;
    }
    join(added);
  }

  void addWiring() {
    Collective added;
    c_ = &added;
    wire();
    join(added);
  }

private:
  Name name() { return program_.newName(); }

  Name param(BufferRole role, std::vector<Expr> count) {
    Name made = name();
    c_->params.push_back(callTimeBlocks(made, role, std::move(count), extent_));
    return made;
  }

  void add(Stmt s) { c_->body.push_back(std::move(s)); }
  void promise(Ensure e) { c_->ensures.push_back(std::move(e)); }
  SliceExpr at(Name grid, Expr i) const { return block(whole(grid), std::move(i)); }
  bool isCallTime() const { return extent_ == Extent::CallTime; }

  /// In front of what the program has, where its size symbol is the first one, or behind it.
  void join(const Collective &added) {
    Collective &main = program_.main();
    bool isFirst = random_.chance(30);
    auto insert = [&](auto &into, const auto &list, bool front) {
      into.insert(front ? into.begin() : into.end(), list.begin(), list.end());
    };
    insert(main.params, added.params, isFirst);
    insert(main.ensures, added.ensures, random_.chance(50));
    insert(main.aliases, added.aliases, false);
    insert(main.body, added.body, random_.chance(50));
  }

  // Patterns

  /// From each rank to each; in pieces, or each message after others.
  void exchange() {
    Name u = param(BufferRole::In, {ranksExpr()}), v = param(BufferRole::Out, {ranksExpr()});
    Name k = name(), r = name(), out = name(), in = name();
    promise(forAll(r, allRanks(), holds(at(v, var(r)), at(u, rankExpr()), var(r))));
    if (random_.chance(10))
      promise(synchronizing());
    std::vector<SliceExpr> from{at(u, onward(var(k)))}, to{at(v, backward(var(k)))};
    if (isCallTime() && random_.chance(25)) {
      from = halves(from[0]);
      to = halves(to[0]);
    }
    std::vector<Stmt> round;
    for (size_t i = 0; i < from.size(); ++i) {
      round.push_back(send({from[i]}, onward(var(k))));
      round.push_back(recv({to[i]}, backward(var(k))));
    }
    if (random_.chance(50) && round.size() == 2)
      round = labelledRound(round, k, out, in);
    if (random_.chance(40))
      std::reverse(round.begin(), round.end());
    add(copy({at(u, rankExpr())}, {at(v, rankExpr())}));
    add(forEach(k, upto(num(1), ranksExpr()), round));
    if (round[0].label.name != kNoName)
      addOrders(out, in);
  }

  std::vector<SliceExpr> halves(const SliceExpr &slice) const {
    std::vector<SliceExpr> parts;
    for (int64_t i = 0; i < 2; ++i)
      parts.push_back({SliceExpr::Kind::Part, kNoName, {slice}, {num(i), num(2)}});
    return parts;
  }

  static std::vector<Stmt> labelledRound(const std::vector<Stmt> &round, Name k, Name out,
                                         Name in) {
    return {labelled(round[0], out, {var(k)}), labelled(round[1], in, {var(k)})};
  }

  /// Between rounds that are so far apart.
  void addOrders(Name out, Name in) {
    Name k = name();
    Expr before = minus(var(k), num(random_.chance(80) ? 1 : 0));
    Label later{random_.chance(70) ? out : in, {var(k)}};
    Label earlier{random_.chance(70) ? in : out, {before}};
    add(forEach(k, upto(num(2), ranksExpr()), {ordered(later, earlier, random_.chance(25))}));
  }

  void gatherAll() {
    Name x = param(BufferRole::In, {}), y = param(BufferRole::Out, {ranksExpr()});
    Name k = name(), r = name();
    promise(forAll(r, allRanks(), holds(at(y, var(r)), whole(x), var(r))));
    Stmt own = copy({whole(x)}, {at(y, rankExpr())});
    if (!isCallTime() && random_.chance(15))
      own = when(equal(sizeExpr(Symbol::M), num(program_.sizeOf(Symbol::M))), {own});
    add(own);
    if (random_.chance(50)) {
      add(forEach(k, upto(num(0), minus(ranksExpr(), num(1))),
                  {send({at(y, backward(var(k)))}, onward(num(1))),
                   recv({at(y, backward(plus(var(k), num(1))))}, backward(num(1)))}));
    } else {
      add(forEach(k, upto(num(1), ranksExpr()),
                  {send({random_.chance(50) ? whole(x) : at(y, rankExpr())}, onward(var(k))),
                   recv({at(y, backward(var(k)))}, backward(var(k)))}));
    }
    if (random_.chance(50))
      c_->aliases = {{x, at(y, rankExpr())}};
  }

  /// To a root, which alone has the blocks of all; blocks of capacity also from rank to rank.
  void gather() {
    bool isChain = !isCallTime() && random_.chance(50);
    Name x = param(BufferRole::In, {}), y = param(BufferRole::Out, {ranksExpr()});
    Name k = name(), r = name(), t = name(), i = name(), root = name();
    Expr at0 = isChain ? num(0) : var(root);
    c_->params.back().root = {at0};
    if (!isChain)
      c_->params.push_back(rankParam(root, num(random_.below(program_.ranks))));
    Expr isRoot = equal(rankExpr(), at0);
    promise(generated::at(isRoot, forAll(r, allRanks(), holds(at(y, var(r)), whole(x), var(r)))));
    if (random_.chance(60))
      c_->aliases = {{x, at(y, rankExpr())}};
    std::vector<Stmt> others{copy({whole(x)}, {at(y, rankExpr())})};
    if (isChain) {
      Range above = upto(plus(rankExpr(), num(1)), ranksExpr());
      others.push_back(forEach(k, above, {recv({at(y, var(k))}, plus(rankExpr(), num(1)))}));
      add(when(isRoot, others,
               {temporaryBlocks(t, ranksExpr()), send({whole(x)}, minus(rankExpr(), num(1))),
                forEach(i, above,
                        {recv({at(t, var(i))}, plus(rankExpr(), num(1))),
                         send({at(t, var(i))}, minus(rankExpr(), num(1)))})}));
      return;
    }
    others.push_back(
        forEach(k, allRanks(), {when(differs(var(k), at0), {recv({at(y, var(k))}, var(k))})}));
    add(when(isRoot, others, {send({whole(x)}, at0)}));
  }

  void scatter() {
    Name x = param(BufferRole::In, {ranksExpr()}), y = param(BufferRole::Out, {}), k = name();
    Expr root = num(random_.below(program_.ranks));
    c_->params[0].root = {root};
    promise(holds(whole(y), at(x, rankExpr()), root));
    add(when(
        equal(rankExpr(), root),
        {copy({at(x, rankExpr())}, {whole(y)}),
         forEach(k, allRanks(), {when(differs(var(k), root), {send({at(x, var(k))}, var(k))})})},
        {recv({whole(y)}, root)}));
  }

  void broadcast() {
    Name b = param(BufferRole::InOut, {}), r = name();
    Expr root = num(random_.below(program_.ranks));
    promise(holds(whole(b), whole(b), root));
    addFlat(c_->body, whole(b), root, r);
  }

  void addFlat(std::vector<Stmt> &body, const SliceExpr &slice, const Expr &root, Name r) {
    body.push_back(
        when(equal(rankExpr(), root),
             {forEach(r, allRanks(), {when(differs(var(r), root), {send({slice}, var(r))})})},
             {recv({slice}, root)}));
  }

  void reduce() {
    extent_ = Extent::Capacity; // others cannot be received and combined
    Name x = param(BufferRole::In, {}), y = param(BufferRole::InOut, {}), r = name(), o = name();
    Expr root = num(random_.below(program_.ranks));
    Reduction op = random_.chance(50) ? Reduction::Sum : Reduction::Max;
    promise(generated::at(equal(rankExpr(), root),
                          reduces(whole(y), op, o, allRanks(), whole(x), var(o))));
    add(when(
        equal(rankExpr(), root),
        {copy({whole(x)}, {whole(y)}),
         forEach(r, allRanks(),
                 {when(differs(var(r), root), {recvCombine(whole(y), var(r), op, Side::After)})})},
        {send({whole(x)}, root)}));
  }

  /// Messages between neighbours of which some wait for others: round a circle, if all of them
  /// have elements.
  void crossings() {
    int64_t count = random_.between(2, 4);
    Name u = param(BufferRole::In, {num(count)}), v = param(BufferRole::Out, {num(count)});
    Name i = name(), j = name(), out = name(), in = name();
    promise(
        forAll(i, upto(num(0), num(count)), holds(at(v, var(i)), at(u, var(i)), backward(num(1)))));
    Stmt sends = labelled(send({at(u, var(j))}, onward(num(1))), out, {var(j)});
    Stmt recvs = labelled(recv({at(v, var(j))}, backward(num(1))), in, {var(j)});
    sends.exprs.push_back(var(j));
    recvs.exprs.push_back(var(j));
    add(forEach(j, upto(num(0), num(count)), {sends, recvs}));
    for (int64_t left = random_.between(1, count); left > 0; --left) {
      int64_t later = random_.below(count), earlier = random_.below(count);
      add(ordered({out, {num(later)}}, {in, {num(earlier)}}, random_.chance(15)));
    }
    if (random_.chance(15))
      promise(synchronizing());
  }

  /// One message of blocks and a slice whose length is known.
  void list() {
    Name u = param(BufferRole::In, {num(2)}), v = param(BufferRole::Out, {num(2)});
    Param p = buffer(name(), BufferRole::In), q = buffer(name(), BufferRole::Out);
    p.symbol = q.symbol = random_.chance(50) ? Symbol::K : Symbol::N;
    c_->params.push_back(p);
    c_->params.push_back(q);
    for (int64_t i = 0; i < 2; ++i)
      promise(holds(at(v, num(i)), at(u, num(i)), backward(num(1))));
    promise(holds(whole(q.name), whole(p.name), backward(num(1))));
    if (random_.chance(60)) {
      add(send({at(u, num(0)), whole(p.name), at(u, num(1))}, onward(num(1))));
      add(recv({at(v, num(0)), whole(q.name), at(v, num(1))}, backward(num(1))));
      return;
    }
    for (const auto &[from, to] :
         {std::pair(at(u, num(1)), at(v, num(1))), std::pair(whole(p.name), whole(q.name)),
          std::pair(at(u, num(0)), at(v, num(0)))}) {
      add(send({from}, onward(num(1))));
      add(recv({to}, backward(num(1))));
    }
  }

  /// Of two blocks one may lie where the other one is copied to.
  void twoInto() {
    Name z = param(BufferRole::In, {}), x = param(BufferRole::In, {});
    Name y = param(BufferRole::Out, {num(2)});
    promise(holds(at(y, num(0)), whole(z), rankExpr()));
    promise(holds(at(y, num(1)), whole(x), rankExpr()));
    std::vector<Stmt> copies{copy({whole(x)}, {at(y, num(1))}), copy({whole(z)}, {at(y, num(0))})};
    if (random_.chance(20))
      std::swap(copies[0], copies[1]);
    for (const Stmt &s : copies)
      add(s);
    if (random_.chance(70))
      c_->aliases = {{x, at(y, num(0))}};
  }

  void overwrite() {
    Name x = param(BufferRole::In, {}), z = param(BufferRole::In, {});
    Name y = param(BufferRole::Out, {});
    promise(holds(whole(y), whole(x), rankExpr()));
    add(copy({whole(z)}, {whole(y)}));
    add(copy({whole(x)}, {whole(y)}));
  }

  void throughTemporary() {
    extent_ = Extent::Capacity;
    Name x = param(BufferRole::In, {}), y = param(BufferRole::Out, {}), t = name();
    promise(holds(whole(y), whole(x), backward(num(1))));
    add(temporaryBlocks(t, num(2)));
    add(copy({whole(x)}, {at(t, num(0))}));
    add(send({at(t, num(0))}, onward(num(1))));
    add(recv({at(t, num(1))}, backward(num(1))));
    add(copy({at(t, num(1))}, {whole(y)}));
  }

  /// A broadcast of each block by a call that takes it as T[n], or as T[<= m].
  void calls() {
    Collective callee;
    Name b = name(), root = name(), r = name(), i = name(), j = name();
    callee.params = {isCallTime() ? buffer(b, BufferRole::InOut)
                                  : callTimeBlocks(b, BufferRole::InOut, {}, extent_),
                     rankParam(root, num(0))};
    callee.ensures = {holds(whole(b), whole(b), var(root))};
    addFlat(callee.body, whole(b), var(root), r);
    Name all = param(BufferRole::InOut, {ranksExpr()});
    promise(forAll(i, allRanks(), holds(at(all, var(i)), at(all, var(i)), var(i))));
    Stmt call = simple(Stmt::Kind::Call);
    call.callee = static_cast<uint32_t>(program_.collectives.size() - 1);
    call.arguments = {{b, {}, {at(all, var(j))}}, {root, {var(j)}, {}}};
    add(forEach(j, allRanks(), {call}));
    program_.collectives.insert(program_.collectives.end() - 1, callee);
  }

  // Wiring

  SliceExpr line(bool isTarget) {
    int64_t count = isTarget ? random_.below(2) + 1 : random_.below(3);
    Name grid = grids_[static_cast<size_t>(count)];
    return at(grid,
              random_.chance(70) ? num(random_.below(count_)) : modulo(rankExpr(), num(count_)));
  }

  void wire() {
    count_ = random_.between(1, 3);
    grids_ = {param(BufferRole::In, {num(count_)}), param(BufferRole::Out, {num(count_)}),
              param(BufferRole::InOut, {num(count_)})};
    Name i = name();
    add(forEach(i, upto(num(0), num(count_)),
                {copy({at(grids_[0], var(i))}, {at(grids_[1], var(i))})}));
    for (int64_t left = random_.between(1, 5); left > 0; --left)
      addRandom();
  }

  void addRandom() {
    if (random_.chance(30))
      return add(copy({line(false)}, {line(true)}));
    bool combines = !isCallTime() && random_.chance(25);
    auto receive = [&](Expr from) {
      return combines ? recvCombine(line(true), std::move(from), Reduction::Sum, Side::After)
                      : recv({line(true)}, std::move(from));
    };
    if (random_.chance(50)) {
      Expr by = num(random_.below(3));
      Stmt out = send({line(false)}, onward(by)), in = receive(backward(by));
      Name a = name(), b = name();
      bool areOrdered = random_.chance(30), isSecond = random_.chance(50);
      if (areOrdered) {
        out = labelled(out, a);
        in = labelled(in, b);
      }
      if (random_.chance(30))
        std::swap(out, in);
      add(out);
      add(in);
      if (areOrdered)
        add(ordered({isSecond ? a : b, {}}, {isSecond ? b : a, {}}, random_.chance(40)));
      return;
    }
    int64_t from = random_.below(program_.ranks), to = random_.below(program_.ranks);
    add(when(equal(rankExpr(), num(from)), {send({line(false)}, num(to))}));
    add(when(equal(rankExpr(), num(to)), {receive(num(from))}));
  }

  Program &program_;
  Random &random_;
  Extent extent_;
  Collective *c_ = nullptr; ///< what is added
  int64_t count_ = 1;
  std::vector<Name> grids_; ///< in, out, inout
};

} // namespace

void addBlockPattern(Program &program, Random &random) { BlockMaker(program, random).addPattern(); }

void addBlockWiring(Program &program, Random &random) { BlockMaker(program, random).addWiring(); }

} // namespace colldsl::generated
