// Nodes are stored field by field, in the order of eachField(): lists and texts as a count and
// their items, a pointer as whether it is null and what it points to, a node of several kinds
// behind its kind.
#include "compiler/SerializedAst.h"

#include "ir/Index32.h"
#include "program/Archive.h"

#include "llvm/Support/ErrorHandling.h"

#include <cassert>
#include <cstring>

namespace colldsl {
namespace {

using llvm::ArrayRef;
using llvm::StringRef;

template <typename Visit, Is<ast::Name> R> void eachField(Visit &visit, R &r) {
  visit(r.text, r.loc);
}

// Expressions

template <typename Visit, Is<ast::NumberExpr> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.value, r.unit);
}
template <typename Visit, Is<ast::StringExpr> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.value);
}
template <typename Visit, Is<ast::LiteralExpr> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.value);
}
template <typename Visit, Is<ast::NameExpr> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.name);
}
template <typename Visit, Is<ast::UnaryExpr> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.op, r.operand);
}
template <typename Visit, Is<ast::BinaryExpr> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.op, r.left, r.right);
}
template <typename Visit, Is<ast::ConditionalExpr> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.condition, r.whenTrue, r.whenFalse);
}
template <typename Visit, Is<ast::MemberExpr> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.base, r.member);
}
template <typename Visit, Is<ast::IndexExpr> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.base, r.index, r.end);
}
template <typename Visit, Is<ast::ListExpr> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.elements);
}
template <typename Visit, Is<ast::ListOfExpr> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.comprehension);
}
template <typename Visit, Is<ast::CallExpr> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.callee, r.arguments);
}
template <typename Visit, Is<ast::Range> R> void eachField(Visit &visit, R &r) {
  visit(r.first, r.last, r.includesLast);
}
template <typename Visit, Is<ast::Iteration> R> void eachField(Visit &visit, R &r) {
  visit(r.name, r.range, r.condition);
}
template <typename Visit, Is<ast::Comprehension> R> void eachField(Visit &visit, R &r) {
  visit(r.iteration, r.element);
}
template <typename Visit, Is<ast::Argument> R> void eachField(Visit &visit, R &r) {
  visit(r.kind, r.loc, r.value, r.name, r.last, r.count, r.iteration);
}

// Types and parameters

template <typename Visit, Is<ast::Dimension> R> void eachField(Visit &visit, R &r) {
  visit(r.kind, r.loc, r.size);
}
template <typename Visit, Is<ast::Type> R> void eachField(Visit &visit, R &r) {
  visit(r.name, r.dimensions);
}
template <typename Visit, Is<ast::Candidates> R> void eachField(Visit &visit, R &r) {
  visit(r.lo, r.hi, r.list, r.loc);
}
template <typename Visit, Is<ast::Parameter> R> void eachField(Visit &visit, R &r) {
  visit(r.name, r.isBuffer, r.role, r.type, r.significantAt, r.isGlobal, r.defaultValue,
        r.candidates);
}

// Statements

template <typename Visit, Is<ast::LetStmt> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.name, r.value);
}
template <typename Visit, Is<ast::TempStmt> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.name, r.type);
}
template <typename Visit, Is<ast::ForStmt> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.name, r.range, r.invariants, r.body);
}
template <typename Visit, Is<ast::IfArm> R> void eachField(Visit &visit, R &r) {
  visit(r.condition, r.body);
}
template <typename Visit, Is<ast::IfStmt> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.arms, r.otherwise);
}
template <typename Visit, Is<ast::TreeStmt> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.isParent, r.rank);
}
template <typename Visit, Is<ast::EdgeStmt> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.isOut, r.peer, r.key, r.weight);
}
template <typename Visit, Is<ast::Label> R> void eachField(Visit &visit, R &r) {
  visit(r.name, r.indices);
}
template <typename Visit, Is<ast::OrderStmt> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.onStart, r.waiting, r.awaited);
}
template <typename Visit, Is<ast::CombineHow> R> void eachField(Visit &visit, R &r) {
  visit(r.reduction, r.side);
}
template <typename Visit, Is<ast::MessageStmt> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.label, r.op, r.slice, r.alongEdge, r.peer, r.tag, r.combine, r.multicast);
}
template <typename Visit, Is<ast::CopyStmt> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.label, r.source, r.target);
}
template <typename Visit, Is<ast::CombineStmt> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.label, r.source, r.target, r.how);
}
template <typename Visit, Is<ast::CalcStmt> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.label, r.time);
}
template <typename Visit, Is<ast::CallStmt> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.label, r.callee, r.arguments, r.group);
}

