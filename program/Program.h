/// The checked program: what the compiler makes of the sources, names resolved and
/// types known. Flat arrays of plain records, so that it is stored in schedule
/// libraries and instantiated at run time without the compiler.
///
/// Everything a body computes lives in the slots of a frame, one frame per
/// execution of a declaration:
///   * int slots hold Int, Bool, Rank, Bytes and Time values (none is kNone), and
///     handles of Reduction, IntList, String, Tree, Graph, Edge and Group values;
///   * slice slots hold Slice values: buffers, and `let` and `for` names of slices;
///   * size slots hold the size symbols of buffer dimensions (`n` of T[n]).
/// Each kind is numbered from 0 in each declaration. Parameters take the first
/// slots, in order; every `let`, `for` and comprehension name has one of its own.
#pragma once

#include "ir/Result.h"
#include "ir/Vocabulary.h"
#include "program/Kinds.h"
#include "topology/Topology.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl {

enum class ExprId : uint32_t {};
enum class StmtId : uint32_t {};
enum class DeclId : uint32_t {};
inline constexpr ExprId kNoExpr{0xffffffffu};
inline constexpr StmtId kNoStmt{0xffffffffu};
inline constexpr DeclId kNoDecl{0xffffffffu};
inline constexpr uint32_t kNoSlot = 0xffffffffu;
constexpr uint32_t index(ExprId e) { return static_cast<uint32_t>(e); }
constexpr uint32_t index(StmtId s) { return static_cast<uint32_t>(s); }
constexpr uint32_t index(DeclId d) { return static_cast<uint32_t>(d); }

/// `none` in an int slot. No arithmetic yields it: overflow is an error.
inline constexpr int64_t kNone = INT64_MIN;

/// An expression. The row of its kind in Exprs.def says what the fields are; unused ids are
/// kNoExpr.
struct Expr {
  ExprKind kind = ExprKind::IntLit;
  ValueType type = ValueType::Int;
  uint32_t slot = kNoSlot;
  ExprId a = kNoExpr, b = kNoExpr, c = kNoExpr;
  DeclId owner = kNoDecl; ///< whose frame it is evaluated in
  int64_t value = 0;
  SourceLoc loc;
};

/// A statement. The row of its kind in Stmts.def says what the fields are.
struct Stmt {
  StmtKind kind = StmtKind::Block;
  OpKind op = OpKind::Send; ///< Message: Send, Recv, Signal or Wait
  Side side = Side::After;  ///< of the incoming operand: Combine, and Recv with a reduction
  bool alongEdge = false;   ///< Message: b is an edge, not a peer
  bool sliceSlot = false;   ///< Let, For: slot is a slice slot
  uint32_t slot = kNoSlot;
  uint32_t label = kNoSlot; ///< index into Program::labels, or kNoSlot
  ExprId a = kNoExpr, b = kNoExpr, c = kNoExpr, d = kNoExpr;
  StmtId body = kNoStmt, otherwise = kNoStmt;
  /// Block, Call, For: into operands; Depend: labels[listBegin] waits for those behind it.
  uint32_t listBegin = 0, listCount = 0;
  int64_t value = 0; ///< Depend: 0 requires, 1 irequires; For: its name, in Program::strings
  SourceLoc loc;
};

/// A label as written: `s[k - 1]`. name numbers the labels of one declaration.
struct LabelRef {
  uint32_t name = 0;
  uint32_t indexBegin = 0; ///< ExprIds in Program::operands
  uint32_t indexCount = 0;
  uint32_t text = 0; ///< its name, in Program::strings
  SourceLoc loc;
};

enum class DimKind : uint8_t {
  Fixed,    ///< expr
  Symbol,   ///< a size symbol, bound here or by an earlier parameter: slot
  Counts,   ///< an IntList, one length per block: expr
  CallTime, ///< *
  Capacity, ///< <= expr (which may be a SizeSymbol)
};
inline constexpr unsigned kDimKinds = static_cast<unsigned>(DimKind::Capacity) + 1;

struct Dim {
  DimKind kind = DimKind::Fixed;
  ExprId expr = kNoExpr;   ///< also set for Symbol: a SizeSymbol expression
  uint32_t slot = kNoSlot; ///< Symbol, and Capacity that introduces one: size slot
};

/// T[d1] or T[d1][d2]. In T[d1][d2] d1 is Fixed or Symbol.
struct BufferType {
  bool generic = true; ///< of the type variable; else of `type`
  ElementType type = ElementType::I32;
  uint32_t dims = 1;
  Dim dim[2];
};

