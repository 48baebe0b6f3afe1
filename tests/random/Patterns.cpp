#include "tests/random/Patterns.h"

namespace colldsl::generated {
namespace {

constexpr int64_t kMaxRanks = 8; ///< of a tree that is given as a list

class PatternMaker {
public:
  PatternMaker(Program &program, Random &random) : program_(program), random_(random) {}

  Collective make(Pattern pattern) {
    switch (pattern) {
    case Pattern::Bcast:
      return bcast();
    case Pattern::Reduce:
      return reduce();
    case Pattern::Scan:
      return scan();
    case Pattern::Allgather:
      return allgather();
    case Pattern::Alltoall:
      return alltoall();
    case Pattern::Allreduce:
      return allreduce();
    case Pattern::Barrier:
      return barrier();
    case Pattern::Rotate:
      return rotate();
    case Pattern::Relay:
      return relay();
    case Pattern::Halves:
      return halves();
    }
    return {};
  }

  Collective neighborExchange() {
    Collective c;
    Name g = name(), x = name(), y = name(), out = name(), in = name(), e = name();
    Param graph;
    graph.kind = Param::Kind::Graph;
    graph.name = g;
    graph.structure = addGraph();
    c.params = {graph, buffer(x, BufferRole::In),
                blocks(y, BufferRole::Out, of(ExprOp::InDegree, g))};
    c.ensures = {
        forAll(e, overAll(Range::Kind::In, g),
               holds(block(whole(y), of(ExprOp::EdgeSlot, e)), whole(x), of(ExprOp::EdgePeer, e)))};
    Stmt sends = along(send({whole(x)}, none()), out);
    Stmt recvs = along(recv({block(whole(y), of(ExprOp::EdgeSlot, in))}, none()), in);
    c.body = {forEach(out, overAll(Range::Kind::Out, g), {sends}),
              forEach(in, overAll(Range::Kind::In, g), {recvs})};
    if (random_.chance(50))
      std::swap(c.body[0], c.body[1]);
    return c;
  }

private:
  Name name() { return program_.newName(); }
  static Stmt along(Stmt s, Name edge) {
    s.name = edge;
    s.exprs.clear();
    return s;
  }

  /// A tree in which place v has the parent parents[v] < v, places counted from the root.
  uint32_t addTree() {
    std::vector<int64_t> parents{0};
    auto shape = random_.below(4);
    for (int64_t v = 1; v < kMaxRanks; ++v)
      parents.push_back(shape == 0   ? v - 1
                        : shape == 1 ? 0
                        : shape == 2 ? (v - 1) / 2
                                     : random_.below(v));
    Structure tree;
    tree.root = name();
    Name v = name(), i = name();
    auto rankAt = [&](Expr place) { return modulo(plus(var(tree.root), place), ranksExpr()); };
    Range later = upto(plus(var(v), num(1)), ranksExpr());
    tree.body = {let(v, modulo(minus(rankExpr(), var(tree.root)), ranksExpr())),
                 when(less(num(0), var(v)),
                      {simple(Stmt::Kind::Parent, {rankAt(element(parents, var(v)))})}),
                 forEach(i, later,
                         {when(equal(element(parents, var(i)), var(v)),
                               {simple(Stmt::Kind::Child, {rankAt(var(i))})})})};
    program_.structures.push_back(tree);
    return static_cast<uint32_t>(program_.structures.size() - 1);
  }

  Param treeParam(Name t, Name root) {
    Param p;
    p.kind = Param::Kind::Tree;
    p.name = t;
    p.structure = addTree();
    p.value = {var(root)};
    return p;
  }