// Declarations

template <typename Visit, Is<ast::SynchronizesPostcondition> R> void eachField(Visit &visit, R &r) {
  visit(r.loc);
}
template <typename Visit, Is<ast::ForPostcondition> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.iteration, r.inner);
}
template <typename Visit, Is<ast::AtPostcondition> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.condition, r.inner);
}
template <typename Visit, Is<ast::ValuePostcondition> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.equation);
}
template <typename Visit, Is<ast::WhereClause> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.condition);
}
template <typename Visit, Is<ast::EnsuresClause> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.postcondition);
}
template <typename Visit, Is<ast::AliasesClause> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.parameter, r.slice);
}
template <typename Visit, Is<ast::FunctionDecl> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.name, r.doc, r.parameters, r.result);
}
template <typename Visit, Is<ast::StructureDecl> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.name, r.doc, r.parameters, r.isTree, r.body);
}
template <typename Visit, Is<ast::CollectiveDecl> R> void eachField(Visit &visit, R &r) {
  visit(r.loc, r.name, r.doc, r.parameters, r.deterministic, r.clauses, r.body);
}
template <typename Visit, Is<ast::Import> R> void eachField(Visit &visit, R &r) {
  visit(r.path, r.loc);
}
template <typename Visit, Is<Ast> R> void eachField(Visit &visit, R &r) {
  visit(r.imports, r.decls);
}

// Calls use.operator()<Node>() for the node of a kind.

template <typename Use> void withNode(ast::ExprKind kind, Use use) {
  switch (kind) {
  case ast::ExprKind::Number:
    return use.template operator()<ast::NumberExpr>();
  case ast::ExprKind::String:
    return use.template operator()<ast::StringExpr>();
  case ast::ExprKind::Literal:
    return use.template operator()<ast::LiteralExpr>();
  case ast::ExprKind::Name:
    return use.template operator()<ast::NameExpr>();
  case ast::ExprKind::Unary:
    return use.template operator()<ast::UnaryExpr>();
  case ast::ExprKind::Binary:
    return use.template operator()<ast::BinaryExpr>();
  case ast::ExprKind::Conditional:
    return use.template operator()<ast::ConditionalExpr>();
  case ast::ExprKind::Member:
    return use.template operator()<ast::MemberExpr>();
  case ast::ExprKind::Index:
    return use.template operator()<ast::IndexExpr>();
  case ast::ExprKind::Call:
    return use.template operator()<ast::CallExpr>();
  case ast::ExprKind::List:
    return use.template operator()<ast::ListExpr>();
  case ast::ExprKind::ListOf:
    return use.template operator()<ast::ListOfExpr>();
  }
  llvm_unreachable("all kinds are listed");
}

template <typename Use> void withNode(ast::StmtKind kind, Use use) {
  switch (kind) {
  case ast::StmtKind::Let:
    return use.template operator()<ast::LetStmt>();
  case ast::StmtKind::Temp:
    return use.template operator()<ast::TempStmt>();
  case ast::StmtKind::For:
    return use.template operator()<ast::ForStmt>();
  case ast::StmtKind::If:
    return use.template operator()<ast::IfStmt>();
  case ast::StmtKind::Tree:
    return use.template operator()<ast::TreeStmt>();
  case ast::StmtKind::Edge:
    return use.template operator()<ast::EdgeStmt>();
  case ast::StmtKind::Order:
    return use.template operator()<ast::OrderStmt>();
  case ast::StmtKind::Message:
    return use.template operator()<ast::MessageStmt>();
  case ast::StmtKind::Copy:
    return use.template operator()<ast::CopyStmt>();
  case ast::StmtKind::Combine:
    return use.template operator()<ast::CombineStmt>();
  case ast::StmtKind::Calc:
    return use.template operator()<ast::CalcStmt>();
  case ast::StmtKind::Call:
    return use.template operator()<ast::CallStmt>();
  }
  llvm_unreachable("all kinds are listed");
}

template <typename Use> void withNode(ast::PostconditionKind kind, Use use) {
  switch (kind) {
  case ast::PostconditionKind::Synchronizes:
    return use.template operator()<ast::SynchronizesPostcondition>();
  case ast::PostconditionKind::For:
    return use.template operator()<ast::ForPostcondition>();
  case ast::PostconditionKind::At:
    return use.template operator()<ast::AtPostcondition>();
  case ast::PostconditionKind::Value:
    return use.template operator()<ast::ValuePostcondition>();
  }
  llvm_unreachable("all kinds are listed");
}