/// One value, or a range: of ints, or of trees or graphs whose arguments run from
/// those of lo to those of hi.
struct Candidate {
  ExprId lo = kNoExpr; ///< or the value
  ExprId hi = kNoExpr;
};

struct Param {
  uint32_t name = 0; ///< in Program::strings
  bool isBuffer = false;
  BufferRole role = BufferRole::In;
  BufferType buffer;
  ExprId significantAt = kNoExpr; ///< `at root`
  ValueType type = ValueType::Int;
  bool isGlobal = false;             ///< `global graph`
  uint32_t slot = 0;                 ///< slice slot of a buffer, int slot of a value
  ExprId defaultValue = kNoExpr;     ///< may use `rank`, `ranks` and earlier parameters
  std::vector<Candidate> candidates; ///< in order; a single pair with hi set is an interval
  SourceLoc loc;
};

enum class EnsureKind : uint8_t {
  Equal,       ///< target == operand [@ rank]
  EqualReduce, ///< target == reduce(reduction, for slot in iterable if condition: operand @ rank)
  ForEach,     ///< for slot in iterable if condition: inner
  At,          ///< at condition: inner
  Synchronizes,
  Cost, ///< slot, a Cost, is at most operand, an int
};
inline constexpr unsigned kEnsureKinds = static_cast<unsigned>(EnsureKind::Cost) + 1;

/// A postcondition, or a `for` or `at` around one. A Cost uses kind, slot, operand and loc alone.
struct EnsureNode {
  EnsureKind kind = EnsureKind::Equal;
  ExprId target = kNoExpr, operand = kNoExpr, rank = kNoExpr; ///< rank kNoExpr: this one's
  ExprId reduction = kNoExpr;
  uint32_t slot = kNoSlot;
  ExprId iterable = kNoExpr, condition = kNoExpr;
  uint32_t inner = kNoSlot; ///< index into Program::ensures
  SourceLoc loc;
};

/// `x aliases y[rank]`: a form that a caller may choose.
struct AliasClause {
  uint32_t param = 0;     ///< index into Decl::params: x
  ExprId slice = kNoExpr; ///< where it lies
  SourceLoc loc;
};

struct Decl {
  DeclKind kind = DeclKind::Collective;
  uint32_t name = 0; ///< in Program::strings
  uint32_t doc = 0;  ///< its doc comment, lines joined, in Program::strings
  bool deterministic = false;
  std::vector<Param> params;
  std::vector<ExprId> requirements; ///< `where`
  std::vector<uint32_t> ensures;    ///< roots, into Program::ensures
  std::vector<AliasClause> aliases;
  StmtId body = kNoStmt;   ///< collectives, trees, graphs
  ExprId result = kNoExpr; ///< functions
  uint32_t intSlots = 0, sliceSlots = 0, sizeSlots = 0;
  std::vector<uint32_t> sizeNames; ///< of size slots, in Program::strings
  SourceLoc loc;
};

/// A value for a parameter of a collective that was given from outside, in the
/// language's own expressions. It sees no other parameter.
struct GivenArgument {
  DeclId decl = kNoDecl;
  uint32_t param = 0; ///< index into Decl::params
  ExprId value = kNoExpr;
};

class Program {
public:
  std::vector<Decl> decls;
  std::vector<Expr> exprs;
  std::vector<Stmt> stmts;
  std::vector<uint32_t> operands; ///< lists of ExprIds and StmtIds
  std::vector<LabelRef> labels;
  std::vector<BufferType> temps;
  std::vector<uint32_t> tempNames; ///< parallel to temps, in strings
  std::vector<EnsureNode> ensures;
  std::vector<GivenArgument> arguments;
  std::vector<std::string> strings;
  std::vector<std::string> files; ///< see SourceLoc::file
  Code code;                      ///< made of the rest by lower()

  const Expr &expr(ExprId id) const { return exprs[index(id)]; }
  const Stmt &stmt(StmtId id) const { return stmts[index(id)]; }
  const Decl &decl(DeclId id) const { return decls[index(id)]; }
  const std::string &nameOf(const Decl &d) const { return strings[d.name]; }
  const std::string &nameOf(const Param &p) const { return strings[p.name]; }

  /// The statement of a postcondition, within its `for` and `at`.
  const EnsureNode &statementOf(uint32_t ensure) const {
    const EnsureNode *node = &ensures[ensure];
    while (node->inner != kNoSlot)
      node = &ensures[node->inner];
    return *node;
  }

  /// The declaration of that name and kind; later ones shadow earlier ones.
  DeclId find(std::string_view name, DeclKind kind) const;
};

} // namespace colldsl
