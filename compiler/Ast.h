/// The syntax tree of a text, with names not yet resolved. Nodes are plain, allocated in their
/// Ast's arena and never freed alone; pointers to them and the strings in them live as long as the
/// Ast. Child pointers are null only where a comment says so. Depth is bounded by ParseLimits, so
/// recursion over it is safe.
#pragma once

#include "ir/Ids.h"
#include "ir/Vocabulary.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"

#include <utility>

namespace colldsl::ast {

using llvm::ArrayRef;
using llvm::StringRef;

/// A name where it is written.
struct Name {
  StringRef text;
  SourceLoc loc;
};

// Expressions

enum class ExprKind : uint8_t {
  Number,
  String,
  Literal,
  Name,
  Unary,
  Binary,
  Conditional,
  Member,
  Index,
  Call,
  List,
  ListOf,
};

/// loc is where a caret points best: the operator of a binary expression, the
/// beginning of the others.
struct Expr {
  ExprKind kind;
  SourceLoc loc;
};

enum class Unit : uint8_t { None, Bytes, Time };

struct NumberExpr : Expr {
  int64_t value; ///< in bytes or nanoseconds if it has a unit
  Unit unit;
  static bool classof(const Expr *e) { return e->kind == ExprKind::Number; }
};

struct StringExpr : Expr {
  StringRef value;
  static bool classof(const Expr *e) { return e->kind == ExprKind::String; }
};

enum class Literal : uint8_t { True, False, None };

struct LiteralExpr : Expr {
  Literal value;
  static bool classof(const Expr *e) { return e->kind == ExprKind::Literal; }
};

struct NameExpr : Expr {
  StringRef name;
  static bool classof(const Expr *e) { return e->kind == ExprKind::Name; }
};

enum class UnaryOp : uint8_t { Negate, Plus, Not };

struct UnaryExpr : Expr {
  UnaryOp op;
  const Expr *operand;
  static bool classof(const Expr *e) { return e->kind == ExprKind::Unary; }
};

enum class BinaryOp : uint8_t {
  At,
#define COLLDSL_BINARY(Name, ...) Name,
#include "program/Exprs.def"
};

/// "+", "and", "@": as written.
constexpr llvm::StringRef spelling(BinaryOp op) {
  constexpr llvm::StringLiteral kSpellings[] = {
      "@",
#define COLLDSL_BINARY(Name, usage, ...) usage,
#include "program/Exprs.def"
  };
  return kSpellings[static_cast<size_t>(op)];
}

struct BinaryExpr : Expr {
  BinaryOp op;
  const Expr *left;
  const Expr *right;
  static bool classof(const Expr *e) { return e->kind == ExprKind::Binary; }
};

struct ConditionalExpr : Expr {
  const Expr *condition;
  const Expr *whenTrue;
  const Expr *whenFalse;
  static bool classof(const Expr *e) { return e->kind == ExprKind::Conditional; }
};

struct MemberExpr : Expr {
  const Expr *base;
  Name member;
  static bool classof(const Expr *e) { return e->kind == ExprKind::Member; }
};

/// base[index], or base[index..end].
struct IndexExpr : Expr {
  const Expr *base;
  const Expr *index;
  const Expr *end; ///< null: a single index
  static bool classof(const Expr *e) { return e->kind == ExprKind::Index; }
};

struct ListExpr : Expr {
  ArrayRef<const Expr *> elements;
  static bool classof(const Expr *e) { return e->kind == ExprKind::List; }
};

/// The values that a `for` runs over: first..last, first..=last, or a value that has elements.
struct Range {
  const Expr *first;
  const Expr *last; ///< null: the elements of first
  bool includesLast;
};

/// for name in range [if condition]
struct Iteration {
  Name name;
  Range range;
  const Expr *condition; ///< may be null
};

/// iteration : element
struct Comprehension {
  Iteration iteration;
  const Expr *element;
};

struct ListOfExpr : Expr {
  Comprehension comprehension;
  static bool classof(const Expr *e) { return e->kind == ExprKind::ListOf; }
};

enum class ArgumentKind : uint8_t {
  Plain,         ///< value
  Named,         ///< name = value
  Choice,        ///< name : value, a value for each rank, as in where(r: r % 2 == 0)
  Range,         ///< value .. last
  Part,          ///< value of count, or value .. last of count
  Comprehension, ///< iteration : value
};

struct Argument {
  ArgumentKind kind;
  SourceLoc loc;
  const Expr *value;
  Name name = {};                       ///< Named, Choice
  const Expr *last = nullptr;           ///< Range, Part
  const Expr *count = nullptr;          ///< Part
  const Iteration *iteration = nullptr; ///< Comprehension
};

struct CallExpr : Expr {
  const Expr *callee;
  ArrayRef<Argument> arguments;
  static bool classof(const Expr *e) { return e->kind == ExprKind::Call; }
};

// Types and parameters

enum class DimensionKind : uint8_t {
  Size,     ///< [expr]
  CallTime, ///< [*]
  Capacity, ///< [<= expr]
  Open,     ///< []
};

struct Dimension {
  DimensionKind kind;
  SourceLoc loc;
  const Expr *size; ///< Size, Capacity; else null
};

struct Type {
  Name name;
  ArrayRef<Dimension> dimensions;
};

/// lo..hi, or {a, b, c}.
struct Candidates {
  const Expr *lo = nullptr; ///< null: a list
  const Expr *hi = nullptr;
  ArrayRef<const Expr *> list;
  SourceLoc loc;
};

struct Parameter {
  Name name;
  bool isBuffer;   ///< else a value
  BufferRole role; ///< of a buffer
  Type type;
  const Expr *significantAt;    ///< of a buffer; may be null
  bool isGlobal;                ///< of a value, as the following
  const Expr *defaultValue;     ///< may be null
  const Candidates *candidates; ///< may be null
};

// Statements

enum class StmtKind : uint8_t {
  Let,
  Temp,
  For,
  If,
  Tree,
  Edge,
  Order,
  Message,
  Copy,
  Combine,
  Calc,
  Call,
};

struct Stmt {
  StmtKind kind;
  SourceLoc loc;
};

using Block = ArrayRef<const Stmt *>;

struct LetStmt : Stmt {
  Name name;
  const Expr *value;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Let; }
};

