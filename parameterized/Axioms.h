/// The functions that formulas use beside arithmetic, with their axioms.
#pragma once

#include "parameterized/TermValues.h"

#include <deque>

namespace colldsl::parameterized {

class Axioms {
public:
  Axioms(Prover &prover, const Ranks &ranks);

  /// A tree about which nothing else is known; the same name gives the same tree.
  const Tree *tree(const std::string &name, const Term &root);
  /// Euclidean quotient and remainder for any divisor that is not zero. The remainder is spelled
  /// out where `facts` bound the dividend.
  Term quotient(const Terms &facts, const Term &a, const Term &b);
  Term remainder(const Terms &facts, const Term &a, const Term &b);

  /// Exclusive or, and the largest power of two up to a number.
  Term exclusiveOr(const Term &a, const Term &b) { return xor_(a, b); }
  Term powerOfTwoUpTo(const Term &a) { return power_(logarithmDown_(a)); }
  /// 2^a, and the logarithm to base 2, rounded up.
  Term powerOfTwo(const Term &a) { return power_(a); }
  Term logarithm(const Term &a) { return logarithm_(a); }
  /// The logarithm rounded down.
  Term logarithmDown(const Term &a) const;
  /// a shifted right by k bits, and that shifted left again: a without its lowest k bits.
  Term shiftedRight(const Terms &facts, const Term &a, const Term &k);
  Term shiftedLeft(const Term &a, const Term &k) const;
  Term product(const Term &a, const Term &b) const;
  /// A graph about which nothing else is known.
  const Graph *graph(const std::string &name);

  const Division &parts() const { return parts_; }
  const Division &segments() const { return segments_; }
  Term segmentCount(const Term &length, const Term &size) { return segmentCount_(length, size); }

  const Inverses &inverses() const { return inverses_; }

private:
  Division division(const std::string &name);
  void addBits();

  Prover &prover_;
  const Ranks &ranks_;
  std::deque<Tree> trees_;
  std::deque<Graph> graphs_;
  z3::func_decl quotient_, remainder_, segmentCount_, xor_, power_, logarithm_, logarithmDown_,
      shift_, aligned_;
  Inverses inverses_; ///< of what the members after it make
  Division parts_, segments_;
};

} // namespace colldsl::parameterized
