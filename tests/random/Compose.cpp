#include "tests/random/Compose.h"

#include "tests/random/Patterns.h"

namespace colldsl::generated {
namespace {

/// A buffer in scope. T[n], or T[count][n].
struct Known {
  Name name = kNoName;
  bool isGrid = false;
  bool isPerRank = false; ///< count is `ranks`
  int64_t count = 1;
  bool isWritable = false;
};

/// Which elements of a line: all, a run at a place of its own for each line, or a part.
struct Shape {
  enum class Kind : uint8_t { Whole, Elements, Part } kind = Kind::Whole;
  int64_t length = 0;     ///< Elements
  int64_t at = 0, of = 1; ///< Part
};

class Composer {
public:
  Composer(Program &program, Random &random) : program_(program), random_(random) {}

  void run() {
    addFunctions();
    for (int64_t left = random_.below(3); left > 0; --left) {
      auto pattern = static_cast<Pattern>(random_.below(kPatterns));
      addPattern(program_, random_, pattern);
      callees_.push_back({pattern, static_cast<uint32_t>(program_.collectives.size() - 1)});
    }
    Collective main;
    Name x = name(), w = name(), y = name(), z = name();
    main.params = {buffer(x, BufferRole::In), buffer(w, BufferRole::InOut),
                   blocks(y, BufferRole::Out, ranksExpr())};
    known_ = {{x, false, false, 1, false},
              {w, false, false, 1, true},
              {y, true, true, program_.ranks, true}};
    if (random_.chance(40)) {
      int64_t count = random_.between(1, 3);
      main.params.push_back(blocks(z, BufferRole::InOut, num(count)));
      known_.push_back({z, true, false, count, true});
    }
    main.body = {beginning(x, y)};
    add(main.body, random_.between(1, 5), 0);
    if (random_.chance(15))
      main.aliases = {{x, block(whole(y), rankExpr())}};
    program_.collectives.push_back(std::move(main));
  }

private:
  Name name() { return program_.newName(); }

  Stmt beginning(Name x, Name y) {
    Name k = name();
    if (random_.chance(30))
      return copy({whole(x)}, {block(whole(y), rankExpr())});
    return forEach(k, allRanks(), {copy({whole(x)}, {block(whole(y), var(k))})});
  }

  /// Of which some call themselves or each other.
  void addFunctions() {
    if (random_.chance(60))
      return;
    Name a = name(), b = name();
    Expr smaller = minus(var(a), num(1)), ends = of(ExprOp::Le, {var(a), num(0)});
    Expr result = num(random_.between(0, 5));
    Expr next = of(ExprOp::CallFunction, {smaller});
    next.name = random_.chance(50) ? 1 : 0;
    program_.functions.push_back({{a}, select(ends, result, plus(next, num(1)))});
    Expr back = of(ExprOp::CallFunction, {minus(var(b), num(random_.between(0, 1)))});
    back.name = 0;
    program_.functions.push_back({{b}, plus(back, num(random_.between(0, 1)))});
  }

  // Expressions

  Expr someInt() {
    auto kind = random_.below(10);
    if (kind < 3 && !loops_.empty())
      return var(random_.anyOf(loops_));
    if (kind < 4 && !program_.functions.empty()) {
      Expr call = of(ExprOp::CallFunction, {num(random_.below(4))});
      call.name = static_cast<Name>(random_.below(2));
      return call;
    }
    if (kind < 7)
      return rankExpr();
    return num(random_.below(5));
  }

  Expr someRank() {
    auto kind = random_.below(10);
    if (kind < 4)
      return num(random_.below(program_.ranks));
    if (kind < 6)
      return onward(num(random_.below(4)));
    if (kind < 7)
      return backward(num(random_.below(4)));
    return modulo(random_.chance(50) ? someInt() : plus(someInt(), someInt()), ranksExpr());
  }

  Expr condition() {
    switch (random_.below(6)) {
    case 0:
      return equal(rankExpr(), num(random_.below(program_.ranks)));
    case 1:
      return equal(modulo(rankExpr(), num(2)), num(0));
    case 2:
      return less(someInt(), someInt());
    case 3:
      return of(ExprOp::Or, {equal(rankExpr(), num(0)), less(num(1), someInt())});
    case 4:
      return of(ExprOp::And, {differs(rankExpr(), num(0)), less(someInt(), num(3))});
    default:
      return of(ExprOp::Not, {equal(someInt(), num(random_.below(4)))});
    }
  }