struct TempStmt : Stmt {
  Name name;
  Type type;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Temp; }
};

struct Postcondition;

struct ForStmt : Stmt {
  Name name;
  Range range;
  ArrayRef<const Postcondition *> invariants;
  Block body;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::For; }
};

struct IfArm {
  const Expr *condition;
  Block body;
};

/// if, else if, else if ...: the first arm that holds, or otherwise.
struct IfStmt : Stmt {
  ArrayRef<IfArm> arms;
  Block otherwise; ///< empty without `else`
  static bool classof(const Stmt *s) { return s->kind == StmtKind::If; }
};

/// `parent rank;` or `child rank;`
struct TreeStmt : Stmt {
  bool isParent;
  const Expr *rank;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Tree; }
};

/// `edge to peer;` or `edge from peer;`
struct EdgeStmt : Stmt {
  bool isOut;
  const Expr *peer;
  const Expr *key;    ///< may be null
  const Expr *weight; ///< may be null
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Edge; }
};

/// s[k - 1]
struct Label {
  Name name;
  ArrayRef<const Expr *> indices;
};

/// `waiting requires first, second;`
struct OrderStmt : Stmt {
  bool onStart; ///< irequires
  Label waiting;
  ArrayRef<Label> awaited;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Order; }
};

/// A statement that may have a label.
struct OperationStmt : Stmt {
  const Label *label; ///< may be null
  static bool classof(const Stmt *s) { return s->kind >= StmtKind::Message; }
};

/// The reduction of a combine, and where the incoming operand stands.
struct CombineHow {
  Name reduction; ///< a reduction or a parameter of that type
  Side side;
};

