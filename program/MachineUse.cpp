#include "program/MachineUse.h"

#include "program/Operands.h"

namespace colldsl {

MachineUse::MachineUse(const Program &program) : program_(program), always_(program.decls.size()) {
  std::vector<bool> isExcluded(program.exprs.size());
  for (const Decl &decl : program.decls)
    for (const Param &param : decl.params) {
      excludeOperandsOf(param.defaultValue, isExcluded);
      for (const Candidate &candidate : param.candidates)
        for (ExprId end : {candidate.lo, candidate.hi})
          excludeOperandsOf(end, isExcluded);
    }
  for (const GivenArgument &argument : program.arguments)
    excludeOperandsOf(argument.value, isExcluded);
  for (uint32_t i = 0; i < program.exprs.size(); ++i)
    if (program.exprs[i].owner != kNoDecl && !isExcluded[i])
      always_[index(program.exprs[i].owner)].push_back(ExprId{i});
}

void MachineUse::excludeOperandsOf(ExprId id, std::vector<bool> &isExcluded) const {
  if (id == kNoExpr || isExcluded[index(id)])
    return;
  isExcluded[index(id)] = true;
  forEachOperand(program_, program_.expr(id),
                 [&](ExprId operand) { excludeOperandsOf(operand, isExcluded); });
}

/// From expression to expression and from declaration to declaration, each once; those that wait
/// are in lists, since chains of declarations may be long.
class MachineUse::Walk {
public:
  explicit Walk(const MachineUse &use)
      : program_(use.program_), always_(use.always_), isExprSeen_(program_.exprs.size()),
        isDeclSeen_(program_.decls.size()) {}

  /// Arguments: per parameter; missing or kNoExpr: its default.
  template <typename ArgumentOf> void addCall(DeclId id, ArgumentOf argumentOf) {
    const std::vector<Param> &params = program_.decl(id).params;
    for (uint32_t p = 0; p < params.size(); ++p) {
      ExprId argument = argumentOf(p);
      add(argument == kNoExpr ? params[p].defaultValue : argument);
    }
    if (isDeclSeen_[index(id)])
      return;
    isDeclSeen_[index(id)] = true;
    decls_.push_back(id);
  }

  Found finish() {
    while (!exprs_.empty() || !decls_.empty()) {
      if (!exprs_.empty()) {
        ExprId id = exprs_.back();
        exprs_.pop_back();
        visit(program_.expr(id));
      } else {
        DeclId id = decls_.back();
        decls_.pop_back();
        for (ExprId expr : always_[index(id)])
          add(expr);
        forEachCall(program_, program_.decl(id).body, [&](const Stmt &s) {
          addCall(DeclId{static_cast<uint32_t>(s.value)}, [&](uint32_t p) {
            return p < s.listCount ? ExprId{program_.operands[s.listBegin + p]} : kNoExpr;
          });
        });
      }
    }
    return found_;
  }

private:
  void add(ExprId id) {
    if (id == kNoExpr || isExprSeen_[index(id)])
      return;
    isExprSeen_[index(id)] = true;
    exprs_.push_back(id);
  }

  void visit(const Expr &e) {
    const ExprInfo &info = infoOf(e.kind);
    if (info.value == ValueUse::Level)
      found_.levels.add(static_cast<Level>(e.value));
    found_.leaders |= looksAtLeaders(e.kind);
    if (isCallee(info.value))
      addCall(DeclId{static_cast<uint32_t>(e.value)}, [&](uint32_t p) {
        return p < index(e.b) ? ExprId{program_.operands[index(e.a) + p]} : kNoExpr;
      });
    forEachOperand(program_, e, [&](ExprId operand) { add(operand); });
  }

  const Program &program_;
  const std::vector<std::vector<ExprId>> &always_;
  std::vector<bool> isExprSeen_, isDeclSeen_;
  std::vector<ExprId> exprs_; ///< that wait
  std::vector<DeclId> decls_; ///< that wait
  Found found_;
};

MachineUse::Found MachineUse::find(DeclId collective, std::span<const ExprId> arguments) const {
  Walk walk(*this);
  walk.addCall(collective,
               [&](uint32_t p) { return p < arguments.size() ? arguments[p] : kNoExpr; });
  return walk.finish();
}

} // namespace colldsl