  // Slices

  Shape shape() {
    auto n = program_.n();
    Shape s;
    auto kind = random_.below(10);
    if (kind < 5)
      return s;
    if (kind < 8 && n > 0) {
      s.kind = Shape::Kind::Elements;
      s.length = random_.between(random_.chance(10) ? 0 : 1, n);
      return s;
    }
    s.kind = Shape::Kind::Part;
    s.of = random_.between(1, 3);
    s.at = random_.below(s.of);
    return s;
  }

  const Known &someBuffer(bool writable) {
    for (;;) {
      const Known &known = random_.anyOf(known_);
      if (known.isWritable || !writable)
        return known;
    }
  }

  SliceExpr line(bool writable) { return lineOf(someBuffer(writable)); }

  SliceExpr lineOf(const Known &known) {
    if (!known.isGrid)
      return whole(known.name);
    Expr at = known.isPerRank      ? someRank()
              : random_.chance(60) ? num(random_.below(known.count))
                                   : modulo(someInt(), num(known.count));
    return block(whole(known.name), at);
  }

  SliceExpr shaped(SliceExpr line, const Shape &s) {
    switch (s.kind) {
    case Shape::Kind::Whole:
      break;
    case Shape::Kind::Elements: {
      int64_t at = random_.below(program_.n() - s.length + 1);
      return elements(std::move(line), num(at), num(at + s.length));
    }
    case Shape::Kind::Part:
      return {SliceExpr::Kind::Part, kNoName, {std::move(line)}, {num(s.at), num(s.of)}};
    }
    return line;
  }

  SliceExpr source(const Shape &s) { return shaped(line(false), s); }
  SliceExpr target(const Shape &s) { return shaped(line(true), s); }

  Reduction reduction() {
    return random_.chance(80)   ? Reduction::Sum
           : random_.chance(50) ? Reduction::MatMul
                                : Reduction::Max;
  }
  Side side() { return random_.chance(50) ? Side::Before : Side::After; }

  // Statements

  void add(std::vector<Stmt> &body, int64_t count, int depth) {
    size_t scope = known_.size();
    for (; count > 0; --count)
      addOne(body, depth);
    known_.resize(scope);
  }

  void addOne(std::vector<Stmt> &body, int depth) {
    auto kind = random_.below(100);
    if (kind < 14)
      return addLocal(body);
    if (kind < 40)
      return addMessages(body);
    if (kind < 48)
      return addOrdered(body);
    if (kind < 54)
      return addHub(body);
    if (kind < 60)
      return addPipeline(body);
    if (kind < 62)
      return addNames(body);
    if (kind < 66)
      return addTemporary(body);
    if (kind < 80)
      return addCall(body);
    if (depth < 2)
      addNested(body, depth);
    else
      addLocal(body);
  }

  void addLocal(std::vector<Stmt> &body) {
    Shape s = shape();
    if (random_.chance(15)) {
      Shape t = shape();
      body.push_back(copy({source(s), source(t)}, {target(s), target(t)}));
      return;
    }
    Stmt made = copy({source(s)}, {target(s)});
    if (random_.chance(50)) {
      made.kind = Stmt::Kind::Combine;
      made.reduction = reduction();
      made.side = side();
    }
    body.push_back(made);
  }

  Stmt receive(const Shape &s, Expr from) {
    return random_.chance(35) ? recvCombine(target(s), std::move(from), reduction(), side())
                              : recv({target(s)}, std::move(from));
  }

  void tag(Stmt &a, Stmt &b) {
    if (!random_.chance(20))
      return;
    Expr value = someTag();
    a.exprs.push_back(value);
    b.exprs.push_back(value);
  }
  Expr someTag() { return loops_.empty() ? num(random_.below(3)) : var(random_.anyOf(loops_)); }

