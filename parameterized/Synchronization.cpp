#include "parameterized/Synchronization.h"

#include <algorithm>

namespace colldsl::parameterized {
namespace {

/// The choices for the indices of some loops.
using Choices = std::vector<Terms>;

class Hearing {
public:
  Hearing(const Body &body, const Messages &messages, Prover &prover, const Axioms &axioms,
          const Ranks &ranks)
      : body_(body), messages_(messages), prover_(prover), axioms_(axioms), ranks_(ranks),
        source_(body.source) {}

  /// True if each rank has heard of all others in the end; of those for which the condition holds.
  bool showsAll();
  bool shows(const Term &condition);

private:
  void claim(std::vector<Terms> claims);
  bool endsWith(const Term &condition);
  Terms candidates(const Site &site) const;
  Term own(size_t site) const;
  Term brought(size_t site) const;
  Term heard(size_t site) const;
  Term before(const Site &site) const;
  Term awaitedBy(const Site &site, const StatedOrder &order, size_t awaited) const;
  Term callBrings(const Site &call) const;
  Terms choicesOf(const Loop &loop, const Terms &indices, const Terms &values) const;
  Term somewhere(size_t site) const;
  bool hasLabel(const Site &site, uint32_t name) const;

  const Body &body_;
  const Messages &messages_;
  Prover &prover_;
  const Axioms &axioms_;
  const Ranks &ranks_;
  const Term source_;         ///< the rank that is heard of, or not
  std::vector<Terms> claims_; ///< by site: conditions, any of which means that it has been
};

void add(Terms &list, const Term &t) {
  if (std::none_of(list.begin(), list.end(), [&](const Term &u) { return z3::eq(t, u); }))
    list.push_back(t);
}

/// All ways to choose one of each.
Choices combinations(const Choices &choices) {
  constexpr size_t kMost = 128;
  Choices all{{}};
  for (const Terms &options : choices) {
    Choices longer;
    for (const Terms &begun : all)
      for (const Term &o : options)
        if (longer.size() < kMost) {
          longer.push_back(begun);
          longer.back().push_back(o);
        }
    all = std::move(longer);
  }
  return all;
}

/// Conditions by the forms that are known of schedules, in one order for all sites. A form that a
/// site does not have is false.
Terms Hearing::candidates(const Site &site) const {
  Term no = prover_.truth(false);
  Terms all{source_ <= ranks_.rank, source_ >= ranks_.rank,
            site.loops.empty() ? no : site.loops.front().index > site.loops.front().first};
  // The numbers of ranks that the steps of peers have: the ranks so far behind, or the block of so
  // many ranks in which both are.
  Term behind =
      z3::ite(ranks_.rank >= source_, ranks_.rank - source_, ranks_.rank - source_ + ranks_.ranks);
  Term pairs = axioms_.powerOfTwoUpTo(ranks_.ranks), isNear = no, isInBlock = no;
  auto block = [&](const Term &r, const Term &bits) {
    return axioms_.shiftedRight({}, z3::ite(r >= pairs, r - pairs, r), bits);
  };
  std::set<unsigned> visited;
  anyApplication(site.peer, visited, [&](const Term &t) {
    if (axioms_.isPowerOfTwo(t))
      isInBlock = block(source_, t.arg(0)) == block(ranks_.rank, t.arg(0));
    if (axioms_.isPower(t))
      isNear = behind < t;
    return axioms_.isPower(t);
  });
  all.push_back(isNear);
  all.push_back(isInBlock);
  return all;
}

bool Hearing::hasLabel(const Site &site, uint32_t name) const {
  return site.label != kNoSlot && body_.program().labels[site.label].name == name;
}

/// A site claims these ranks, and its own.
Term Hearing::own(size_t site) const {
  Terms any = claims_[site];
  any.push_back(source_ == ranks_.rank);
  return disjunction(prover_, any);
}

Term Hearing::heard(size_t i) const { return own(i) || brought(i); }

/// The signal or the call of a site brings news of these ranks. A message with data may be empty,
/// and then it need not travel.
Term Hearing::brought(size_t i) const {
  const Site &site = body_.sites[i];
  Terms any;
  for (const Link &link : messages_.links())
    if (link.recv == i && site.kind == SiteKind::Wait)
      any.push_back(link.recvHolds && messages_.atReceiver(link, own(link.send)));
  if (site.kind == SiteKind::Call)
    any.push_back(callBrings(site));
  return disjunction(prover_, any);
}

/// A call hears of the ranks of which its callee hears, and of those of which these had heard.
Term Hearing::callBrings(const Site &call) const {
  auto isMember = [&](const Term &r) {
    return call.group ? call.group->admits(r) : ranks_.isRank(r);
  };
  auto heardOf = [&](const Term &r) {
    return isMember(r) && substitute(before(call), {ranks_.rank}, {r});
  };
  Terms any;
  for (Heard h : call.heard)
    if (h == Heard::All) {
      any.push_back(isMember(source_));
      // Members have heard of others: those on which the members of a group agree stand for them.
      for (const Term &holder : body_.holders())
        any.push_back(heardOf(substitute(holder, {ranks_.rank}, {source_})));
    } else if (h == Heard::Below) {
      any.push_back(ranks_.rank == *call.root && isMember(source_));
      if (call.tree && !call.group)
        any.push_back(call.tree->isBelow(ranks_.rank, source_));
    } else {
      any.push_back(heardOf(*call.root));
    }
  return disjunction(prover_, any);
}

/// The ranks heard of when the operations that this one requires have ended, and its own.
Term Hearing::before(const Site &site) const {
  Terms any{source_ == ranks_.rank};
  for (const StatedOrder &order : body_.orders)
    for (size_t i = 0; i < body_.sites.size() && hasLabel(site, order.waitingName); ++i)
      if (hasLabel(body_.sites[i], order.awaitedName))
        any.push_back(awaitedBy(site, order, i));
  return disjunction(prover_, any);
}

/// Values for the index of a loop by which these expressions have the values; else the first and
/// the last index.
Terms Hearing::choicesOf(const Loop &loop, const Terms &indices, const Terms &values) const {
  Terms all;
  for (size_t k = 0; k < indices.size(); ++k)
    for (const Term &t : axioms_.inverses().solve(prover_, indices[k], loop.index, values[k]))
      add(all, t.simplify());
  if (all.empty()) {
    add(all, loop.first);
    add(all, (loop.last - 1).simplify());
  }
  return all;
}

/// A formula: one of the operations of that site for which this one waits has heard of `source`.
Term Hearing::awaitedBy(const Site &site, const StatedOrder &order, size_t i) const {
  // The statement that orders and the operation that is awaited have constants of their own.
  Site statement = body_.sites[i], awaited = messages_.renamed(body_.sites[i], "'");
  statement.loops = order.loops;
  statement.condition = order.condition;
  statement.labelIndices = order.waitingIndices;
  statement = messages_.renamed(statement, "\"");
  Terms names, primed = statement.indices();
  for (const Loop &l : order.loops)
    names.push_back(l.index);
  Terms awaitedIndices;
  for (const Term &t : order.awaitedIndices)
    awaitedIndices.push_back(substitute(t, names, primed));

  // The awaited label tells the indices, or the peer does: of which rank it tells.
  Terms ofAwaited = awaited.labelIndices, valuesOfAwaited = awaitedIndices;
  ofAwaited.push_back(awaited.peer);
  valuesOfAwaited.push_back(source_);
  Choices choices;
  for (const Loop &l : statement.loops) {
    Terms solved = choicesOf(l, statement.labelIndices, site.labelIndices);
    bool isTold = std::any_of(statement.labelIndices.begin(), statement.labelIndices.end(),
                              [&](const Term &t) { return contains(t, l.index); });
    if (!isTold)
      for (size_t k = 0; k < awaitedIndices.size(); ++k)
        for (const Term &t :
             axioms_.inverses().solve(prover_, awaitedIndices[k], l.index, awaited.labelIndices[k]))
          add(solved, t);
    choices.push_back(std::move(solved));
  }
  for (const Loop &l : awaited.loops)
    choices.push_back(choicesOf(l, ofAwaited, valuesOfAwaited));

  Terms holds = awaited.condition;
  holds.insert(holds.end(), statement.condition.begin(), statement.condition.end());
  for (size_t k = 0; k < site.labelIndices.size(); ++k)
    holds.push_back(statement.labelIndices[k] == site.labelIndices[k]);
  for (size_t k = 0; k < awaitedIndices.size(); ++k)
    holds.push_back(awaitedIndices[k] == awaited.labelIndices[k]);
  holds.push_back(substitute(heard(i), body_.sites[i].indices(), awaited.indices()));
  Term formula = conjunction(prover_, holds);
  Terms indices = statement.indices(), more = awaited.indices();
  indices.insert(indices.end(), more.begin(), more.end());
  Terms any;
  for (const Terms &values : combinations(choices)) {
    // A value may contain other indices, which have theirs.
    Term instance = substitute(formula, indices, values);
    for (size_t round = 1; round < indices.size(); ++round)
      instance = substitute(instance, indices, values);
    add(any, instance);
  }
  return disjunction(prover_, any);
}

/// Claims these, by site, and drops claims that do not follow until all do.
void Hearing::claim(std::vector<Terms> claims) {
  claims_ = std::move(claims);
  for (bool changed = true; std::exchange(changed, false);) {
    Prover::Attempt attempt(prover_);
    for (size_t i = 0; i < body_.sites.size(); ++i) {
      Terms facts = body_.sites[i].condition;
      facts.push_back(ranks_.isRank(source_));
      for (size_t k = claims_[i].size(); k-- > 0;) {
        facts.push_back(claims_[i][k]);
        bool holds =
            prover_.proves(facts, before(body_.sites[i]) || brought(i),
                           {body_.sites[i].loc, "this may not have heard of a rank of which it is "
                                                "said to have heard"});
        facts.pop_back();
        if (!holds) {
          claims_[i].erase(claims_[i].begin() + static_cast<ptrdiff_t>(k));
          changed = true;
        }
      }
    }
    attempt.succeed(!changed);
  }
}

bool Hearing::showsAll() {
  std::vector<Terms> known;
  for (const Site &site : body_.sites)
    known.push_back(candidates(site));
  size_t numForms = known.empty() ? 0 : known[0].size();
  auto showsBy = [&](const std::set<size_t> &forms) {
    std::vector<Terms> claims(known.size());
    for (size_t i = 0; i < known.size(); ++i)
      for (size_t f : forms)
        if (!known[i][f].is_false())
          claims[i].push_back(known[i][f]);
    Prover::Attempt attempt(prover_);
    claim(std::move(claims));
    return attempt.succeed(endsWith(prover_.truth(true)));
  };
  if (showsBy({}))
    return true;
  for (size_t f = 0; f < numForms; ++f)
    if (showsBy({f}))
      return true;
  for (size_t f = 0; f < numForms; ++f)
    for (size_t g = 0; g < f; ++g)
      if (showsBy({f, g}))
        return true;
  return false;
}

/// All operations claim what is to be shown of the rank.
bool Hearing::shows(const Term &condition) {
  Prover::Attempt attempt(prover_);
  claim(std::vector<Terms>(body_.sites.size(), {condition}));
  return attempt.succeed(endsWith(condition));
}

/// A formula: one of the site's operations at this rank has heard of `source`.
Term Hearing::somewhere(size_t i) const {
  const Site &site = body_.sites[i];
  Terms holds = site.condition;
  holds.push_back(heard(i));
  Term formula = conjunction(prover_, holds);
  Choices choices;
  for (const Loop &l : site.loops) {
    choices.push_back(choicesOf(l, {site.peer}, {source_}));
    add(choices.back(), (l.last - 1).simplify());
  }
  Terms any;
  for (const Terms &values : combinations(choices)) {
    Term instance = formula;
    for (size_t round = 0; round <= site.loops.size(); ++round)
      instance = substitute(instance, site.indices(), values);
    add(any, instance);
  }
  return disjunction(prover_, any);
}

bool Hearing::endsWith(const Term &condition) {
  Terms any{source_ == ranks_.rank};
  for (size_t i = 0; i < body_.sites.size(); ++i)
    any.push_back(somewhere(i));
  return prover_.proves({ranks_.isRank(ranks_.rank), ranks_.isRank(source_), condition},
                        disjunction(prover_, any),
                        {body_.program().decl(body_.collective()).loc,
                         "a rank may finish that has not heard of another one"});
}

} // namespace

bool synchronizes(const Body &body, const Messages &messages, Prover &prover, const Axioms &axioms,
                  const Ranks &ranks) {
  return Hearing(body, messages, prover, axioms, ranks).showsAll();
}

std::set<Heard> heardAlong(const Tree &tree, const Body &body, const Messages &messages,
                           Prover &prover, const Axioms &axioms, const Ranks &ranks) {
  Hearing hearing(body, messages, prover, axioms, ranks);
  std::set<Heard> all;
  if (hearing.shows(tree.isBelow(ranks.rank, body.source)))
    all.insert(Heard::Below);
  if (hearing.shows(body.source == tree.root))
    all.insert(Heard::Root);
  return all;
}

} // namespace colldsl::parameterized
