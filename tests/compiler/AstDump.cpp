#include "tests/compiler/AstDump.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

namespace colldsl {
namespace {

using llvm::ArrayRef;
using llvm::cast;
using llvm::StringRef;

class Dumper {
public:
  explicit Dumper(llvm::raw_ostream &out) : out_(out) {}

  void dump(const Ast &ast);
  void dump(const ast::Expr &expr);

private:
  void dumpLeaf(const ast::Expr &expr);
  void dumpOperator(const ast::Expr &expr);
  void dumpPostfix(const ast::Expr &expr);
  void dump(const ast::Argument &argument);
  void dump(const ast::Iteration &iteration);
  void dump(const ast::Range &range);
  void dump(ArrayRef<ast::Argument> arguments) { list("(", arguments, ")"); }

  void dump(const ast::Type &type);
  void dump(const ast::Dimension &dimension);
  void dump(const ast::Parameter &parameter);
  void dump(const ast::Candidates &candidates);
  void dump(const ast::Clause &clause);
  void dump(const ast::Postcondition &postcondition);
  void dump(const ast::Decl &decl);

  void dump(ast::Block block);
  void dump(const ast::Stmt &stmt);
  void dump(const ast::IfStmt &stmt);
  void dump(const ast::EdgeStmt &stmt);
  void dump(const ast::OrderStmt &stmt);
  void dumpOperation(const ast::OperationStmt &stmt);
  void dump(const ast::MessageStmt &stmt);
  void dump(const ast::CallStmt &stmt);
  void dump(const ast::Label &label);
  void dump(const ast::CombineHow &how);
  void dump(const ast::Expr *expr) { dump(*expr); }

  template <typename T> void list(StringRef open, ArrayRef<T> items, StringRef close) {
    out_ << open;
    llvm::interleaveComma(items, out_, [this](const T &item) { dump(item); });
    out_ << close;
  }
  void optional(StringRef word, const ast::Expr *expr);
  void quote(StringRef text);
  llvm::raw_ostream &line() { return out_.indent(2 * depth_); }