  void addMessages(std::vector<Stmt> &body) {
    Shape s = shape();
    if (random_.chance(50)) { // everybody to a rank so much further on
      Expr by = !loops_.empty() && random_.chance(50) ? var(random_.anyOf(loops_))
                                                      : num(random_.below(4));
      Stmt out = send({source(s)}, onward(by)), in = receive(s, backward(by));
      tag(out, in);
      if (random_.chance(40))
        std::swap(out, in);
      body.push_back(out);
      body.push_back(in);
      return;
    }
    int64_t from = random_.below(program_.ranks), to = random_.below(program_.ranks);
    Stmt out = send({source(s)}, num(to)), in = receive(s, num(from));
    tag(out, in);
    if (random_.chance(30)) { // peers that are none
      out.exprs[0] = select(equal(rankExpr(), num(from)), num(to), none());
      in.exprs[0] = select(equal(rankExpr(), num(to)), num(from), none());
      body.push_back(out);
      body.push_back(in);
      return;
    }
    body.push_back(when(equal(rankExpr(), num(from)), {out}));
    body.push_back(when(equal(rankExpr(), num(to)), {in}));
  }

  /// Labelled operations and a statement that orders them.
  void addOrdered(std::vector<Stmt> &body) {
    Name first = name(), second = name();
    std::vector<Expr> indices;
    for (Name loop : loops_)
      indices.push_back(var(loop));
    Shape s = shape();
    Stmt in = random_.chance(50) ? receive(s, backward(num(1)))
                                 : simple(Stmt::Kind::Wait, {backward(num(1))});
    Stmt out = in.kind == Stmt::Kind::Wait ? simple(Stmt::Kind::Signal, {onward(num(1))})
                                           : send({source(s)}, onward(num(1)));
    bool receivesFirst = random_.chance(40);
    Stmt a = labelled(receivesFirst ? in : out, first, indices);
    body.push_back(a);
    if (random_.chance(40))
      addLocal(body);
    body.push_back(labelled(receivesFirst ? out : in, second, indices));
    body.push_back(ordered({second, indices}, {first, indices}, random_.chance(40)));
  }

  void addHub(std::vector<Stmt> &body) {
    Expr hub = num(random_.below(program_.ranks));
    Name r = name();
    Shape s = shape();
    Expr other = differs(var(r), hub);
    SliceExpr from = source(s);
    loops_.push_back(r);
    Stmt in = receive(s, var(r)), out = send({source(s)}, var(r));
    loops_.pop_back();
    if (random_.chance(60))
      body.push_back(when(equal(rankExpr(), hub), {forEach(r, allRanks(), {when(other, {in})})},
                          {send({from}, hub)}));
    else
      body.push_back(when(equal(rankExpr(), hub), {forEach(r, allRanks(), {when(other, {out})})},
                          {receive(s, hub)}));
  }

  void addPipeline(std::vector<Stmt> &body) {
    Name piece = name();
    Range range{Range::Kind::Segments, {num(4 * random_.between(1, 3))}, {line(true)}, kNoName};
    Stmt in = random_.chance(60)
                  ? recv({whole(piece)}, minus(rankExpr(), num(1)))
                  : recvCombine(whole(piece), minus(rankExpr(), num(1)), reduction(), side());
    Expr last = minus(ranksExpr(), num(1));
    body.push_back(
        forEach(piece, range,
                {when(less(num(0), rankExpr()), {in}),
                 when(less(rankExpr(), last), {send({whole(piece)}, plus(rankExpr(), num(1)))})}));
  }

  void addTemporary(std::vector<Stmt> &body) {
    Name t = name();
    body.push_back(temporary(t));
    if (random_.chance(90))
      body.push_back(copy({line(false)}, {whole(t)}));
    known_.push_back({t, false, false, 1, true});
  }

  /// Names for numbers and slices.
  void addNames(std::vector<Stmt> &body) {
    Name k = name(), s = name();
    body.push_back(let(k, someRank()));
    Stmt named = simple(Stmt::Kind::LetSlice);
    const Known &known = someBuffer(true);
    named.name = s;
    named.sources = {lineOf(known)};
    body.push_back(named);
    Stmt out = send({whole(s)}, onward(num(1))), in = recv({line(true)}, backward(num(1)));
    out.exprs.push_back(num(1));
    in.exprs.push_back(num(1));
    body.push_back(out);
    body.push_back(in);
    body.push_back(copy({line(false)}, {whole(s)}));
    if (random_.chance(50))
      body.push_back(simple(Stmt::Kind::Calc, {num(random_.below(100))}));
    body.push_back(when(equal(var(k), num(0)), {copy({whole(s)}, {line(true)})}));
  }

