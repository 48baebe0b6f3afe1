/// The functions that formulas use beside arithmetic, with their axioms.
#pragma once

#include "parameterized/TermValues.h"

#include <deque>
#include <functional>
#include <map>

namespace colldsl::parameterized {

class Axioms {
public:
  Axioms(Prover &prover, const Ranks &ranks);

  /// A tree about which nothing else is known; the same name gives the same tree.
  const Tree *tree(const std::string &name, const Term &root);
  /// Euclidean quotient and remainder for any divisor that is not zero. The remainder is spelled
  /// out where `facts` bound the dividend. Some quotients of products are parts: (i * n) / k is
  /// where part i of k begins in n elements, ((e + 1) * k - 1) / n the part of element e.
  Term quotient(const Terms &facts, const Term &a, const Term &b);
  Term remainder(const Terms &facts, const Term &a, const Term &b);

  /// Exclusive or, and the largest power of two up to a number.
  Term exclusiveOr(const Term &a, const Term &b) { return xor_(a, b); }
  Term powerOfTwoUpTo(const Term &a) const { return power_(logarithmDown_(a)); }
  /// 2^a, and the logarithm to base 2, rounded up.
  Term powerOfTwo(const Term &a) { return power_(a); }
  Term logarithm(const Term &a) { return logarithm_(a); }
  /// The logarithm rounded down.
  Term logarithmDown(const Term &a) const;
  bool isPowerOfTwo(const Term &t) const { return t.decl().id() == power_.id(); }
  bool isPower(const Term &t) const { return isPowerOfTwo(t) || isPowerOf(t); }
  /// base^e, and the logarithms to a base, rounded down and up.
  Term power(const Term &base, const Term &e);
  Term logarithmDown(const Term &a, const Term &base) { return logarithmDownTo_(a, base); }
  Term logarithmUp(const Term &a, const Term &base) { return logarithmUpTo_(a, base); }
  /// a shifted right by k bits, and that shifted left again: a without its lowest k bits.
  Term shiftedRight(const Terms &facts, const Term &a, const Term &k) const;
  Term shiftedLeft(const Term &a, const Term &k) const;
  /// a / b * b, for a power b, is the multiple of b that a lies at or beyond.
  Term product(const Term &a, const Term &b) const;
  /// True if the term has multiples of powers, which product() makes, or remainders by powers.
  bool hasMultiples(const Term &t) const;
  /// The lowest bits of a, reversed.
  Term reversed(const Term &a, const Term &bits) { return reversed_(a, bits); }
  /// A graph about which nothing else is known.
  const Graph *graph(const std::string &name);

  /// The leader of the group of a level of the machine that has rank `r`, where no other rank has
  /// to lead: a rank of that group. So it tells the groups of a level apart.
  Term leader(Level level, const Term &r);
  /// The rank that follows the leader `first` after i - 1 others: another one of its group.
  Term follower(Level level, const Term &first, const Term &i);
  /// The ranks of the group of a level that has rank `r`.
  GroupValue groupOf(Level level, const Term &r);
  /// The ranks `member`, a constant, for which the condition holds. `keys` are constants of it.
  GroupValue group(const Term &condition, const Term &member, const Terms &keys);

  const Division &parts() const { return parts_; }
  const Division &segments() const { return segments_; }
  Term segmentCount(const Term &length, const Term &size) { return segmentCount_(length, size); }

  const Inverses &inverses() const { return inverses_; }

private:
  /// A level of the machine, as functions of ranks.
  struct MachineLevel {
    z3::func_decl leader;
    z3::func_decl follower, place; ///< of a leader and a number, or the rank with that number
    const RankGroups *groups;
  };
  const MachineLevel &level(Level level);
  void addGroupAxioms(const RankGroups &groups);
  /// Members and their numbers by formulas.
  struct Numbering {
    Term size;
    std::function<Term(const Term &)> numberOf, member; ///< of a member, of a number
  };
  std::vector<Numbering> possibleNumberings() const;
  bool isNumbering(const RankGroups &groups, const Numbering &numbering);
  void addNumbering(const RankGroups &groups);
  Division division(const std::string &name);
  void addBits();
  void addReversals();
  void addProducts();
  void addPowers();
  void addMultiples();
  bool isPowerOf(const Term &t) const { return t.is_app() && t.decl().id() == powerOf_.id(); }
  std::optional<Term> partOfProduct(const Terms &facts, const Term &a, const Term &b);

  Prover &prover_;
  const Ranks &ranks_;
  std::deque<Tree> trees_;
  std::deque<Graph> graphs_;
  std::deque<RankGroups> groups_;
  std::map<Level, MachineLevel> levels_;
  z3::func_decl quotient_, remainder_, segmentCount_, xor_, power_, logarithm_, logarithmDown_,
      shift_, aligned_, reversed_, powerOf_, logarithmDownTo_, logarithmUpTo_, multiple_, digit_;
  Inverses inverses_; ///< of what the members after it make
  Division parts_, segments_;
};

} // namespace colldsl::parameterized
