// Statements.
#include "compiler/ForeignWords.h"
#include "compiler/SemaImpl.h"
#include "compiler/Spelling.h"
#include "ir/Operators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

namespace colldsl {

using llvm::cast;
using llvm::StringRef;

namespace {

Stmt newStmt(StmtKind kind, SourceLoc loc) {
  Stmt s;
  s.kind = kind;
  s.loc = loc;
  return s;
}

const char *wordFor(DeclKind kind) {
  switch (kind) {
  case DeclKind::Collective:
    return "a collective";
  case DeclKind::Tree:
    return "a tree";
  case DeclKind::Graph:
    return "a graph";
  case DeclKind::Function:
    return "a function";
  }
  llvm_unreachable("all kinds are listed");
}

} // namespace

StmtId Sema::block(ast::Block body) {
  BlockScope scope(*scope_);
  std::vector<StmtId> ids;
  for (const ast::Stmt *s : body)
    if (!full())
      ids.push_back(statement(*s));
  Stmt result = newStmt(StmtKind::Block, body.empty() ? SourceLoc() : body.front()->loc);
  result.listBegin = static_cast<uint32_t>(program_.operands.size());
  result.listCount = static_cast<uint32_t>(ids.size());
  for (StmtId id : ids)
    program_.operands.push_back(index(id));
  return addStmt(result);
}

// Collectives have ops; trees and graphs have edges between ranks.
void Sema::checkPlace(StmtKind kind, SourceLoc loc) {
  if (const StmtInfo &info = infoOf(kind); !canStandIn(info.where, decl().kind))
    error(loc, "'" + std::string(info.word) + "' cannot stand in " + wordFor(decl().kind));
}

Stmt Sema::begin(StmtKind kind, const ast::Stmt &ast) {
  checkPlace(kind, ast.loc);
  return newStmt(kind, ast.loc);
}

StmtId Sema::addOperation(Stmt &s, const ast::OperationStmt &ast) {
  if (ast.label)
    s.label = labelRef(*ast.label, true);
  return addStmt(s);
}

StmtId Sema::statement(const ast::Stmt &ast) {
  switch (ast.kind) {
  case ast::StmtKind::Let:
    return analyseLet(cast<ast::LetStmt>(ast));
  case ast::StmtKind::Temp:
    return analyseTemp(cast<ast::TempStmt>(ast));
  case ast::StmtKind::For:
    return analyseFor(cast<ast::ForStmt>(ast));
  case ast::StmtKind::If:
    return analyseIf(cast<ast::IfStmt>(ast), 0);
  case ast::StmtKind::Tree:
    return analyseTree(cast<ast::TreeStmt>(ast));
  case ast::StmtKind::Edge:
    return analyseEdge(cast<ast::EdgeStmt>(ast));
  case ast::StmtKind::Order:
    return analyseOrder(cast<ast::OrderStmt>(ast));
  case ast::StmtKind::Message:
    return analyseMessage(cast<ast::MessageStmt>(ast));
  case ast::StmtKind::Copy:
    return analyseCopy(cast<ast::CopyStmt>(ast));
  case ast::StmtKind::Combine:
    return analyseCombine(cast<ast::CombineStmt>(ast));
  case ast::StmtKind::Calc:
    return analyseCalc(cast<ast::CalcStmt>(ast));
  case ast::StmtKind::Call:
    return analyseCall(cast<ast::CallStmt>(ast));
  }
  llvm_unreachable("all kinds are listed");
}

StmtId Sema::analyseLet(const ast::LetStmt &ast) {
  Stmt s = begin(StmtKind::Let, ast);
  TypedExpr value = expr(*ast.value);
  bool kept =
      value.type.invalid || livesInIntSlot(value.type.value) || value.type.is(ValueType::Slice);
  if (!kept)
    value.type = failed(ast.loc, "'let' cannot keep " + describe(value.type));
  s.a = value.id;
  s.sliceSlot = value.type.is(ValueType::Slice);
  s.slot = localName(ast.name, value.type, SymbolKind::Local);
  return addStmt(s);
}

StmtId Sema::analyseTemp(const ast::TempStmt &ast) {
  Stmt s = begin(StmtKind::Temp, ast);
  BufferType type = analyseBufferType(ast.type, false);
  s.value = static_cast<int64_t>(program_.temps.size());
  program_.temps.push_back(type);
  program_.tempNames.push_back(intern(ast.name.text));
  s.sliceSlot = true;
  s.slot = localName(ast.name, sliceOf(type, true), SymbolKind::Local);
  return addStmt(s);
}

StmtId Sema::analyseFor(const ast::ForStmt &ast) {
  Stmt s = begin(StmtKind::For, ast);
  Iterable over = iterable(ast.range);
  BlockScope scope(*scope_);
  s.a = over.id;
  s.sliceSlot = over.element.is(ValueType::Slice);
  s.slot = loopName(ast.name, over.element);
  s.value = intern(ast.name.text);
  if (!ast.invariants.empty())
    analyseInvariants(ast, s);
  s.body = block(ast.body);
  return addStmt(s);
}

StmtId Sema::analyseIf(const ast::IfStmt &ast, size_t arm) {
  if (arm == 0)
    checkPlace(StmtKind::If, ast.loc);
  Stmt s = newStmt(StmtKind::If, ast.arms[arm].condition->loc);
  TypedExpr condition = expr(*ast.arms[arm].condition);
  if (!fits(condition.type, ValueType::Bool))
    error(ast.arms[arm].condition->loc,
          "the condition of 'if' is a bool, found " + describe(condition.type),
          condition.type.maybeNone         ? "compare with none: x != none"
          : isNumber(condition.type.value) ? "compare with zero: x != 0"
                                           : "");
  s.a = condition.id;
  s.body = block(ast.arms[arm].body);
  if (arm + 1 < ast.arms.size())
    s.otherwise = analyseIf(ast, arm + 1);
  else if (!ast.otherwise.empty())
    s.otherwise = block(ast.otherwise);
  return addStmt(s);
}

StmtId Sema::analyseTree(const ast::TreeStmt &ast) {
  Stmt s = begin(ast.isParent ? StmtKind::Parent : StmtKind::Child, ast);
  s.a = exprOf(*ast.rank, ValueType::Rank, ast.isParent ? "parent" : "child").id;
  return addStmt(s);
}

StmtId Sema::analyseEdge(const ast::EdgeStmt &ast) {
  Stmt s = begin(StmtKind::Edge, ast);
  s.value = ast.isOut ? 0 : 1;
  s.a = exprOf(*ast.peer, ValueType::Rank, "end of the edge").id;
  if (ast.key)
    s.b = intExpr(*ast.key, "key");
  if (ast.weight)
    s.c = intExpr(*ast.weight, "weight");
  return addStmt(s);
}

uint32_t Sema::labelRef(const ast::Label &label, bool declares) {
  LabelRef ref;
  auto number = work_->labelNumbers.try_emplace(label.name.text, work_->labelNumbers.size());
  ref.name = number.first->second;
  ref.text = intern(label.name.text);
  ref.loc = label.name.loc;
  std::vector<ExprId> indices;
  for (const AstExpr *e : label.indices)
    indices.push_back(notNone(exprOf(*e, ValueType::Int, "index of a label")).id);
  ref.indexBegin = static_cast<uint32_t>(program_.operands.size());
  ref.indexCount = static_cast<uint32_t>(indices.size());
  for (ExprId id : indices)
    program_.operands.push_back(index(id));
  if (declares) {
    auto [first, isFirst] = work_->labelLocs.try_emplace(label.name.text, ref.loc);
    if (isFirst)
      noteSymbol(SymbolKind::Label, label.name.text, ref.loc);
    noteUse(ref.loc, first->second);
    auto [it, isNew] = work_->labelIndices.try_emplace(label.name.text, ref.indexCount);
    if (!isNew && it->second != ref.indexCount)
      error(ref.loc, "label '" + label.name.text.str() + "' has " + std::to_string(ref.indexCount) +
                         " indices here and " + std::to_string(it->second) + " elsewhere");
  } else {
    work_->labelUses.push_back({label.name.text, {ref.indexCount, ref.loc}});
  }
  program_.labels.push_back(ref);
  return static_cast<uint32_t>(program_.labels.size() - 1);
}

StmtId Sema::analyseOrder(const ast::OrderStmt &ast) {
  Stmt s = begin(StmtKind::Depend, ast);
  s.value = ast.onStart;
  s.listBegin = labelRef(ast.waiting, false);
  for (const ast::Label &label : ast.awaited)
    labelRef(label, false);
  s.listCount = static_cast<uint32_t>(ast.awaited.size() + 1);
  return addStmt(s);
}

/// One slice, or a list of slices.
TypedExpr Sema::slices(const AstExpr &ast, bool written) {
  TypedExpr e = expr(ast);
  bool isSlice = e.type.is(ValueType::Slice) || e.type.is(ValueType::Slices);
  if (!e.type.invalid && (!isSlice || program_.expr(e.id).kind == ExprKind::Segments))
    error(ast.loc, "expected a buffer or a slice, found " + describe(e.type));
  else if (!e.type.invalid && written && !e.type.writable)
    error(ast.loc, "an 'in' buffer is never written", "declare it 'inout', or write a temp");
  return e;
}

ExprId Sema::reduction(const ast::Name &name) {
  ast::NameExpr ast{{ast::ExprKind::Name, name.loc}, name.text};
  return exprOf(ast, ValueType::Reduction, "operator").id;
}

/// Checks types that are known here; instantiation checks all others.
void Sema::checkOperator(SourceLoc loc, ExprId reduction, const Type &operands) {
  const Expr &op = program_.expr(reduction);
  bool isKnown = op.kind == ExprKind::IntLit && op.type == ValueType::Reduction;
  if (!isKnown || operands.invalid || !operands.element)
    return;
  if (Status s = checkDefined(static_cast<Reduction>(op.value), *operands.element); !s)
    error(loc, s.message());
}

StmtId Sema::analyseMessage(const ast::MessageStmt &ast) {
  Stmt s = begin(StmtKind::Message, ast);
  s.op = ast.op;
  s.alongEdge = ast.alongEdge;
  s.value = ast.multicast;
  TypedExpr payload;
  if (ast.slice)
    payload = slices(*ast.slice, ast.op == OpKind::Recv);
  s.a = payload.id;
  s.b = exprOf(*ast.peer, ast.alongEdge ? ValueType::Edge : ValueType::Rank,
               ast.alongEdge ? "after 'along'" : "peer")
            .id;
  if (ast.tag)
    s.c = notNone(exprOf(*ast.tag, ValueType::Int, "tag")).id;
  if (ast.combine) {
    s.d = reduction(ast.combine->reduction);
    s.side = ast.combine->side;
    checkOperator(ast.loc, s.d, payload.type);
  }
  return addOperation(s, ast);
}

StmtId Sema::analyseCopy(const ast::CopyStmt &ast) {
  Stmt s = begin(StmtKind::Copy, ast);
  s.a = slices(*ast.source, false).id;
  s.b = slices(*ast.target, true).id;
  return addOperation(s, ast);
}

StmtId Sema::analyseCombine(const ast::CombineStmt &ast) {
  Stmt s = begin(StmtKind::Combine, ast);
  TypedExpr source = slices(*ast.source, false), target = slices(*ast.target, true);
  s.a = source.id;
  s.b = target.id;
  s.d = reduction(ast.how.reduction);
  const std::optional<ElementType> &from = source.type.element, &to = target.type.element;
  if (from && to && from != to)
    error(ast.loc, "combine of elements of " + std::string(spelling(*from)) + " into elements of " +
                       std::string(spelling(*to)));
  else
    checkOperator(ast.loc, s.d, target.type);
  s.side = ast.how.side;
  return addOperation(s, ast);
}

StmtId Sema::analyseCalc(const ast::CalcStmt &ast) {
  Stmt s = begin(StmtKind::Calc, ast);
  s.a = exprOf(*ast.time, ValueType::Time, "time of 'calc'").id;
  return addOperation(s, ast);
}

void Sema::notACollective(const ast::Name &callee, const Work *found) {
  std::string name = callee.text.str();
  if (found)
    return error(callee.loc, "'" + name + "' is " + wordFor(program_.decl(found->id).kind) +
                                 ", not a collective");
  if (std::string hint = hintForMpi(name); !hint.empty())
    return error(callee.loc, "'" + name + "' is a call of MPI, not of this language", hint);
  error(callee.loc, "unknown collective '" + name + "'",
        didYouMean(nearestWord(name, declNames({DeclKind::Collective}))));
}

StmtId Sema::analyseCall(const ast::CallStmt &ast) {
  Stmt s = begin(StmtKind::Call, ast);
  StringRef name = ast.callee.text;
  Work *callee = findDecl(name);
  bool isCollective = callee && program_.decl(callee->id).kind == DeclKind::Collective;
  if (!isCollective) {
    notACollective(ast.callee, callee);
    return addStmt(newStmt(StmtKind::Block, ast.loc));
  }
  noteUse(ast.callee.loc, program_.decl(callee->id).loc);
  if (callee == work_ && !ast.group)
    error(ast.loc, "'" + name.str() + "' calls itself over the same group",
          "recursion needs 'over' a smaller group");
  s.value = index(callee->id);
  std::vector<ExprId> operands = bindArguments(name, ast.callee.loc, *callee, ast.arguments, true);
  if (ast.group)
    s.a = exprOf(*ast.group, ValueType::Group, "after 'over'").id;
  s.listBegin = static_cast<uint32_t>(program_.operands.size());
  s.listCount = static_cast<uint32_t>(operands.size());
  for (ExprId id : operands)
    program_.operands.push_back(index(id));
  return addOperation(s, ast);
}

} // namespace colldsl
