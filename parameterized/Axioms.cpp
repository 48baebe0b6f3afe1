#include "parameterized/Axioms.h"

namespace colldsl::parameterized {

Axioms::Axioms(Prover &prover, const Ranks &ranks)
    : prover_(prover), ranks_(ranks), quotient_(prover.function("quotient", 2)),
      remainder_(prover.function("remainder", 2)), segmentCount_(prover.function("segments", 2)),
      xor_(prover.function("bitwise_xor", 2)), power_(prover.function("pow2", 1)),
      logarithm_(prover.function("ceil_log2", 1)), logarithmDown_(prover.function("log2", 1)),
      shift_(prover.function("shift", 2)), aligned_(prover.function("aligned", 2)),
      reversed_(prover.function("bitreverse", 2)), powerOf_(prover.function("power", 2)),
      logarithmDownTo_(prover.function("log", 2)), logarithmUpTo_(prover.function("ceil_log", 2)),
      multiple_(prover.function("multiple", 3)), digit_(prover.function("digit", 3)),
      parts_(division("part")), segments_(division("segment")) {
  auto euclid = [this](const Term &app, Terms &out) {
    Term a = app.arg(0), b = app.arg(1), q = quotient_(a, b), r = remainder_(a, b);
    out.push_back(implies(b > 0, a == q * b + r && 0 <= r && r < b));
    out.push_back(implies(b > 0 && a >= 0, q >= 0));
    out.push_back(implies(b > 0 && 0 <= a && a < b, q == 0 && r == a));
  };
  prover.addAxiom(quotient_, euclid);
  prover.addAxiom(remainder_, euclid);
  inverses_.exclusiveOr = xor_;
  inverses_.quotient = quotient_;
  prover.addAxiom(xor_, [this](const Term &app, Terms &out) {
    Term a = app.arg(0), b = app.arg(1);
    out.push_back(xor_(b, a) == app);
    out.push_back(xor_(a, app) == b);
    out.push_back(implies(a >= 0 && b >= 0, app >= 0));
    out.push_back((app == 0) == (a == b));
    if (int64_t one = 0; b.is_numeral_i64(one) && one == 1)
      out.push_back(implies(a >= 0, app == z3::ite(z3::mod(a, 2) == 1, a - 1, a + 1)));
  });
  prover.addAxiom(logarithmDown_, [this](const Term &app, Terms &out) {
    Term a = app.arg(0);
    out.push_back(implies(a >= 1, app >= 0 && power_(app) <= a && a < 2 * power_(app)));
    out.push_back(implies(1 <= a && a <= kMostRanks, app <= 31));
  });
  prover.addAxiom(xor_, power_, [](const Term &x, const Term &power, Terms &out) {
    Term a = x.arg(0), b = x.arg(1);
    out.push_back(
        implies(0 <= a && a < power && 0 <= b && b < power && power.arg(0) >= 0, x < power));
  });
  addBits();
  addReversals();
  addProducts();
  addPowers();
  addMultiples();
  prover.addAxiom(power_, [](const Term &app, Terms &out) {
    Term a = app.arg(0);
    out.push_back(implies(a >= 0, app >= 1));
    out.push_back(implies(a == 0, app == 1));
  });
  prover.addAxiom(power_, power_, [](const Term &x, const Term &y, Terms &out) {
    Term a = x.arg(0), b = y.arg(0);
    out.push_back(implies(0 <= a && b == a + 1, y == 2 * x));
    out.push_back(implies(0 <= a && a < b, 2 * x <= y));
  });
  prover.addAxiom(logarithm_, [this](const Term &app, Terms &out) {
    Term a = app.arg(0);
    out.push_back(implies(a >= 1, app >= 0 && power_(app) >= a));
    out.push_back(implies(1 <= a && a <= kMostRanks, app <= 31));
    out.push_back(implies(a > 1, app >= 1 && power_(app - 1) < a));
    out.push_back(implies(a == 1, app == 0));
  });
  prover.addAxiom(segmentCount_, [](const Term &app, Terms &out) {
    out.push_back(app >= 0);
    out.push_back((app == 0) == (app.arg(0) <= 0));
  });
}

Term Axioms::logarithmDown(const Term &a) const {
  // log2(2^k) is k.
  return a.is_app() && a.decl().id() == power_.id() ? a.arg(0) : logarithmDown_(a);
}

Term Axioms::shiftedRight(const Terms &facts, const Term &a, const Term &k) const {
  if (a.is_app() && a.decl().id() == power_.id() && prover_.proves(facts, 0 <= k && k <= a.arg(0)))
    return power_(a.arg(0) - k);
  return shift_(a, k);
}

Term Axioms::product(const Term &a, const Term &b) const {
  if (isPowerOf(b) && a.is_app() && a.decl().id() == quotient_.id() && z3::eq(a.arg(1), b))
    return multiple_(a.arg(0), b.arg(0), b.arg(1));
  bool isPower = b.is_app() && b.decl().id() == power_.id();
  return isPower ? shiftedLeft(a, b.arg(0)) : a * b;
}

bool Axioms::hasMultiples(const Term &t) const {
  std::set<unsigned> visited;
  return anyApplication(t, visited,
                        [&](const Term &part) { return part.decl().id() == multiple_.id(); });
}

Term Axioms::shiftedLeft(const Term &a, const Term &k) const {
  if (int64_t one = 0; a.is_numeral_i64(one) && one == 1)
    return power_(k);
  if (a.is_app() && a.decl().id() == shift_.id() && z3::eq(a.arg(1), k))
    return aligned_(a.arg(0), k);
  return a * power_(k);
}

/// Products of two numbers, neither of which a formula spells out, grow with each factor. A query
/// with these instances is linear.
void Axioms::addProducts() {
  z3::func_decl product = (prover_.constant("a") * prover_.constant("b")).decl();
  auto isOfTwo = [](const Term &t) { return t.num_args() == 2 && !t.arg(0).is_numeral(); };
  // Terms that may be equal: that is a hypothesis then.
  auto mayBeEqual = [](const Term &a, const Term &b) {
    return z3::eq(a, b) || (a.num_args() > 0 && b.num_args() > 0 && a.decl().id() == b.decl().id());
  };
  prover_.addAxiom(product, [isOfTwo](const Term &app, Terms &out) {
    if (!isOfTwo(app))
      return;
    for (unsigned i = 0; i < 2; ++i) {
      Term a = app.arg(i), b = app.arg(1 - i);
      out.push_back(implies(a == 0, app == 0));
      out.push_back(implies(a == 1, app == b));
      out.push_back(implies(a >= 1 && b >= 0, app >= b));
      out.push_back(implies(a <= -1 && b >= 0, app <= -b));
    }
  });
  prover_.addAxiom(product, product, [=](const Term &x, const Term &y, Terms &out) {
    for (unsigned i = 0; i < 2 && isOfTwo(x) && isOfTwo(y); ++i)
      for (unsigned k = 0; k < 2; ++k) {
        Term a = x.arg(1 - i), b = y.arg(1 - k), factor = x.arg(i), same = factor == y.arg(k);
        if (!mayBeEqual(factor, y.arg(k)))
          continue;
        out.push_back(implies(same && factor >= 0 && a <= b, x <= y));
        out.push_back(implies(same && factor >= 0 && a < b, x + factor <= y));
        out.push_back(implies(same && b == a + 1, x + factor == y));
      }
  });
  // c * b is at most a exactly if c is at most the quotient a / b.
  prover_.addAxiom(product, quotient_, [=](const Term &x, const Term &quotient, Terms &out) {
    Term a = quotient.arg(0), b = quotient.arg(1);
    for (unsigned i = 0; isOfTwo(x) && i < 2; ++i)
      if (mayBeEqual(x.arg(i), b))
        out.push_back(implies(b > 0 && x.arg(i) == b, (x <= a) == (x.arg(1 - i) <= quotient)));
  });
}

Term Axioms::power(const Term &base, const Term &e) {
  int64_t two = 0;
  return base.is_numeral_i64(two) && two == 2 ? power_(e) : powerOf_(base, Term(e).simplify());
}

/// Powers of a base of 2 or more.
void Axioms::addPowers() {
  prover_.addAxiom(powerOf_, [](const Term &app, Terms &out) {
    Term base = app.arg(0), e = app.arg(1);
    out.push_back(implies(base >= 2 && e >= 0, app >= 1));
    out.push_back(implies(e == 0, app == 1));
    out.push_back(implies(e == 1, app == base));
  });
  prover_.addAxiom(powerOf_, powerOf_, [](const Term &x, const Term &y, Terms &out) {
    Term base = x.arg(0), a = x.arg(1), b = y.arg(1);
    if (!z3::eq(base, y.arg(0)))
      return;
    out.push_back(implies(base >= 2 && 0 <= a && b == a + 1, y == base * x));
    out.push_back(implies(base >= 2 && 0 <= a && a < b, base * x <= y));
  });
  prover_.addAxiom(logarithmDownTo_, [this](const Term &app, Terms &out) {
    Term a = app.arg(0), base = app.arg(1), below = powerOf_(base, app);
    out.push_back(implies(a >= 1 && base >= 2, app >= 0 && below <= a && a < base * below));
    out.push_back(implies(1 <= a && a <= kMostRanks && base >= 2, app <= 31));
  });
  prover_.addAxiom(logarithmUpTo_, [this](const Term &app, Terms &out) {
    Term a = app.arg(0), base = app.arg(1);
    out.push_back(implies(a >= 1 && base >= 2, app >= 0 && powerOf_(base, app) >= a));
    out.push_back(implies(1 <= a && a <= kMostRanks && base >= 2, app <= 31));
    out.push_back(
        implies(a > 1 && base >= 2, app >= 1 && powerOf_(base, (app - 1).simplify()) < a));
    out.push_back(implies(a == 1 && base >= 2, app == 0));
  });
}

/// The numbers whose multiples of base^e are one are a run of base^e numbers, which begins there.
void Axioms::addMultiples() {
  prover_.addAxiom(multiple_, [this](const Term &app, Terms &out) {
    Term a = app.arg(0), base = app.arg(1), e = app.arg(2), step = powerOf_(base, e);
    Term holds = a >= 0 && base >= 2 && e >= 0;
    out.push_back(implies(holds, 0 <= app && app <= a && a < app + step));
    out.push_back(implies(holds && e == 0, app == a));
    out.push_back(implies(holds && a < step, app == 0));
  });
  prover_.addAxiom(multiple_, multiple_, [this](const Term &x, const Term &y, Terms &out) {
    Term a = x.arg(0), base = x.arg(1), e = x.arg(2), b = y.arg(0);
    if (!z3::eq(base, y.arg(1)))
      return;
    Term step = powerOf_(base, e), holds = a >= 0 && b >= 0 && base >= 2 && e >= 0;
    out.push_back(implies(holds && e == y.arg(2), (x == y) == (x <= b && b < x + step)));
    // A digit tells the runs within a longer one apart.
    Term digit = digit_(a, base, e), isWithin = y <= a && a < y + powerOf_(base, y.arg(2));
    out.push_back(implies(holds && y.arg(2) == e + 1 && isWithin,
                          0 <= digit && digit < base && x == y + digit * step));
  });
  prover_.addAxiom(multiple_, powerOf_, [this](const Term &x, const Term &power, Terms &out) {
    Term a = x.arg(0), base = x.arg(1), e = x.arg(2);
    if (z3::eq(base, power.arg(0)))
      out.push_back(implies(0 <= a && a < power && base >= 2 && 0 <= e && e <= power.arg(1),
                            x + powerOf_(base, e) <= power));
  });
}

/// Shifts are linear here: the numbers that agree beyond bit k are a run of 2^k numbers, which
/// begins at the number without its lowest bits.
void Axioms::addBits() {
  prover_.addAxiom(shift_, [this](const Term &app, Terms &out) {
    Term a = app.arg(0), k = app.arg(1), before = shift_(a, (k - 1).simplify());
    out.push_back(implies(a >= 0 && k >= 1, 2 * app <= before && before <= 2 * app + 1));
    out.push_back(implies(a >= 0 && k >= 0, 0 <= app && app <= a));
    out.push_back(implies(k == 0, app == a));
  });
  prover_.addAxiom(shift_, power_, [](const Term &shift, const Term &power, Terms &out) {
    Term a = shift.arg(0), k = shift.arg(1);
    out.push_back(implies(0 <= a && k >= 0 && k == power.arg(0), (shift == 0) == (a < power)));
  });
  prover_.addAxiom(shift_, shift_, [](const Term &x, const Term &y, Terms &out) {
    Term a = x.arg(0), k = x.arg(1), b = y.arg(0), next = y.arg(1);
    out.push_back(implies(0 <= a && a <= b && k == next && k >= 0, x <= y));
    out.push_back(
        implies(a == b && a >= 0 && k >= 0 && next == k + 1, 2 * y <= x && x <= 2 * y + 1));
  });
  prover_.addAxiom(aligned_, [this](const Term &app, Terms &out) {
    Term a = app.arg(0), k = app.arg(1);
    out.push_back(implies(a >= 0 && k >= 0, 0 <= app && app <= a && a < app + power_(k)));
    out.push_back(implies(a >= 0 && k == 0, app == a));
  });
  prover_.addAxiom(aligned_, aligned_, [this](const Term &x, const Term &y, Terms &out) {
    Term a = x.arg(0), k = x.arg(1);
    out.push_back(implies(a == y.arg(0) && a >= 0 && k >= 0 && y.arg(1) == k + 1,
                          x == z3::ite(z3::mod(shift_(a, k), 2) == 1, y + power_(k), y)));
  });
  prover_.addAxiom(aligned_, shift_, [this](const Term &aligned, const Term &shift, Terms &out) {
    Term a = aligned.arg(0), k = aligned.arg(1), b = shift.arg(0);
    out.push_back(implies(a >= 0 && b >= 0 && k >= 0 && k == shift.arg(1),
                          (shift == shift_(a, k)) == (aligned <= b && b < aligned + power_(k))));
  });
  prover_.addAxiom(aligned_, power_, [this](const Term &aligned, const Term &power, Terms &out) {
    Term a = aligned.arg(0), k = aligned.arg(1);
    out.push_back(
        implies(0 <= a && a < power && 0 <= k && k <= power.arg(0), aligned + power_(k) <= power));
    out.push_back(
        implies(0 <= a && a < power && 0 <= power.arg(0) && power.arg(0) <= k, aligned == 0));
  });
  // Bit k of a number changes.
  prover_.addAxiom(xor_, power_, [this](const Term &x, const Term &power, Terms &out) {
    Term k = power.arg(0), a = x.arg(0), changed = shift_(x, k), own = shift_(a, k);
    if (!z3::eq(x.arg(1), power))
      return;
    Term isOdd = z3::mod(own, 2) == 1;
    Term holds = a >= 0 && k >= 0;
    out.push_back(implies(holds, changed == z3::ite(isOdd, own - 1, own + 1)));
    out.push_back(implies(holds, x == z3::ite(isOdd, a - power, a + power)));
    out.push_back(implies(
        holds, aligned_(x, k) == z3::ite(isOdd, aligned_(a, k) - power, aligned_(a, k) + power)));
    out.push_back(implies(holds, shift_(x, k + 1) == shift_(a, k + 1)));
  });
}

/// A bit that changes in a number changes its mirror image in the reversed one.
void Axioms::addReversals() {
  prover_.addAxiom(reversed_, [this](const Term &app, Terms &out) {
    Term a = app.arg(0), bits = app.arg(1);
    out.push_back(implies(bits >= 0, 0 <= app && app < power_(bits)));
    out.push_back(implies(0 <= a && bits >= 0 && a < power_(bits), reversed_(app, bits) == a));
    if (a.decl().id() != xor_.id() || a.arg(1).decl().id() != power_.id())
      return;
    Term changed = a.arg(0), k = a.arg(1).arg(0), mirrored = (bits - 1 - k).simplify();
    out.push_back(implies(changed >= 0 && 0 <= k && k < bits,
                          app == xor_(reversed_(changed, bits), power_(mirrored))));
  });
}

Division Axioms::division(const std::string &name) {
  Division made{prover_.function(name + "_begin", 3), prover_.function(name + "_index", 3)};
  prover_.addAxiom(made.begin, [](const Term &app, Terms &out) {
    Term length = app.arg(0), count = app.arg(1), i = app.arg(2);
    out.push_back(implies(length >= 0 && 0 <= i && i <= count, 0 <= app && app <= length));
    out.push_back(implies(length > 0 && 0 <= i && i < count, app < length));
    out.push_back(implies(i == 0 && count > 0, app == 0));
    out.push_back(implies(i == count && count > 0, app == length));
  });
  prover_.addAxiom(made.begin, made.begin, [](const Term &a, const Term &b, Terms &out) {
    Term i = a.arg(2), k = b.arg(2);
    Term length = a.arg(0), count = a.arg(1);
    Term holds = length == b.arg(0) && count == b.arg(1) && 0 <= i && k <= count && length >= 0;
    out.push_back(implies(holds && i <= k, a <= b));
    out.push_back(implies(holds && i < k && count <= length, a < b)); // no part is empty
  });
  prover_.addAxiom(made.index, [](const Term &app, Terms &out) {
    Term isElement = 0 <= app.arg(2) && app.arg(2) < app.arg(0) && app.arg(1) > 0;
    out.push_back(implies(isElement, 0 <= app && app < app.arg(1)));
  });
  // Part i begins at or before element e exactly if e lies in part i or a later one.
  prover_.addAxiom(made.begin, made.index, [](const Term &begin, const Term &index, Terms &out) {
    Term i = begin.arg(2), e = index.arg(2), count = begin.arg(1), length = begin.arg(0);
    Term holds = length == index.arg(0) && count == index.arg(1) && 0 <= i && i < count && 0 <= e &&
                 e < length;
    out.push_back(implies(holds, (begin <= e) == (i <= index)));
    out.push_back(implies(holds && count <= length && begin == e, i == index)); // no part is empty
  });
  inverses_.divisions.push_back(made);
  return made;
}

const Tree *Axioms::tree(const std::string &name, const Term &root) {
  for (const Tree &t : trees_)
    if (t.name == name)
      return &t;
  Tree &t = trees_.emplace_back(
      Tree{name, root, prover_.function(name + ".parent", 1), prover_.function(name + ".depth", 1),
           prover_.function(name + ".children", 1), prover_.function(name + ".child", 2),
           prover_.function(name + ".place", 2), prover_.function(name + ".isBelow", 2, true)});
  inverses_.trees.push_back(&t);
  const Ranks &ranks = ranks_;
  Prover &prover = prover_;
  prover_.addAxiom(t.parent, [&t, &ranks, &prover](const Term &app, Terms &out) {
    Term r = app.arg(0), place = t.place(app, r);
    out.push_back(implies(r == t.root, app == prover.number(kNone)));
    out.push_back(implies(ranks.isRank(r) && r != t.root,
                          ranks.isRank(app) && t.depth(app) < t.depth(r) &&
                              t.child(app, place) == r && 0 <= place && place < t.children(app)));
  });
  prover_.addAxiom(t.depth, [&t](const Term &app, Terms &out) {
    out.push_back(app >= 0);
    out.push_back(implies(app.arg(0) == t.root, app == 0));
  });
  prover_.addAxiom(t.children, [&t, &ranks](const Term &app, Terms &out) {
    out.push_back(app >= 0);
    out.push_back(implies(app.arg(0) == t.root && ranks.ranks > 1, app >= 1));
  });
  prover_.addAxiom(t.child, [&t, &ranks](const Term &app, Terms &out) {
    Term r = app.arg(0), i = app.arg(1);
    out.push_back(implies(ranks.isRank(r) && 0 <= i && i < t.children(r),
                          ranks.isRank(app) && app != t.root && t.parent(app) == r &&
                              t.place(r, app) == i && t.depth(app) > t.depth(r)));
  });
  // A rank other than r lies below r exactly if it is, or lies below, one child of r: child
  // number place(r, s).
  prover_.addAxiom(t.isBelow, [&t, &ranks](const Term &app, Terms &out) {
    Term r = app.arg(0), s = app.arg(1), way = t.place(r, s);
    out.push_back(implies(r == s, app));
    out.push_back(implies(r == t.root && ranks.isRank(s), app));
    out.push_back(implies(app && ranks.isRank(r), ranks.isRank(s)));
    out.push_back(implies(app && ranks.isRank(r) && r != s,
                          0 <= way && way < t.children(r) && t.isBelow(t.child(r, way), s)));
  });
  prover_.addAxiom(t.place, [&t, &ranks](const Term &app, Terms &out) {
    Term r = app.arg(0), s = app.arg(1);
    out.push_back(implies(r == t.root && ranks.isRank(s), t.isBelow(r, s)));
    out.push_back(implies(t.isBelow(r, s) && ranks.isRank(r) && r != s,
                          0 <= app && app < t.children(r) && t.isBelow(t.child(r, app), s)));
  });
  prover_.addAxiom(t.isBelow, t.child,
                   [&t, &ranks](const Term &below, const Term &child, Terms &out) {
                     Term r = child.arg(0), i = child.arg(1), s = below.arg(1);
                     out.push_back(implies(below && below.arg(0) == child && ranks.isRank(r) &&
                                               0 <= i && i < t.children(r),
                                           t.isBelow(r, s) && r != s && t.place(r, s) == i));
                   });
  return &t;
}

const Graph *Axioms::graph(const std::string &name) {
  for (const Graph &g : graphs_)
    if (g.name == name)
      return &g;
  auto f = [&](const char *what, unsigned arity) { return prover_.function(name + what, arity); };
  Graph &g = graphs_.emplace_back(Graph{name,
                                        {f(".outdegree", 1), f(".indegree", 1)},
                                        {f(".out.peer", 2), f(".in.peer", 2)},
                                        {f(".out.peerslot", 2), f(".in.peerslot", 2)}});
  inverses_.graphs.push_back(&g);
  for (unsigned d = 0; d < 2; ++d) {
    prover_.addAxiom(g.degree[d], [](const Term &app, Terms &out) { out.push_back(app >= 0); });
    // The other end of an edge has it at that slot, and this rank as its peer.
    auto otherEnd = [this, &g, d](const Term &app, Terms &out) {
      Term r = app.arg(0), i = app.arg(1), peer = g.peer[d](r, i), slot = g.peerSlot[d](r, i);
      Term isEdge =
          ranks_.isRank(r) && 0 <= i && i < g.degree[d](r) && peer != prover_.number(kNone);
      out.push_back(implies(
          isEdge, ranks_.isRank(peer) && 0 <= slot && slot < g.degree[1 - d](peer) &&
                      g.peer[1 - d](peer, slot) == r && g.peerSlot[1 - d](peer, slot) == i));
    };
    prover_.addAxiom(g.peer[d], otherEnd);
    prover_.addAxiom(g.peerSlot[d], otherEnd);
  }
  return &g;
}

Term Axioms::quotient(const Terms &facts, const Term &a, const Term &b) {
  if (b.is_numeral())
    return a / b; // of z3: Euclidean, too
  if (b.is_app() && b.decl().id() == power_.id())
    return shift_(a, b.arg(0));
  if (std::optional<Term> part = partOfProduct(facts, a, b))
    return *part;
  if (isPowerOf(b))
    return quotient_(a, b); // a multiple, if that is multiplied again
  if (prover_.proves(facts, 0 <= a && a < b))
    return prover_.number(0);
  return quotient_(a, b);
}

/// The quotient a / b, if a product is divided.
std::optional<Term> Axioms::partOfProduct(const Terms &facts, const Term &a, const Term &b) {
  auto isProduct = [](const Term &t) {
    return t.is_app() && t.decl().decl_kind() == Z3_OP_MUL && t.num_args() == 2 &&
           !t.arg(0).is_numeral() && !t.arg(1).is_numeral();
  };
  int64_t one = 0;
  if (isProduct(a)) {
    bool isFirst = prover_.proves(facts, a.arg(0) <= b);
    return parts_.begin(a.arg(isFirst ? 1 : 0), b, a.arg(isFirst ? 0 : 1).simplify());
  }
  if (a.is_app() && a.decl().decl_kind() == Z3_OP_SUB && a.num_args() == 2 &&
      a.arg(1).is_numeral_i64(one) && one == 1 && isProduct(a.arg(0))) {
    Term count = a.arg(0).arg(1), e = a.arg(0).arg(0) - 1;
    return parts_.index(b, count, e.simplify());
  }
  return std::nullopt;
}

Term Axioms::remainder(const Terms &facts, const Term &a, const Term &b) {
  if (b.is_numeral())
    return z3::mod(a, b);
  if (isPowerOf(b))
    return a - multiple_(a, b.arg(0), b.arg(1));
  if (prover_.proves(facts, 0 <= a && a < b))
    return a;
  bool isLow = prover_.proves(facts, a < b), isHigh = !isLow && prover_.proves(facts, 0 <= a);
  if (isLow && prover_.proves(facts, -b <= a))
    return z3::ite(a < 0, a + b, a);
  if (isHigh && prover_.proves(facts, a < 2 * b))
    return z3::ite(a >= b, a - b, a);
  if (!isLow && !isHigh && prover_.proves(facts, -b <= a && a < 2 * b))
    return z3::ite(a < 0, a + b, z3::ite(a >= b, a - b, a));
  if (!isHigh && prover_.proves(facts, -2 * b <= a && a < 2 * b))
    return z3::ite(a < -b, a + 2 * b, z3::ite(a < 0, a + b, z3::ite(a >= b, a - b, a)));
  return remainder_(a, b);
}

} // namespace colldsl::parameterized