  uint32_t addGraph() {
    struct End {
      bool isOut;
      int64_t peer, key;
    };
    int64_t ranks = program_.ranks;
    std::vector<std::vector<End>> ends(static_cast<size_t>(ranks));
    int64_t hub = random_.below(ranks);
    for (int64_t left = random_.below(3 * ranks + 1); left > 0; --left) {
      int64_t from = random_.chance(30) ? hub : random_.below(ranks);
      int64_t to = random_.below(ranks), key = random_.chance(70) ? 0 : random_.below(3);
      ends[static_cast<size_t>(from)].push_back({true, to, key});
      ends[static_cast<size_t>(to)].push_back({false, from, key});
    }
    Structure graph;
    graph.isTree = false;
    for (int64_t r = 0; r < ranks; ++r) {
      std::vector<Stmt> body;
      for (const End &end : ends[static_cast<size_t>(r)]) {
        auto kind = end.isOut ? Stmt::Kind::EdgeTo : Stmt::Kind::EdgeFrom;
        if (random_.chance(5))
          body.push_back(simple(kind, {none()}));
        body.push_back(simple(kind, {num(end.peer)}));
        if (end.key != 0 || random_.chance(10))
          body.back().exprs.push_back(num(end.key));
      }
      if (!body.empty())
        graph.body.push_back(when(equal(rankExpr(), num(r)), body));
    }
    program_.structures.push_back(graph);
    return static_cast<uint32_t>(program_.structures.size() - 1);
  }

  /// Runs the body for the buffer as a whole or for one segment after the other.
  template <typename Body> std::vector<Stmt> inPieces(Name buffer, Body body) {
    if (random_.chance(50))
      return body(whole(buffer));
    Name s = name();
    if (random_.chance(50)) {
      Range range{Range::Kind::Segments, {num(4 * random_.between(1, 3))}, {whole(buffer)}, {}};
      return {forEach(s, range, body(whole(s)))};
    }
    Expr count = num(random_.between(1, 4));
    SliceExpr part{SliceExpr::Kind::Part, kNoName, {whole(buffer)}, {var(s), count}};
    return {forEach(s, upto(num(0), count), body(part))};
  }

  Collective bcast() {
    Collective c;
    Name b = name(), root = name(), t = name(), child = name();
    c.params = {buffer(b, BufferRole::InOut), rankParam(root, num(0)), treeParam(t, root)};
    c.ensures = {holds(whole(b), whole(b), var(root))};
    c.body = inPieces(b, [&](const SliceExpr &piece) -> std::vector<Stmt> {
      return {recv({piece}, of(ExprOp::TreeParent, t)),
              forEach(child, overAll(Range::Kind::Children, t), {send({piece}, var(child))})};
    });
    return c;
  }

  Collective reduce() {
    Collective c;
    Name x = name(), y = name(), root = name(), t = name(), acc = name(), child = name(),
         r = name();
    Reduction op = random_.chance(50) ? Reduction::Sum : Reduction::Max;
    c.params = {buffer(x, BufferRole::In), buffer(y, BufferRole::InOut), rankParam(root, num(0)),
                treeParam(t, root)};
    c.ensures = {
        at(equal(rankExpr(), var(root)), reduces(whole(y), op, r, allRanks(), whole(x), var(r)))};
    Side side = random_.chance(50) ? Side::Before : Side::After;
    c.body = {temporary(acc), copy({whole(x)}, {whole(acc)})};
    for (Stmt &s : inPieces(acc, [&](const SliceExpr &piece) -> std::vector<Stmt> {
           return {forEach(child, overAll(Range::Kind::Children, t),
                           {recvCombine(piece, var(child), op, side)}),
                   send({piece}, of(ExprOp::TreeParent, t))};
         }))
      c.body.push_back(s);
    c.body.push_back(when(equal(rankExpr(), var(root)), {copy({whole(acc)}, {whole(y)})}));
    return c;
  }

  /// Keeps the order of ranks, so that operators need not commute.
  Collective scan() {
    Collective c;
    Name x = name(), y = name(), r = name();
    Reduction op = random_.chance(50) ? Reduction::MatMul : Reduction::Sum;
    c.params = {buffer(x, BufferRole::In), buffer(y, BufferRole::Out)};
    c.ensures = {reduces(whole(y), op, r, through(num(0), rankExpr()), whole(x), var(r))};
    c.body = {copy({whole(x)}, {whole(y)})};
    for (Stmt &s : inPieces(y, [&](const SliceExpr &piece) -> std::vector<Stmt> {
           Expr last = minus(ranksExpr(), num(1));
           return {when(less(num(0), rankExpr()),
                        {recvCombine(piece, minus(rankExpr(), num(1)), op, Side::Before)}),
                   when(less(rankExpr(), last), {send({piece}, plus(rankExpr(), num(1)))})};
         }))
      c.body.push_back(s);
    aliasWhole(c, x, whole(y));
    return c;
  }