  llvm::raw_ostream &out_;
  unsigned depth_ = 0;
};

void Dumper::optional(StringRef word, const ast::Expr *expr) {
  if (!expr)
    return;
  out_ << word;
  dump(*expr);
}

void Dumper::quote(StringRef text) {
  out_ << '"';
  for (char c : text) {
    if (c == '"' || c == '\\')
      out_ << '\\' << c;
    else if (c == '\n' || c == '\t')
      out_ << (c == '\n' ? "\\n" : "\\t");
    else
      out_ << c;
  }
  out_ << '"';
}

// Expressions

StringRef unitText(ast::Unit unit) {
  switch (unit) {
  case ast::Unit::None:
    return "";
  case ast::Unit::Bytes:
    return "B";
  case ast::Unit::Time:
    return "ns";
  }
  llvm_unreachable("no such unit");
}

StringRef spelling(ast::UnaryOp op) {
  switch (op) {
  case ast::UnaryOp::Negate:
    return "-";
  case ast::UnaryOp::Plus:
    return "+";
  case ast::UnaryOp::Not:
    return "not";
  }
  llvm_unreachable("no such operator");
}

StringRef literalText(ast::Literal literal) {
  switch (literal) {
  case ast::Literal::True:
    return "true";
  case ast::Literal::False:
    return "false";
  case ast::Literal::None:
    return "none";
  }
  llvm_unreachable("no such literal");
}

void Dumper::dump(const ast::Expr &expr) {
  switch (expr.kind) {
  case ast::ExprKind::Number:
  case ast::ExprKind::String:
  case ast::ExprKind::Literal:
  case ast::ExprKind::Name:
    return dumpLeaf(expr);
  case ast::ExprKind::Unary:
  case ast::ExprKind::Binary:
  case ast::ExprKind::Conditional:
    return dumpOperator(expr);
  case ast::ExprKind::Member:
  case ast::ExprKind::Index:
  case ast::ExprKind::Call:
    return dumpPostfix(expr);
  case ast::ExprKind::List:
    return list("[", cast<ast::ListExpr>(expr).elements, "]");
  case ast::ExprKind::ListOf:
    out_ << '[';
    dump(cast<ast::ListOfExpr>(expr).comprehension.iteration);
    optional(": ", cast<ast::ListOfExpr>(expr).comprehension.element);
    out_ << ']';
    return;
  }
  llvm_unreachable("no such expression");
}

void Dumper::dumpLeaf(const ast::Expr &expr) {
  if (auto *number = llvm::dyn_cast<ast::NumberExpr>(&expr))
    out_ << number->value << unitText(number->unit);
  else if (auto *string = llvm::dyn_cast<ast::StringExpr>(&expr))
    quote(string->value);
  else if (auto *literal = llvm::dyn_cast<ast::LiteralExpr>(&expr))
    out_ << literalText(literal->value);
  else
    out_ << cast<ast::NameExpr>(expr).name;
}

void Dumper::dumpOperator(const ast::Expr &expr) {
  out_ << '(';
  if (auto *unary = llvm::dyn_cast<ast::UnaryExpr>(&expr)) {
    out_ << spelling(unary->op) << (unary->op == ast::UnaryOp::Not ? " " : "");
    dump(*unary->operand);
  } else if (auto *binary = llvm::dyn_cast<ast::BinaryExpr>(&expr)) {
    dump(*binary->left);
    out_ << ' ' << spelling(binary->op) << ' ';
    dump(*binary->right);
  } else {
    auto &conditional = cast<ast::ConditionalExpr>(expr);
    dump(*conditional.condition);
    optional(" ? ", conditional.whenTrue);
    optional(" : ", conditional.whenFalse);
  }
  out_ << ')';
}

void Dumper::dumpPostfix(const ast::Expr &expr) {
  if (auto *member = llvm::dyn_cast<ast::MemberExpr>(&expr)) {
    dump(*member->base);
    out_ << '.' << member->member.text;
  } else if (auto *index = llvm::dyn_cast<ast::IndexExpr>(&expr)) {
    dump(*index->base);
    optional("[", index->index);
    optional("..", index->end);
    out_ << ']';
  } else {
    auto &call = cast<ast::CallExpr>(expr);
    dump(*call.callee);
    dump(call.arguments);
  }
}

void Dumper::dump(const ast::Argument &argument) {
  if (argument.iteration) {
    dump(*argument.iteration);
    out_ << ": ";
  }
  if (argument.kind == ast::ArgumentKind::Named)
    out_ << argument.name.text << " = ";
  if (argument.kind == ast::ArgumentKind::Choice)
    out_ << argument.name.text << ": ";
  dump(*argument.value);
  optional("..", argument.last);
  optional(" of ", argument.count);
}

void Dumper::dump(const ast::Iteration &iteration) {
  out_ << "for " << iteration.name.text << " in ";
  dump(iteration.range);
  optional(" if ", iteration.condition);
}

void Dumper::dump(const ast::Range &range) {
  dump(*range.first);
  optional(range.includesLast ? "..=" : "..", range.last);
}

// Declarations

void Dumper::dump(const ast::Dimension &dimension) {
  switch (dimension.kind) {
  case ast::DimensionKind::Size:
    return optional("", dimension.size);
  case ast::DimensionKind::CallTime:
    out_ << '*';
    return;
  case ast::DimensionKind::Capacity:
    return optional("<= ", dimension.size);
  case ast::DimensionKind::Open:
    return;
  }
  llvm_unreachable("no such dimension");
}

void Dumper::dump(const ast::Type &type) {
  out_ << type.name.text;
  for (const ast::Dimension &dimension : type.dimensions)
    list<ast::Dimension>("[", dimension, "]");
}

void Dumper::dump(const ast::Candidates &candidates) {
  out_ << " in ";
  if (!candidates.lo)
    return list("{", candidates.list, "}");
  dump(*candidates.lo);
  optional("..", candidates.hi);
}

void Dumper::dump(const ast::Parameter &parameter) {
  if (parameter.isBuffer)
    out_ << spelling(parameter.role) << ' ';
  out_ << parameter.name.text << ": " << (parameter.isGlobal ? "global " : "");
  dump(parameter.type);
  optional(" at ", parameter.significantAt);
  optional(" = ", parameter.defaultValue);
  if (parameter.candidates)
    dump(*parameter.candidates);
}

void Dumper::dump(const ast::Postcondition &postcondition) {
  switch (postcondition.kind) {
  case ast::PostconditionKind::Synchronizes:
    out_ << "synchronizes";
    return;
  case ast::PostconditionKind::For:
    dump(cast<ast::ForPostcondition>(postcondition).iteration);
    out_ << ": ";
    return dump(*cast<ast::ForPostcondition>(postcondition).inner);
  case ast::PostconditionKind::At:
    optional("at ", cast<ast::AtPostcondition>(postcondition).condition);
    out_ << ": ";
    return dump(*cast<ast::AtPostcondition>(postcondition).inner);
  case ast::PostconditionKind::Value:
    return dump(*cast<ast::ValuePostcondition>(postcondition).equation);
  }
  llvm_unreachable("no such postcondition");
}

void Dumper::dump(const ast::Clause &clause) {
  out_ << "\n  ";
  switch (clause.kind) {
  case ast::ClauseKind::Where:
    return optional("where ", cast<ast::WhereClause>(clause).condition);
  case ast::ClauseKind::Ensures:
    out_ << "ensures ";
    return dump(*cast<ast::EnsuresClause>(clause).postcondition);
  case ast::ClauseKind::Aliases:
    out_ << cast<ast::AliasesClause>(clause).parameter.text;
    return optional(" aliases ", cast<ast::AliasesClause>(clause).slice);
  }
  llvm_unreachable("no such clause");
}

StringRef keywordOf(const ast::Decl &decl) {
  if (auto *structure = llvm::dyn_cast<ast::StructureDecl>(&decl))
    return structure->isTree ? "tree" : "graph";
  return llvm::isa<ast::FunctionDecl>(decl) ? "function" : "collective";
}

void Dumper::dump(const ast::Decl &decl) {
  for (StringRef rest = decl.doc; !rest.empty();) {
    auto [first, others] = rest.split('\n');
    out_ << "/// " << first << '\n';
    rest = others;
  }
  auto *collective = llvm::dyn_cast<ast::CollectiveDecl>(&decl);
  out_ << (collective && collective->deterministic ? "deterministic " : "");
  out_ << keywordOf(decl) << ' ' << decl.name.text;
  list("(", decl.parameters, ")");
  if (auto *function = llvm::dyn_cast<ast::FunctionDecl>(&decl)) {
    optional(" = ", function->result);
    out_ << ";\n";
    return;
  }
  for (const ast::Clause *clause :
       collective ? collective->clauses : ArrayRef<const ast::Clause *>())
    dump(*clause);
  dump(collective ? collective->body : cast<ast::StructureDecl>(decl).body);
  out_ << '\n';
}

void Dumper::dump(const Ast &ast) {
  for (const ast::Import &import : ast.imports) {
    out_ << "import ";
    quote(import.path);
    out_ << ";\n";
  }
  for (const ast::Decl *decl : ast.decls)
    dump(*decl);
}

// Statements

void Dumper::dump(ast::Block block) {
  out_ << " {\n";
  ++depth_;
  for (const ast::Stmt *stmt : block) {
    line();
    dump(*stmt);
    out_ << '\n';
  }
  --depth_;
  line() << '}';
}

void Dumper::dump(const ast::Label &label) {
  out_ << label.name.text;
  if (!label.indices.empty())
    list("[", label.indices, "]");
}

void Dumper::dump(const ast::CombineHow &how) {
  out_ << how.reduction.text << ' ' << spelling(how.side);
}

void Dumper::dump(const ast::IfStmt &stmt) {
  StringRef before = "if ";
  for (const ast::IfArm &arm : stmt.arms) {
    optional(before, arm.condition);
    dump(arm.body);
    before = " else if ";
  }
  if (stmt.otherwise.empty())
    return;
  out_ << " else";
  dump(stmt.otherwise);
}

void Dumper::dump(const ast::EdgeStmt &stmt) {
  optional(stmt.isOut ? "edge to " : "edge from ", stmt.peer);
  optional(" key ", stmt.key);
  optional(" weight ", stmt.weight);
}

void Dumper::dump(const ast::OrderStmt &stmt) {
  dump(stmt.waiting);
  list(stmt.onStart ? " irequires " : " requires ", stmt.awaited, "");
}

void Dumper::dump(const ast::MessageStmt &stmt) {
  out_ << spelling(stmt.op);
  optional(" ", stmt.slice);
  StringRef way = stmt.alongEdge ? " along " : sendsMessage(stmt.op) ? " to " : " from ";
  optional(way, stmt.peer);
  optional(" tag ", stmt.tag);
  if (stmt.multicast)
    out_ << " multicast";
  if (!stmt.combine)
    return;
  out_ << " combine ";
  dump(*stmt.combine);
}

void Dumper::dump(const ast::CallStmt &stmt) {
  out_ << stmt.callee.text;
  dump(stmt.arguments);
  optional(" over ", stmt.group);
}

void Dumper::dumpOperation(const ast::OperationStmt &stmt) {
  if (stmt.label) {
    dump(*stmt.label);
    out_ << ": ";
  }
  if (auto *message = llvm::dyn_cast<ast::MessageStmt>(&stmt)) {
    dump(*message);
  } else if (auto *copy = llvm::dyn_cast<ast::CopyStmt>(&stmt)) {
    optional("copy ", copy->source);
    optional(" to ", copy->target);
  } else if (auto *combine = llvm::dyn_cast<ast::CombineStmt>(&stmt)) {
    optional("combine ", combine->source);
    optional(" into ", combine->target);
    out_ << ' ';
    dump(combine->how);
  } else if (auto *calc = llvm::dyn_cast<ast::CalcStmt>(&stmt)) {
    optional("calc ", calc->time);
  } else {
    dump(cast<ast::CallStmt>(stmt));
  }
  out_ << ';';
}

void Dumper::dump(const ast::Stmt &stmt) {
  switch (stmt.kind) {
  case ast::StmtKind::Let:
    out_ << "let " << cast<ast::LetStmt>(stmt).name.text;
    optional(" = ", cast<ast::LetStmt>(stmt).value);
    break;
  case ast::StmtKind::Temp:
    out_ << "temp " << cast<ast::TempStmt>(stmt).name.text << ": ";
    dump(cast<ast::TempStmt>(stmt).type);
    break;
  case ast::StmtKind::For:
    out_ << "for " << cast<ast::ForStmt>(stmt).name.text << " in ";
    dump(cast<ast::ForStmt>(stmt).range);
    for (const ast::Postcondition *invariant : cast<ast::ForStmt>(stmt).invariants) {
      out_ << " invariant ";
      dump(*invariant);
    }
    return dump(cast<ast::ForStmt>(stmt).body);
  case ast::StmtKind::If:
    return dump(cast<ast::IfStmt>(stmt));
  case ast::StmtKind::Tree:
    optional(cast<ast::TreeStmt>(stmt).isParent ? "parent " : "child ",
             cast<ast::TreeStmt>(stmt).rank);
    break;
  case ast::StmtKind::Edge:
    dump(cast<ast::EdgeStmt>(stmt));
    break;
  case ast::StmtKind::Order:
    dump(cast<ast::OrderStmt>(stmt));
    break;
  case ast::StmtKind::Message:
  case ast::StmtKind::Copy:
  case ast::StmtKind::Combine:
  case ast::StmtKind::Calc:
  case ast::StmtKind::Call:
    return dumpOperation(cast<ast::OperationStmt>(stmt));
  }
  out_ << ';';
}

template <typename Node> std::string dumpToString(const Node &node) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Dumper(out).dump(node);
  return text;
}

} // namespace

std::string dump(const Ast &ast) { return dumpToString(ast); }
std::string dump(const ast::Expr &expr) { return dumpToString(expr); }

} // namespace colldsl
