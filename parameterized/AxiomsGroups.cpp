// Groups of ranks. The groups of a level of the machine are any partition of the ranks, the leader
// of each any of its ranks.
#include "parameterized/Axioms.h"

namespace colldsl::parameterized {
namespace {

Terms keysOf(const Term &application, size_t count) {
  Terms keys;
  for (unsigned i = 0; i < count; ++i)
    keys.push_back(application.arg(i));
  return keys;
}

/// A formula: both are applications to the same keys.
Term haveSameKeys(Prover &prover, const Term &a, const Term &b, size_t count) {
  Terms same;
  for (unsigned i = 0; i < count; ++i)
    if (!z3::eq(a.arg(i), b.arg(i)))
      same.push_back(a.arg(i) == b.arg(i));
  return conjunction(prover, same);
}

} // namespace

GroupValue Axioms::group(const Term &condition, const Term &member, const Terms &keys) {
  // The condition alone tells groups apart, so its constants get names of their own.
  Terms names = keys, those;
  for (size_t i = 0; i < keys.size(); ++i)
    those.push_back(prover_.constant("group.key" + std::to_string(i)));
  names.push_back(member);
  those.push_back(prover_.constant("group.member"));
  Term general = substitute(condition, names, those).simplify();
  for (const RankGroups &g : groups_)
    if (z3::eq(g.condition, general) && g.keys.size() == keys.size())
      return {&g, keys};
  const std::string name = "group" + std::to_string(groups_.size());
  auto arity = static_cast<unsigned>(keys.size());
  Term anyMember = those.back();
  those.pop_back();
  RankGroups &made = groups_.emplace_back(
      RankGroups{those, anyMember, general, prover_.function(name + ".size", arity),
                 prover_.function(name + ".member", arity + 1),
                 prover_.function(name + ".number", arity + 1)});
  addGroupAxioms(made);
  if (keys.empty())
    addNumbering(made);
  return {&made, keys};
}

/// Ranks beyond a power of two fold in pairs, the first ones first, and one of each pair goes on.
std::vector<Axioms::Numbering> Axioms::possibleNumberings() const {
  Term size = powerOfTwoUpTo(ranks_.ranks), rest = ranks_.ranks - size;
  auto numberOf = [rest](const Term &r) { return z3::ite(r < 2 * rest, r / 2, r - rest); };
  std::vector<Numbering> all;
  for (int side : {0, 1})
    all.push_back({size, numberOf, [rest, side](const Term &i) {
                     return z3::ite(i < rest, 2 * i + side, i + rest);
                   }});
  return all;
}

/// True if members and numbers are inverse by these formulas, and ascend.
bool Axioms::isNumbering(const RankGroups &g, const Numbering &numbering) {
  GroupValue group{&g, {}};
  Term r = prover_.fresh("member"), s = prover_.fresh("member"), i = prover_.fresh("number");
  Term number = numbering.numberOf(r), member = numbering.member(i);
  auto isMember = [&](const Term &t) { return ranks_.isRank(t) && group.admits(t); };
  Prover::Attempt attempt(prover_);
  return attempt.succeed(
      prover_.proves({isMember(r)},
                     0 <= number && number < numbering.size && numbering.member(number) == r) &&
      prover_.proves({0 <= i && i < numbering.size},
                     isMember(member) && numbering.numberOf(member) == i) &&
      prover_.proves({isMember(r), isMember(s), r < s}, number < numbering.numberOf(s)));
}

/// The size of a group has a formula if its members have a numbering by formulas.
void Axioms::addNumbering(const RankGroups &g) {
  for (const Numbering &n : possibleNumberings()) {
    if (!isNumbering(g, n))
      continue;
    prover_.addAxiom(g.size, [n](const Term &app, Terms &out) { out.push_back(app == n.size); });
    prover_.addAxiom(g.at, [n](const Term &app, Terms &out) {
      Term i = app.arg(0);
      out.push_back(implies(0 <= i && i < n.size, app == n.member(i)));
    });
    prover_.addAxiom(g.number, [this, &g, n](const Term &app, Terms &out) {
      Term r = app.arg(0);
      out.push_back(
          implies(ranks_.isRank(r) && GroupValue{&g, {}}.admits(r), app == n.numberOf(r)));
    });
    return;
  }
}

/// Members and their numbers are inverse, and both ascend.
void Axioms::addGroupAxioms(const RankGroups &g) {
  const size_t count = g.keys.size();
  prover_.addAxiom(g.size, [this, &g, count](const Term &app, Terms &out) {
    GroupValue group{&g, keysOf(app, count)};
    Term first = group.member(prover_.number(0));
    out.push_back(0 <= app && app <= ranks_.ranks);
    out.push_back(implies(app > 0, ranks_.isRank(first) && group.admits(first)));
  });
  prover_.addAxiom(g.at, [this, &g, count](const Term &app, Terms &out) {
    GroupValue group{&g, keysOf(app, count)};
    Term i = app.arg(app.num_args() - 1);
    out.push_back(implies(0 <= i && i < group.size(), ranks_.isRank(app) && group.admits(app) &&
                                                          group.numberOf(app) == i && i <= app));
  });
  prover_.addAxiom(g.number, [this, &g, count](const Term &app, Terms &out) {
    GroupValue group{&g, keysOf(app, count)};
    Term r = app.arg(app.num_args() - 1);
    out.push_back(implies(ranks_.isRank(r) && group.admits(r),
                          0 <= app && app < group.size() && group.member(app) == r && app <= r &&
                              group.size() - app <= ranks_.ranks - r));
  });
  prover_.addAxiom(g.number, g.number, [this, &g, count](const Term &a, const Term &b, Terms &out) {
    GroupValue group{&g, keysOf(a, count)};
    Term r = a.arg(a.num_args() - 1), s = b.arg(b.num_args() - 1);
    out.push_back(implies(haveSameKeys(prover_, a, b, count) && ranks_.isRank(r) &&
                              ranks_.isRank(s) && group.admits(r) && group.admits(s) && r < s,
                          a < b));
  });
  prover_.addAxiom(g.at, g.at, [this, &g, count](const Term &a, const Term &b, Terms &out) {
    GroupValue group{&g, keysOf(a, count)};
    Term i = a.arg(a.num_args() - 1), k = b.arg(b.num_args() - 1);
    out.push_back(
        implies(haveSameKeys(prover_, a, b, count) && 0 <= i && i < k && k < group.size(), a < b));
  });
}

const Axioms::MachineLevel &Axioms::level(Level which) {
  if (auto known = levels_.find(which); known != levels_.end())
    return known->second;
  const std::string name = "level" + std::to_string(static_cast<unsigned>(which));
  z3::func_decl leader = prover_.function(name + ".leader", 1);
  Term member = prover_.constant("any.rank"), key = prover_.constant("any.leader");
  const RankGroups *groups = group(leader(member) == key, member, {key}).groups;
  const MachineLevel &made =
      levels_
          .emplace(which, MachineLevel{leader, prover_.function(name + ".follower", 2),
                                       prover_.function(name + ".place", 2), groups})
          .first->second;
  auto isLeader = [leader](const Term &t) { return t.is_app() && t.decl().id() == leader.id(); };
  prover_.addAxiom(leader, [this, leader, isLeader](const Term &app, Terms &out) {
    Term isRank = ranks_.isRank(app.arg(0));
    if (!isLeader(app.arg(0))) // of which this is known
      out.push_back(implies(isRank, ranks_.isRank(app) && leader(app) == app));
  });
  // The rank that tells a group apart is a member, and the only one of a group of one.
  prover_.addAxiom(groups->size, leader, [this](const Term &size, const Term &app, Terms &out) {
    Term first = size.arg(0), r = app.arg(0);
    out.push_back(implies(ranks_.isRank(r) && app == first, size >= 1));
    out.push_back(implies(ranks_.isRank(r) && app == first && size == 1, r == first));
  });
  auto sizeAt = [leader, groups](const Term &first) {
    return GroupValue{groups, {leader(first)}}.size();
  };
  prover_.addAxiom(made.follower, [this, leader, &made, sizeAt](const Term &app, Terms &out) {
    Term first = app.arg(0), i = app.arg(1);
    Term holds = ranks_.isRank(first) && 0 <= i && i < sizeAt(first);
    out.push_back(implies(holds, ranks_.isRank(app) && leader(app) == leader(first) &&
                                     made.place(first, app) == i));
    out.push_back(implies(holds, (app == first) == (i == 0)));
  });
  prover_.addAxiom(made.place, [this, leader, &made, sizeAt](const Term &app, Terms &out) {
    Term first = app.arg(0), r = app.arg(1);
    out.push_back(implies(ranks_.isRank(first) && ranks_.isRank(r) && leader(first) == leader(r),
                          0 <= app && app < sizeAt(first) && made.follower(first, app) == r &&
                              (app == 0) == (first == r)));
  });
  return made;
}

Term Axioms::leader(Level which, const Term &r) { return level(which).leader(r); }

Term Axioms::follower(Level which, const Term &first, const Term &i) {
  return level(which).follower(first, i);
}

GroupValue Axioms::groupOf(Level which, const Term &r) {
  const MachineLevel &l = level(which);
  return {l.groups, {l.leader(r)}};
}

} // namespace colldsl::parameterized