  void aliasWhole(Collective &c, Name param, SliceExpr slice) {
    if (random_.chance(40))
      c.aliases = {{param, std::move(slice)}};
  }

  Collective allgather() {
    Collective c;
    Name x = name(), y = name(), k = name(), r = name();
    c.params = {buffer(x, BufferRole::In), blocks(y, BufferRole::Out, ranksExpr())};
    c.ensures = {forAll(r, allRanks(), holds(block(whole(y), var(r)), whole(x), var(r)))};
    c.body = {copy({whole(x)}, {block(whole(y), rankExpr())})};
    if (random_.chance(50)) {
      c.body.push_back(
          forEach(k, upto(num(0), minus(ranksExpr(), num(1))),
                  {send({block(whole(y), backward(var(k)))}, onward(num(1))),
                   recv({block(whole(y), backward(plus(var(k), num(1))))}, backward(num(1)))}));
    } else {
      std::vector<Stmt> exchange{
          send({random_.chance(50) ? whole(x) : block(whole(y), rankExpr())}, onward(var(k))),
          recv({block(whole(y), backward(var(k)))}, backward(var(k)))};
      if (random_.chance(50))
        std::swap(exchange[0], exchange[1]);
      c.body.push_back(forEach(k, upto(num(1), ranksExpr()), exchange));
    }
    aliasWhole(c, x, block(whole(y), rankExpr()));
    return c;
  }

  Collective alltoall() {
    Collective c;
    Name x = name(), y = name(), k = name(), r = name();
    c.params = {blocks(x, BufferRole::In, ranksExpr()), blocks(y, BufferRole::Out, ranksExpr())};
    c.ensures = {
        forAll(r, allRanks(), holds(block(whole(y), var(r)), block(whole(x), rankExpr()), var(r)))};
    Stmt out = send({block(whole(x), onward(var(k)))}, onward(var(k)));
    Stmt in = recv({block(whole(y), backward(var(k)))}, backward(var(k)));
    if (random_.chance(30)) {
      out.exprs.push_back(var(k));
      in.exprs.push_back(var(k));
    }
    if (random_.chance(30)) // messages to oneself
      c.body = {forEach(k, upto(num(0), ranksExpr()), {out, in})};
    else
      c.body = {copy({block(whole(x), rankExpr())}, {block(whole(y), rankExpr())}),
                forEach(k, upto(num(1), ranksExpr()), {out, in})};
    return c;
  }

  /// Everybody's contributions to everybody, combined as they are counted.
  Collective allreduce() {
    Collective c;
    Name x = name(), y = name(), k = name(), r = name();
    Reduction op = random_.chance(50) ? Reduction::Sum : Reduction::Bxor;
    c.deterministic = random_.chance(15); // a + b is not b + a: seldom right
    c.params = {buffer(x, BufferRole::In), buffer(y, BufferRole::Out)};
    c.ensures = {reduces(whole(y), op, r, allRanks(), whole(x), var(r))};
    c.body = {copy({whole(x)}, {whole(y)}),
              forEach(k, upto(num(1), ranksExpr()),
                      {send({whole(x)}, onward(var(k))),
                       recvCombine(whole(y), backward(var(k)), op, Side::After)})};
    return c;
  }

  Collective barrier() {
    Collective c;
    Name k = name(), s = name(), w = name(), root = name();
    c.ensures = {synchronizing()};
    if (random_.chance(50)) {
      c.body = {forEach(k, upto(num(1), ranksExpr()),
                        {simple(Stmt::Kind::Signal, {onward(var(k))}),
                         simple(Stmt::Kind::Wait, {backward(var(k))})})};
      return c;
    }
    c.params = {rankParam(root, num(0))};
    Expr isRoot = equal(rankExpr(), var(root)), other = differs(var(k), var(root));
    Name out = name();
    std::vector<Stmt> gather{forEach(
        k, allRanks(), {when(other, {labelled(simple(Stmt::Kind::Wait, {var(k)}), w, {var(k)})})})};
    Name i = name(), j = name();
    std::vector<Stmt> orders{when(differs(var(j), var(root)),
                                  {ordered({out, {var(i)}}, {w, {var(j)}}, random_.chance(10))})};
    gather.push_back(forEach(i, allRanks(),
                             {when(differs(var(i), var(root)),
                                   {labelled(simple(Stmt::Kind::Signal, {var(i)}), out, {var(i)}),
                                    forEach(j, allRanks(), orders)})}));
    c.body = {when(isRoot, gather,
                   {labelled(simple(Stmt::Kind::Signal, {var(root)}), s),
                    simple(Stmt::Kind::Wait, {var(root)})})};
    return c;
  }