  void addNested(std::vector<Stmt> &body, int depth) {
    std::vector<Stmt> inner, other;
    if (random_.chance(50)) {
      Name k = name();
      loops_.push_back(k);
      add(inner, random_.between(1, 2), depth + 1);
      loops_.pop_back();
      Range range = random_.chance(30)   ? allRanks()
                    : random_.chance(30) ? through(num(0), num(random_.below(2)))
                                         : upto(num(random_.below(2)), num(random_.between(1, 3)));
      if (random_.chance(15))
        range = {Range::Kind::List, {num(2), num(0), num(1)}, {}, kNoName};
      body.push_back(forEach(k, range, inner));
      return;
    }
    add(inner, random_.between(1, 2), depth + 1);
    if (random_.chance(40))
      add(other, 1, depth + 1);
    body.push_back(when(condition(), inner, other));
  }

  // Calls

  void addCall(std::vector<Stmt> &body) {
    if (callees_.empty())
      return addLocal(body);
    Stmt s = simple(Stmt::Kind::Call);
    auto callee = random_.below(static_cast<int64_t>(callees_.size()));
    Pattern pattern = callees_[static_cast<size_t>(callee)].pattern;
    s.callee = callees_[static_cast<size_t>(callee)].collective;
    bool needsAll = pattern == Pattern::Allgather || pattern == Pattern::Alltoall;
    if (!needsAll && random_.chance(50))
      s.group = group();
    for (const Param &param : program_.collectives[s.callee].params)
      if (!giveArgument(s, param))
        return addLocal(body);
    body.push_back(s);
  }

  /// False: there is nothing to give.
  bool giveArgument(Stmt &s, const Param &param) {
    Argument given;
    given.param = param.name;
    if (param.kind == Param::Kind::Rank && s.group.kind == GroupExpr::Kind::Current)
      given.value = {num(random_.below(program_.ranks))};
    if (param.kind != Param::Kind::Buffer) {
      if (!given.value.empty())
        s.arguments.push_back(given);
      return true;
    }
    bool isGrid = param.dims.size() > 1;
    bool perRank = isGrid && param.dims[0].op == ExprOp::Ranks;
    for (int tries = 0; tries < 8; ++tries) {
      const Known &known = someBuffer(param.role != BufferRole::In);
      if (isUsed(s, known.name) || (isGrid && (known.isPerRank != perRank || !known.isGrid)))
        continue;
      if (isGrid && !perRank && known.count != param.dims[0].value)
        continue;
      given.slice = {isGrid ? whole(known.name) : lineOf(known)};
      s.arguments.push_back(given);
      return true;
    }
    return false;
  }

  static bool isUsed(const Stmt &s, Name name) {
    for (const Argument &a : s.arguments)
      for (const SliceExpr &slice : a.slice)
        if (slice.name == name || (!slice.base.empty() && slice.base[0].name == name))
          return true;
    return false;
  }

  GroupExpr group() {
    GroupExpr g;
    g.var = name();
    Expr r = var(g.var);
    if (random_.chance(50)) {
      g.kind = GroupExpr::Kind::Split;
      Expr half = of(ExprOp::Div, {r, num(2)});
      g.choice = {random_.chance(50) ? modulo(r, num(2)) : half};
      if (random_.chance(20))
        g.choice = {select(equal(r, num(1)), none(), g.choice[0])};
    } else {
      g.kind = GroupExpr::Kind::Where;
      g.choice = {random_.chance(50) ? less(r, num(random_.between(1, 4)))
                                     : equal(modulo(r, num(2)), num(random_.below(2)))};
    }
    return g;
  }

  Program &program_;
  Random &random_;
  struct Callee {
    Pattern pattern;
    uint32_t collective;
  };
  std::vector<Callee> callees_;
  std::vector<Known> known_;
  std::vector<Name> loops_;
};

} // namespace

void addComposition(Program &program, Random &random) { Composer(program, random).run(); }

} // namespace colldsl::generated
