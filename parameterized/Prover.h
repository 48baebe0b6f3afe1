/// Formulas over integers, decided by z3. Every constant stands for all its values: a goal is
/// proved if its negation has no model.
///
/// All formulas are free of quantifiers. What holds for all arguments of a function (the boundaries
/// of parts, the parents of a tree) is an axiom: a procedure that yields its instance for one
/// application, or for two. The prover instantiates the axioms for the applications that a query
/// contains. Threads: one.
#pragma once

#include "parameterized/ProofRecord.h"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace colldsl::parameterized {

/// The time for a proof is over. Thrown by every query from then on.
struct OutOfTime : std::runtime_error {
  OutOfTime() : std::runtime_error("out of time") {}
};

/// The solver has reached the limit of its memory. Thrown by queries.
struct OutOfMemory : std::runtime_error {
  OutOfMemory() : std::runtime_error("out of memory") {}
};

/// A proof ends here: the text has something that this module cannot express, or a condition does
/// not follow. Thrown within the module, caught by AllRanksProofs.
struct NotShown : std::runtime_error {
  NotShown(SourceLoc place, const std::string &why) : std::runtime_error(why), loc(place) {}
  SourceLoc loc;
  bool forWantOfOrder = false; ///< an operator that commutes would do
};

class Prover {
public:
  using Clock = std::chrono::steady_clock;

  /// No query runs past the deadline; those after it throw OutOfTime. `isRecorded`: queries that
  /// are proved are kept, with their formulas.
  Prover(Clock::time_point deadline, std::chrono::milliseconds perQuery, bool isRecorded = false);

  z3::context &context() { return context_; }
  Term number(int64_t value) { return context_.int_val(value); }
  Term truth(bool value) { return context_.bool_val(value); }
  Term constant(const std::string &name) { return context_.int_const(name.c_str()); }
  /// A constant that no other formula contains.
  Term fresh(const std::string &name);
  /// A function of `arity` integers; the same name and arity give the same function.
  z3::func_decl function(const std::string &name, unsigned arity, bool isCondition = false);

  /// Holds in all queries.
  void assume(const Term &condition) { assumptions_.push_back(condition); }

  /// `instances` appends what holds for an application of the function.
  using Axiom = std::function<void(const Term &application, Terms &instances)>;
  void addAxiom(const z3::func_decl &f, Axiom axiom);
  /// An axiom about each two applications of two functions, which may be one.
  using PairAxiom = std::function<void(const Term &first, const Term &second, Terms &instances)>;
  void addAxiom(const z3::func_decl &f, const z3::func_decl &g, PairAxiom axiom);

  /// True if the goal follows from the facts, which refutes the mistake. Without words for one, the
  /// query is about the statement at `place`.
  bool proves(const Terms &facts, const Term &goal, Mistake mistake = {});
  /// True if no values satisfy the facts.
  bool refutes(const Terms &facts, Mistake mistake = {}) {
    return proves(facts, truth(false), std::move(mistake));
  }
  /// Throws NotShown, with the mistake, unless the goal follows.
  void require(const Terms &facts, const Term &goal, const Mistake &mistake);

  SourceLoc place; ///< of the statement that is executed

  /// Nothing, unless queries are recorded.
  const std::optional<ProofRecord> &recorded() const { return record_; }

  /// A part of a proof that other parts rest on only if it succeeds.
  class Attempt {
  public:
    explicit Attempt(Prover &prover)
        : prover_(prover), begin_(prover.record_ ? prover.record_->size() : 0) {}
    ~Attempt() {
      if (!succeeded_ && prover_.record_)
        prover_.record_->truncate(begin_);
    }
    Attempt(const Attempt &) = delete;
    Attempt &operator=(const Attempt &) = delete;

    bool succeed(bool is = true) { return succeeded_ = is; }

  private:
    Prover &prover_;
    size_t begin_;
    bool succeeded_ = false;
  };

  unsigned queries() const { return queries_; }

private:
  struct Applications;
  void instantiate(Applications &seen, Terms &formulas);

  struct PairRule {
    unsigned first, second; ///< ids of the declarations
    PairAxiom axiom;
  };

  z3::context context_;
  Clock::time_point deadline_;
  std::chrono::milliseconds perQuery_;
  Terms assumptions_;
  std::vector<std::pair<unsigned, Axiom>> axioms_; ///< by the id of the declaration
  std::vector<PairRule> pairAxioms_;
  std::vector<z3::func_decl> declarations_; ///< keeps the ids
  /// Answers by the ids of the terms, which `kept_` keeps alive.
  struct Answer {
    bool isProved;
    uint32_t query; ///< in the record, if it is kept
  };
  std::map<std::vector<unsigned>, Answer> answers_;
  Terms kept_;
  unsigned fresh_ = 0, queries_ = 0;
  std::optional<ProofRecord> record_;
};

/// Ranks have 31 bits.
inline constexpr int kMostRanks = 0x7fffffff;

/// The constants that all ranks share: a body has no others but its parameters and those of its
/// loops. `rank` is any rank, which a formula renames to speak of another one.
struct Ranks {
  explicit Ranks(Prover &prover) : rank(prover.constant("rank")), ranks(prover.constant("ranks")) {
    prover.assume(1 <= ranks && ranks <= kMostRanks);
  }
  Term isRank(const Term &r) const { return 0 <= r && r < ranks; }

  Term rank, ranks;
};

/// Calls visit(Term) for the applications in a term, each once, until it returns true. Returns true
/// if it did.
template <typename Visit>
bool anyApplication(const Term &term, std::set<unsigned> &visited, Visit visit) {
  Terms open{term};
  while (!open.empty()) {
    Term t = open.back();
    open.pop_back();
    if (!t.is_app() || !visited.insert(t.id()).second)
      continue;
    if (visit(t))
      return true;
    for (unsigned i = 0; i < t.num_args(); ++i)
      open.push_back(t.arg(i));
  }
  return false;
}

/// The term with each of `from` replaced by its partner in `to`.
Term substitute(const Term &term, const Terms &from, const Terms &to);

Term conjunction(Prover &prover, const Terms &terms);
Term disjunction(Prover &prover, const Terms &terms);

} // namespace colldsl::parameterized