  /// Two halves of a buffer, in one message of two slices.
  Collective rotate() {
    Collective c;
    Name x = name(), y = name();
    c.params = {blocks(x, BufferRole::In, num(2)), blocks(y, BufferRole::Out, num(2))};
    Expr by = num(random_.between(0, 3));
    for (int64_t i = 0; i < 2; ++i)
      c.ensures.push_back(
          holds(block(whole(y), num(i)), block(whole(x), num(1 - i)), backward(by)));
    c.body = {send({block(whole(x), num(1)), block(whole(x), num(0))}, onward(by)),
              recv({whole(y)}, backward(by))};
    if (random_.chance(50)) {
      c.body[1].targets = {block(whole(y), num(0)), block(whole(y), num(1))};
    }
    return c;
  }

  /// A broadcast to the first of each group, then in each group: calls in a call.
  Collective halves() {
    program_.collectives.push_back(bcast());
    auto callee = static_cast<uint32_t>(program_.collectives.size() - 1);
    Collective c;
    Name b = name(), root = name(), half = name();
    c.params = {buffer(b, BufferRole::InOut), rankParam(root, num(0))};
    c.ensures = {holds(whole(b), whole(b), num(0))};
    Expr size = num(random_.between(1, 3));
    auto inGroup = [&](GroupExpr::Kind kind, auto choose) {
      Stmt s = simple(Stmt::Kind::Call);
      s.callee = callee;
      s.arguments = {{program_.collectives[callee].params[0].name, {}, {whole(b)}}};
      s.group.kind = kind;
      s.group.var = name();
      s.group.choice = {choose(var(s.group.var))};
      return s;
    };
    Stmt first = inGroup(GroupExpr::Kind::Where,
                         [&](Expr r) { return equal(modulo(std::move(r), size), num(0)); });
    Stmt second = inGroup(GroupExpr::Kind::Split, [&](Expr r) {
      return of(ExprOp::Div, {std::move(r), size});
    });
    c.body = {first, second};
    if (random_.chance(30))
      c.body = {labelled(first, half), labelled(second, root), ordered({root, {}}, {half, {}})};
    return c;
  }

  /// What comes is copied; then the next rank is told.
  Collective relay() {
    Collective c;
    Name x = name(), y = name(), t = name(), r = name(), copied = name(), told = name();
    c.params = {buffer(x, BufferRole::In), buffer(y, BufferRole::Out)};
    c.ensures = {holds(whole(y), whole(x), backward(num(1)))};
    if (program_.ranks <= 3)
      c.ensures.push_back(synchronizing());
    c.body = {send({whole(x)}, onward(num(1))),
              temporary(t),
              labelled(recv({whole(t)}, backward(num(1))), r),
              labelled(copy({whole(t)}, {whole(y)}), copied),
              labelled(simple(Stmt::Kind::Signal, {onward(num(1))}), told),
              simple(Stmt::Kind::Wait, {backward(num(1))}),
              ordered({told, {}}, {random_.chance(80) ? copied : r, {}}, random_.chance(60))};
    return c;
  }

  Program &program_;
  Random &random_;
};

} // namespace

void addPattern(Program &program, Random &random, Pattern pattern) {
  Collective made = PatternMaker(program, random).make(pattern);
  program.collectives.push_back(std::move(made));
}

void addNeighborExchange(Program &program, Random &random) {
  Collective made = PatternMaker(program, random).neighborExchange();
  program.collectives.push_back(std::move(made));
}

} // namespace colldsl::generated