struct MessageStmt : OperationStmt {
  OpKind op;         ///< Send, Recv, Signal or Wait
  const Expr *slice; ///< null: Signal, Wait
  bool alongEdge;
  const Expr *peer;          ///< or the edge, if alongEdge
  const Expr *tag;           ///< may be null
  const CombineHow *combine; ///< Recv; may be null
  bool multicast;            ///< Send, Recv
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Message; }
};

struct CopyStmt : OperationStmt {
  const Expr *source;
  const Expr *target;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Copy; }
};

struct CombineStmt : OperationStmt {
  const Expr *source;
  const Expr *target;
  CombineHow how;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Combine; }
};

struct CalcStmt : OperationStmt {
  const Expr *time;
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Calc; }
};

struct CallStmt : OperationStmt {
  Name callee;
  ArrayRef<Argument> arguments;
  const Expr *group; ///< may be null
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Call; }
};

// Declarations

enum class PostconditionKind : uint8_t { Synchronizes, For, At, Value };

struct Postcondition {
  PostconditionKind kind;
  SourceLoc loc;
};

struct SynchronizesPostcondition : Postcondition {
  static bool classof(const Postcondition *p) { return p->kind == PostconditionKind::Synchronizes; }
};

struct ForPostcondition : Postcondition {
  Iteration iteration;
  const Postcondition *inner;
  static bool classof(const Postcondition *p) { return p->kind == PostconditionKind::For; }
};

struct AtPostcondition : Postcondition {
  const Expr *condition;
  const Postcondition *inner;
  static bool classof(const Postcondition *p) { return p->kind == PostconditionKind::At; }
};

/// target == value
struct ValuePostcondition : Postcondition {
  const Expr *equation;
  static bool classof(const Postcondition *p) { return p->kind == PostconditionKind::Value; }
};

enum class ClauseKind : uint8_t { Where, Ensures, Aliases };

struct Clause {
  ClauseKind kind;
  SourceLoc loc;
};

struct WhereClause : Clause {
  const Expr *condition;
  static bool classof(const Clause *c) { return c->kind == ClauseKind::Where; }
};

struct EnsuresClause : Clause {
  const Postcondition *postcondition;
  static bool classof(const Clause *c) { return c->kind == ClauseKind::Ensures; }
};

struct AliasesClause : Clause {
  Name parameter;
  const Expr *slice;
  static bool classof(const Clause *c) { return c->kind == ClauseKind::Aliases; }
};

enum class DeclKind : uint8_t { Function, Structure, Collective };

struct Decl {
  DeclKind kind;
  SourceLoc loc;
  Name name;
  StringRef doc; ///< lines joined by newlines, without the slashes and the first blank
  ArrayRef<Parameter> parameters;
};

struct FunctionDecl : Decl {
  const Expr *result;
  static bool classof(const Decl *d) { return d->kind == DeclKind::Function; }
};

/// A tree or a graph.
struct StructureDecl : Decl {
  bool isTree;
  Block body;
  static bool classof(const Decl *d) { return d->kind == DeclKind::Structure; }
};

struct CollectiveDecl : Decl {
  bool deterministic;
  ArrayRef<const Clause *> clauses;
  Block body;
  static bool classof(const Decl *d) { return d->kind == DeclKind::Collective; }
};

struct Import {
  StringRef path;
  SourceLoc loc; ///< of the string
};

} // namespace colldsl::ast

namespace colldsl {

/// One file's tree, with the arena that holds it.
class Ast {
public:
  llvm::ArrayRef<ast::Import> imports;
  llvm::ArrayRef<const ast::Decl *> decls; ///< in the order of the text

  template <typename T> T *make(T node) { return new (arena_.Allocate<T>()) T(std::move(node)); }
  llvm::StringRef copy(llvm::StringRef text) { return text.copy(arena_); }
  template <typename T> llvm::ArrayRef<T> copy(llvm::ArrayRef<T> list) { return list.copy(arena_); }

private:
  llvm::BumpPtrAllocator arena_;
};

} // namespace colldsl
