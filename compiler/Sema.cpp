#include "compiler/Sema.h"

#include "compiler/SemaImpl.h"

namespace colldsl {

void Sema::error(SourceLoc loc, std::string message, std::string hint) {
  if (!full())
    errors_.push_back(Diagnostic::error(loc, std::move(message), std::move(hint)));
}

Type Sema::failed(SourceLoc loc, std::string message, std::string hint) {
  error(loc, std::move(message), std::move(hint));
  return Type::error();
}

void Sema::noteSymbol(SymbolKind kind, llvm::StringRef name, SourceLoc loc, const Type &type) {
  if (symbols_)
    symbols_->declare({kind, name.str(), loc, type, work_->id});
}

void Sema::noteUse(SourceLoc loc, SourceLoc declared) {
  if (symbols_)
    symbols_->use(loc, declared);
}

uint32_t Sema::intern(llvm::StringRef text) {
  auto [it, isNew] = interned_.try_emplace(text, program_.strings.size());
  if (isNew)
    program_.strings.push_back(text.str());
  return it->second;
}

ExprId Sema::addExpr(ExprKind kind, ValueType type, SourceLoc loc, ExprId a, ExprId b, ExprId c) {
  Expr e;
  e.kind = kind;
  e.type = type;
  e.loc = loc;
  e.a = a;
  e.b = b;
  e.c = c;
  if (work_)
    e.owner = work_->id;
  program_.exprs.push_back(e);
  return ExprId{static_cast<uint32_t>(program_.exprs.size() - 1)};
}

TypedExpr Sema::make(ExprKind kind, Type type, SourceLoc loc, ExprId a, ExprId b, ExprId c,
                     int64_t value) {
  ExprId id = addExpr(kind, type.value, loc, a, b, c);
  last().value = value;
  return {id, type};
}

void Sema::setOperands(ExprId id, llvm::ArrayRef<ExprId> list) {
  Expr &e = program_.exprs[index(id)];
  e.a = ExprId{static_cast<uint32_t>(program_.operands.size())};
  e.b = ExprId{static_cast<uint32_t>(list.size())};
  for (ExprId item : list)
    program_.operands.push_back(index(item));
}

TypedExpr Sema::invalid(SourceLoc loc) {
  if (!invalidAt_.known())
    invalidAt_ = loc;
  return number(0, Type::error(), loc);
}

StmtId Sema::addStmt(const Stmt &stmt) {
  program_.stmts.push_back(stmt);
  return StmtId{static_cast<uint32_t>(program_.stmts.size() - 1)};
}

namespace {

std::vector<Sema::FunctionResult> functionResults(llvm::ArrayRef<SemaInput> inputs) {
  Program scratch;
  std::vector<Diagnostic> errors;
  std::vector<DeclId> mainDecls;
  Sema sema(scratch, errors, UINT32_MAX);
  sema.declareAll(inputs, mainDecls);
  return sema.functionResults();
}

} // namespace

std::vector<Diagnostic> analyse(llvm::ArrayRef<SemaInput> inputs, Program &program,
                                std::vector<DeclId> &mainDecls, uint32_t maxErrors,
                                SymbolIndex *symbols) {
  std::vector<Diagnostic> errors;
  Sema sema(program, errors, maxErrors, symbols);
  sema.declareAll(inputs, mainDecls);
  if (errors.size() < maxErrors)
    sema.takeResults(functionResults(inputs));
  sema.analyseAll();
  if (errors.empty() && sema.invalidAt().known()) // no error stands for a value unnoticed
    errors.push_back(Diagnostic::error(sema.invalidAt(), "this expression has no value"));
  return errors;
}

Result<ExprId> analyseArgument(const ast::Expr &expr, DeclId collective, std::string_view param,
                               Program &program) {
  std::vector<Diagnostic> errors;
  Sema sema(program, errors, 1);
  ExprId id = sema.analyseArgument(expr, collective, param);
  if (!errors.empty())
    return errors.front();
  const std::vector<Param> &params = program.decl(collective).params;
  auto it = llvm::find_if(params, [&](const Param &p) { return program.nameOf(p) == param; });
  program.arguments.push_back({collective, static_cast<uint32_t>(it - params.begin()), id});
  return id;
}

} // namespace colldsl
