#include "parameterized/Prover.h"

#include <algorithm>
#include <map>
#include <set>

namespace colldsl::parameterized {

Prover::Prover(Clock::time_point deadline, std::chrono::milliseconds perQuery, bool isRecorded)
    : deadline_(deadline), perQuery_(perQuery) {
  if (isRecorded)
    record_.emplace();
}

Term Prover::fresh(const std::string &name) {
  return constant(name + "!" + std::to_string(fresh_++));
}

z3::func_decl Prover::function(const std::string &name, unsigned arity, bool isCondition) {
  std::vector<Z3_sort> domain(arity, context_.int_sort());
  Z3_func_decl made = Z3_mk_func_decl(
      context_, Z3_mk_string_symbol(context_, name.c_str()), arity, domain.data(),
      isCondition ? static_cast<Z3_sort>(context_.bool_sort()) : context_.int_sort());
  return z3::func_decl(context_, made);
}

void Prover::addAxiom(const z3::func_decl &f, Axiom axiom) {
  declarations_.push_back(f);
  axioms_.emplace_back(f.id(), std::move(axiom));
}

void Prover::addAxiom(const z3::func_decl &f, const z3::func_decl &g, PairAxiom axiom) {
  declarations_.push_back(f);
  declarations_.push_back(g);
  pairAxioms_.push_back({f.id(), g.id(), std::move(axiom)});
}

/// The applications of functions with axioms in the formulas of a query.
struct Prover::Applications {
  std::set<unsigned> visited; ///< terms, by id
  std::map<unsigned, Terms> of;
  std::map<unsigned, size_t> done; ///< how many of them have their instances

  void collect(const Term &term, const std::set<unsigned> &wanted) {
    anyApplication(term, visited, [&](const Term &t) {
      if (unsigned id = t.decl().id(); wanted.contains(id))
        of[id].push_back(t);
      return false;
    });
  }
};

void Prover::instantiate(Applications &seen, Terms &formulas) {
  std::set<unsigned> wanted;
  for (const z3::func_decl &f : declarations_)
    wanted.insert(f.id());
  // An instance may contain applications of its own (the parent of a parent): two rounds of them
  // are enough for the texts that are proved, and more would never end.
  constexpr unsigned kRounds = 2;
  size_t collected = 0;
  for (unsigned round = 0; round <= kRounds; ++round) {
    for (; collected < formulas.size(); ++collected)
      seen.collect(formulas[collected], wanted);
    std::map<unsigned, size_t> done = seen.done;
    Terms instances;
    for (auto &[id, axiom] : axioms_)
      for (size_t i = done[id]; i < seen.of[id].size(); ++i)
        axiom(Term(seen.of[id][i]), instances);
    for (PairRule &rule : pairAxioms_) {
      const Terms &first = seen.of[rule.first], &second = seen.of[rule.second];
      for (size_t i = 0; i < first.size(); ++i)
        for (size_t k = 0; k < second.size(); ++k)
          if (i >= done[rule.first] || k >= done[rule.second])
            if (first[i].id() != second[k].id())
              rule.axiom(first[i], second[k], instances);
    }
    for (auto &[id, list] : seen.of)
      seen.done[id] = list.size();
    formulas.insert(formulas.end(), instances.begin(), instances.end());
  }
}

bool Prover::proves(const Terms &facts, const Term &goal, Mistake mistake) {
  if (mistake.what.empty())
    mistake = {place, "another case may occur"};
  if (goal.is_true())
    return true;
  Clock::time_point now = Clock::now();
  if (now >= deadline_)
    throw OutOfTime();
  std::vector<unsigned> key;
  for (const Term &f : facts)
    if (!f.is_true())
      key.push_back(f.id());
  std::sort(key.begin(), key.end());
  key.erase(std::unique(key.begin(), key.end()), key.end());
  key.push_back(goal.id());
  key.push_back(static_cast<unsigned>(assumptions_.size()));
  if (auto known = answers_.find(key); known != answers_.end()) {
    if (record_ && known->second.isProved)
      record_->use(known->second.query, std::move(mistake));
    return known->second.isProved;
  }
  kept_.insert(kept_.end(), facts.begin(), facts.end());
  kept_.push_back(goal);
  ++queries_;
  Terms formulas = assumptions_;
  formulas.insert(formulas.end(), facts.begin(), facts.end());
  size_t hypotheses = formulas.size();
  formulas.push_back(!goal);
  Applications seen;
  instantiate(seen, formulas);
  z3::solver solver(context_, z3::solver::simple());
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - now);
  z3::params params(context_);
  params.set("timeout", static_cast<unsigned>(std::min(left, perQuery_).count() + 1));
  solver.set(params);
  for (const Term &f : formulas)
    solver.add(f);
  z3::check_result answer = solver.check();
  if (answer == z3::unknown && solver.reason_unknown() == "memout")
    throw OutOfMemory();
  if (answer == z3::unknown)
    return false;
  bool isProved = answer == z3::unsat;
  uint32_t query = 0;
  if (record_ && isProved) {
    query = record_->add({std::move(formulas), hypotheses});
    record_->use(query, std::move(mistake));
  }
  answers_[key] = {isProved, query};
  return isProved;
}

void Prover::require(const Terms &facts, const Term &goal, const Mistake &mistake) {
  if (!proves(facts, goal, mistake))
    throw NotShown(mistake.loc, mistake.what);
}

Term substitute(const Term &term, const Terms &from, const Terms &to) {
  z3::expr_vector source(term.ctx()), target(term.ctx());
  for (size_t i = 0; i < from.size(); ++i) {
    source.push_back(from[i]);
    target.push_back(to[i]);
  }
  return Term(term).substitute(source, target);
}

Term conjunction(Prover &prover, const Terms &terms) {
  z3::expr_vector all(prover.context());
  for (const Term &t : terms)
    all.push_back(t);
  return all.empty() ? prover.truth(true) : z3::mk_and(all);
}

Term disjunction(Prover &prover, const Terms &terms) {
  z3::expr_vector any(prover.context());
  for (const Term &t : terms)
    any.push_back(t);
  return any.empty() ? prover.truth(false) : z3::mk_or(any);
}

} // namespace colldsl::parameterized
