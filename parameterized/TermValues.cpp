#include "parameterized/TermValues.h"

namespace colldsl::parameterized {

bool contains(const Term &term, const Term &constant) {
  std::set<unsigned> visited;
  return anyApplication(term, visited, [&](const Term &t) { return z3::eq(t, constant); });
}

bool hasVariables(const Term &term) {
  std::set<unsigned> visited;
  return anyApplication(term, visited, [](const Term &t) {
    return t.num_args() == 0 && t.decl().name().str().find('!') != std::string::npos;
  });
}

namespace {

Term apply(const z3::func_decl &f, Terms arguments, const Term &last) {
  z3::expr_vector all(last.ctx());
  for (const Term &t : arguments)
    all.push_back(t);
  all.push_back(last);
  return f(all);
}

} // namespace

Term GroupValue::size() const {
  z3::expr_vector all(groups->condition.ctx());
  for (const Term &t : keys)
    all.push_back(t);
  return groups->size(all);
}

Term GroupValue::member(const Term &number) const { return apply(groups->at, keys, number); }

Term GroupValue::numberOf(const Term &member) const { return apply(groups->number, keys, member); }

Term GroupValue::admits(const Term &rank) const {
  Terms names = groups->keys, those = keys;
  names.push_back(groups->member);
  those.push_back(rank);
  return substitute(groups->condition, names, those);
}

Terms Inverses::solve(Prover &prover, const Term &equation, const Term &x,
                      const Term &value) const {
  if (z3::eq(equation, x))
    return {value};
  if (!equation.is_app() || !contains(equation, x))
    return {};
  Terms all;
  auto add = [&](const Term &part, const Term &partValue) {
    Terms more = solve(prover, part, x, partValue);
    all.insert(all.end(), more.begin(), more.end());
  };
  switch (equation.decl().decl_kind()) {
  case Z3_OP_ITE:
    add(equation.arg(1), value);
    add(equation.arg(2), value);
    break;
  case Z3_OP_ADD:
  case Z3_OP_SUB:
    for (unsigned i = 0; i < equation.num_args(); ++i) {
      Term rest = value;
      bool isSubtracted = equation.decl().decl_kind() == Z3_OP_SUB && i > 0;
      if (!contains(equation.arg(i), x))
        continue;
      for (unsigned k = 0; k < equation.num_args(); ++k)
        if (k != i) {
          bool minus = equation.decl().decl_kind() == Z3_OP_SUB && k > 0;
          rest = minus ? rest + equation.arg(k) : rest - equation.arg(k);
        }
      add(equation.arg(i), isSubtracted ? -rest : rest);
    }
    break;
  case Z3_OP_UMINUS:
    add(equation.arg(0), -value);
    break;
  case Z3_OP_MUL:
    if (equation.num_args() == 2 && equation.arg(0).is_numeral())
      add(equation.arg(1), value / equation.arg(0));
    else if (equation.num_args() == 2 && quotient)
      for (unsigned i = 0; i < 2; ++i)
        if (!contains(equation.arg(1 - i), x))
          add(equation.arg(i), (*quotient)(value, equation.arg(1 - i)));
    break;
  case Z3_OP_UNINTERPRETED:
    for (const Tree *tree : trees)
      if (equation.decl().id() == tree->child.id())
        add(equation.arg(1), tree->place(equation.arg(0), value));
    if (exclusiveOr && equation.decl().id() == exclusiveOr->id())
      for (unsigned i = 0; i < 2; ++i)
        if (!contains(equation.arg(1 - i), x))
          add(equation.arg(i), (*exclusiveOr)(equation.arg(1 - i), value));
    for (const Division &division : divisions)
      if (equation.decl().id() == division.begin.id())
        add(equation.arg(2), division.index(equation.arg(0), equation.arg(1), value));
    break;
  default:
    break;
  }
  return all;
}

} // namespace colldsl::parameterized