template <typename Use> void withNode(ast::ClauseKind kind, Use use) {
  switch (kind) {
  case ast::ClauseKind::Where:
    return use.template operator()<ast::WhereClause>();
  case ast::ClauseKind::Ensures:
    return use.template operator()<ast::EnsuresClause>();
  case ast::ClauseKind::Aliases:
    return use.template operator()<ast::AliasesClause>();
  }
  llvm_unreachable("all kinds are listed");
}

template <typename Use> void withNode(ast::DeclKind kind, Use use) {
  switch (kind) {
  case ast::DeclKind::Function:
    return use.template operator()<ast::FunctionDecl>();
  case ast::DeclKind::Structure:
    return use.template operator()<ast::StructureDecl>();
  case ast::DeclKind::Collective:
    return use.template operator()<ast::CollectiveDecl>();
  }
  llvm_unreachable("all kinds are listed");
}

/// The nodes of which pointers to their base are kept.
template <typename T>
concept Base = std::is_same_v<T, ast::Expr> || std::is_same_v<T, ast::Stmt> ||
    std::is_same_v<T, ast::Postcondition> || std::is_same_v<T, ast::Clause> ||
    std::is_same_v<T, ast::Decl>;

class AstWriter {
public:
  std::string bytes;

  template <typename... Fields> void operator()(const Fields &...fields) { (put(fields), ...); }

private:
  template <Plain T> void put(const T &value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void put(const SourceLoc &loc) { (*this)(loc.line, loc.column); }
  void put(const StringRef &text) {
    put(index32(text.size()));
    bytes += text;
  }
  template <typename T> void put(const ArrayRef<T> &list) {
    put(index32(list.size()));
    for (const T &item : list)
      put(item);
  }
  template <typename Node> void put(const Node *const &node) {
    put(node != nullptr);
    if (!node)
      return;
    if constexpr (Base<Node>) {
      put(node->kind);
      withNode(node->kind, [&]<typename Kind>() { eachField(*this, *llvm::cast<Kind>(node)); });
    } else {
      eachField(*this, *node);
    }
  }
  template <typename Record>
  requires(std::is_class_v<Record>) void put(const Record &record) { eachField(*this, record); }
};

class AstReader {
public:
  AstReader(StringRef bytes, uint16_t file, Ast &ast) : rest_(bytes), file_(file), ast_(ast) {}

  bool atEnd() const { return rest_.empty(); }

  template <typename... Fields> void operator()(Fields &...fields) { (get(fields), ...); }

private:
  StringRef take(size_t size) {
    assert(size <= rest_.size());
    StringRef taken = rest_.take_front(size);
    rest_ = rest_.drop_front(size);
    return taken;
  }
  template <Plain T> void get(T &value) {
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
  }
  void get(SourceLoc &loc) {
    (*this)(loc.line, loc.column);
    loc.file = loc.known() ? file_ : 0;
  }
  void get(StringRef &text) {
    uint32_t size = 0;
    get(size);
    text = take(size);
  }
  template <typename T> void get(ArrayRef<T> &list) {
    uint32_t size = 0;
    get(size);
    llvm::SmallVector<T, 8> items(size, T{});
    for (T &item : items)
      get(item);
    list = ast_.copy(ArrayRef<T>(items));
  }
  template <typename Node> void get(const Node *&node) {
    bool isThere = false;
    get(isThere);
    if (!isThere)
      return;
    if constexpr (Base<Node>) {
      decltype(Node::kind) kind{};
      get(kind);
      withNode(kind, [&]<typename Kind>() {
        Kind *made = ast_.make(Kind{});
        made->kind = kind;
        eachField(*this, *made);
        node = made;
      });
    } else {
      Node *made = ast_.make(Node{});
      eachField(*this, *made);
      node = made;
    }
  }
  template <typename Record>
  requires(std::is_class_v<Record>) void get(Record &record) { eachField(*this, record); }

  StringRef rest_;
  uint16_t file_;
  Ast &ast_;
};

} // namespace

std::string serializeAst(const Ast &ast) {
  AstWriter writer;
  eachField(writer, ast);
  return std::move(writer.bytes);
}

std::unique_ptr<Ast> deserializeAst(StringRef bytes, uint16_t file) {
  auto ast = std::make_unique<Ast>();
  AstReader reader(bytes, file, *ast);
  eachField(reader, *ast);
  assert(reader.atEnd());
  return ast;
}

} // namespace colldsl
