#include "parameterized/SmtLib.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <utility>

namespace colldsl::parameterized {
namespace {

/// A symbol; with bars unless it is a simple one. Names of formulas contain no bar and no
/// backslash.
std::string symbol(const std::string &name) {
  auto isSimple = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string("~!$%^&*_-+=<>.?/").find(c) != std::string::npos;
  };
  bool isPlain = !name.empty() && !(name[0] >= '0' && name[0] <= '9') && name[0] != '.' &&
                 name[0] != '$' && std::all_of(name.begin(), name.end(), isSimple);
  return isPlain ? name : "|" + name + "|";
}

class Script {
public:
  explicit Script(const ProofRecord::Query &query) : query_(query) {
    for (const Term &f : query.formulas)
      count(f);
  }

  std::string text(const std::string &comment) {
    std::string asserted;
    for (size_t i = 0; i < query_.formulas.size(); ++i) {
      if (i == 0 && query_.hypotheses > 0)
        asserted += "; hypotheses\n";
      if (i == query_.hypotheses)
        asserted += "; the negated goal\n";
      if (i == query_.hypotheses + 1)
        asserted += "; instances of axioms\n";
      std::string formula = spell(query_.formulas[i]);
      asserted += std::exchange(definitions_, "") + "(assert " + formula + ")\n";
    }
    return "; " + comment + "\n(set-info :smt-lib-version 2.6)\n(set-info :status unsat)\n" +
           "(set-logic QF_UFNIA)\n" + declarations_ + asserted + "(check-sat)\n(exit)\n";
  }

private:
  /// Counts how many terms contain each term, itself counted once.
  void count(const Term &root) {
    Terms open{root};
    while (!open.empty()) {
      Term t = open.back();
      open.pop_back();
      if (++uses_[t.id()] > 1)
        continue;
      for (unsigned i = 0; i < t.num_args(); ++i)
        open.push_back(t.arg(i));
    }
  }

  static bool isUninterpreted(const Term &t) { return t.decl().decl_kind() == Z3_OP_UNINTERPRETED; }

  const char *sortOf(const z3::sort &sort) {
    assert(sort.is_int() || sort.is_bool());
    return sort.is_int() ? "Int" : "Bool";
  }

  /// The name of a constant or function, which is declared at its first use.
  const std::string &nameOf(const z3::func_decl &f) {
    auto [known, isNew] = names_.try_emplace(f.id());
    if (isNew) {
      std::string name = f.name().str(); // may spell terms
      std::erase_if(name, [](char c) { return c == '|' || c == '\\'; });
      std::replace(name.begin(), name.end(), '\n', ' ');
      while (!taken_.insert(name).second) // a function and a constant
        name += "#";
      known->second = symbol(name);
      declarations_ += "(declare-fun " + known->second + " (";
      for (unsigned i = 0; i < f.arity(); ++i)
        declarations_ += std::string(i ? " " : "") + sortOf(f.domain(i));
      declarations_ += std::string(") ") + sortOf(f.range()) + ")\n";
    }
    return known->second;
  }

  std::string operatorOf(const z3::func_decl &f) {
    switch (f.decl_kind()) {
    case Z3_OP_UNINTERPRETED:
      return nameOf(f);
    case Z3_OP_ITE:
      return "ite";
    case Z3_OP_UMINUS:
      return "-";
    default:
      return f.name().str(); // as SMT-LIB has it
    }
  }

  /// A numeral, a constant, or a term that is defined already.
  bool isSpelled(const Term &t) const { return t.num_args() == 0 || texts_.contains(t.id()); }

  std::string spelled(const Term &t) {
    if (t.is_numeral()) {
      std::string digits = Z3_get_numeral_string(t.ctx(), t);
      return digits[0] == '-' ? "(- " + digits.substr(1) + ")" : digits;
    }
    if (t.num_args() == 0)
      return isUninterpreted(t) ? nameOf(t.decl()) : t.decl().name().str();
    return texts_.at(t.id());
  }

  /// The term; those within it that occur elsewhere, too, are defined before.
  std::string spell(const Term &root) {
    Terms open{root};
    while (!open.empty()) {
      Term t = open.back();
      if (isSpelled(t)) {
        open.pop_back();
        continue;
      }
      size_t before = open.size();
      for (unsigned i = 0; i < t.num_args(); ++i)
        if (!isSpelled(t.arg(i)))
          open.push_back(t.arg(i));
      if (open.size() > before)
        continue;
      open.pop_back();
      std::string text = "(" + operatorOf(t.decl());
      for (unsigned i = 0; i < t.num_args(); ++i)
        text += " " + spelled(t.arg(i));
      text += ")";
      if (uses_[t.id()] > 1) {
        std::string name = "$" + std::to_string(++defined_);
        definitions_ += "(define-fun " + name + " () " + sortOf(t.get_sort()) + " " + text + ")\n";
        text = name;
      }
      texts_[t.id()] = std::move(text);
    }
    return spelled(root);
  }

  const ProofRecord::Query &query_;
  std::map<unsigned, unsigned> uses_;     ///< by the id of a term
  std::map<unsigned, std::string> texts_; ///< of terms with arguments
  std::map<unsigned, std::string> names_; ///< by the id of a declaration
  std::set<std::string> taken_;
  std::string declarations_, definitions_; ///< the latter for the next assertion
  unsigned defined_ = 0;
};

} // namespace

std::string smtLib(const ProofRecord::Query &query, const std::string &comment) {
  return Script(query).text(comment);
}

} // namespace colldsl::parameterized
