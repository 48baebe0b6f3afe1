/// The queries on which a proof rests.
#pragma once

#include "ir/Ids.h"

#include <string>
#include <vector>
#include <z3++.h>

namespace colldsl::parameterized {

using Term = z3::expr;
using Terms = std::vector<Term>;

/// Something that may be wrong with a text, which a query refutes: where, and in the words of the
/// error that reports it.
struct Mistake {
  SourceLoc loc;
  std::string what;
};

/// Queries without a model, in the order in which a proof used their answers. What failed attempts
/// used is taken back: see Prover::Attempt. Queries with a model are no part of a proof.
class ProofRecord {
public:
  /// All formulas of a query, which have no common model: hypotheses, the negated goal, instances
  /// of axioms.
  struct Query {
    Terms formulas;
    size_t hypotheses; ///< how many: the goal comes next
  };
  struct Step {
    uint32_t query;
    Mistake mistake;
  };

  /// Keeps a query; its number is for use().
  uint32_t add(Query query);
  void use(uint32_t query, Mistake mistake);

  /// The number of uses, and a return to an earlier one.
  size_t size() const { return used_.size(); }
  void truncate(size_t size) {
    used_.erase(used_.begin() + static_cast<ptrdiff_t>(size), used_.end());
  }

  const Query &query(uint32_t number) const { return queries_[number]; }
  /// The first use of each query.
  std::vector<Step> steps() const;

private:
  std::vector<Query> queries_;
  std::vector<Step> used_;
};

} // namespace colldsl::parameterized
