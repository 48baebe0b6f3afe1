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
#include "program/Code.h"
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

enum class ValueType : uint8_t {
  Int,
  Bool,
  Rank,
  Bytes,
  Time,
  Reduction, // int slots, by value
  IntList,
  String,
  Tree,
  Graph,
  Edge,
  Group, // int slots, by handle
  Slice, // slice slots
  Range,
  Edges,
  Slices, // only iterated or sent, never in a slot
};
inline constexpr unsigned kValueTypes = static_cast<unsigned>(ValueType::Slices) + 1;

enum class Builtin : uint8_t {
  Ctz,
  Popcount,
  BitReverse,
  Log2,
  CeilLog2,
  Pow2Floor,
  Abs, // (x) or (x, bits)
  Min,
  Max, // (a, b, ...)
  Shift,
  ShiftOpen, // (dims, d, delta)
  SumList,
  ProductList, // (list)
};
inline constexpr unsigned kBuiltinKinds = static_cast<unsigned>(Builtin::ProductList) + 1;

enum class Aggregate : uint8_t { Sum, Product, Min, Max, Count };
inline constexpr unsigned kAggregateKinds = static_cast<unsigned>(Aggregate::Count) + 1;

/// A list operand is given as [begin, begin + count) of Program::operands.
/// Expr ids in a, b, c unless said otherwise; unused ones are kNoExpr.
enum class ExprKind : uint8_t {
  // Int-like
  IntLit,     ///< value (also Bool, Bytes, Time, none, a Reduction's number)
  LocalInt,   ///< slot: any value that lives in an int slot, by its type
  MyRank,     ///< `rank`, in the numbering of the current group
  NumRanks,   ///< `ranks`
  SizeSymbol, ///< slot of a size symbol; as an int it pins the size class
  Negate,
  Not, ///< a
  Add,
  Sub,
  Mul,
  Div,
  Mod, ///< a, b; Euclidean / and %; overflow is an error
  ShiftLeft,
  ShiftRight,
  Xor, ///< a, b
  And,
  Or, ///< a, b; b only if needed
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,           ///< a, b; Eq and Ne take none
  Select,       ///< a ? b : c; any type but Slice lists
  NotNone,      ///< a; an error at run time if it is none; around a possibly-none value used in
                ///< arithmetic
  CallBuiltin,  ///< value = Builtin; operands list (a = begin, b = count as raw numbers)
  CallFunction, ///< value = DeclId; operands list likewise, one per parameter (defaults filled in)
  Aggregation, ///< value = Aggregate; slot = loop name; a = iterable, b = condition or kNoExpr, c =
               ///< body
  ListElement, ///< a[b] of an IntList
  ListLength,  ///< length(a) of an IntList
  TreeRoot,
  TreeParent,  ///< a = tree; parent is none at the root
  GraphDegree, ///< a = graph; value 0 = out, 1 = in
  EdgeSlot,
  EdgePeer,
  EdgePeerSlot,
  EdgeWeight,
  EdgeKey, ///< a = edge
  GroupSize,
  GroupRank,     ///< a = group; GroupRank is none for non-members
  GroupMember,   ///< a = group, b = index
  GroupContains, ///< a = group, b = rank
  Leader,        ///< value = Level; a = include or kNoExpr, b = index or kNoExpr
  IsCommutative, ///< a = reduction
  // IntList
  ListLiteral,       ///< operands list (a = begin, b = count as raw numbers)
  ListComprehension, ///< slot = loop name; a = iterable, b = condition or kNoExpr, c = element
  TreeChildren,      ///< a = tree
  TreeSubtree,       ///< a = tree, b = rank: that rank and all below it, ascending
  // String
  StringLit, ///< value = index into Program::strings
  // Tree, Graph
  MakeTree,
  MakeGraph, ///< value = DeclId; operands list, one per parameter
  TreeAt,
  GraphAt,   ///< a = tree or graph, b = rank: as that rank sees it
  EdgesFile, ///< a = String: an edge list file
  // Group
  GroupOf,      ///< value = Level
  GroupWhere,   ///< slot = rank name; a = condition, evaluated for each rank of the current group
  GroupSplit,   ///< slot = rank name; a = color; the group of this rank's color (none: no group)
  GroupLeaders, ///< value = Level; a = include or kNoExpr
  // Iterables (besides IntList)
  RangeOf,  ///< a .. b; value 1 if b is included
  EdgesOf,  ///< a = graph; value 0 = out, 1 = in
  Segments, ///< a = slice, b = bytes
  // Slice
  LocalSlice, ///< slot
  Block,      ///< a = two-dimensional slice, b = index
  Blocks,     ///< a = two-dimensional slice, b = lo, c = hi
  Elements,   ///< a = one-dimensional slice, b = lo, c = hi (kNoExpr: the single element b)
  Part, ///< operands list {slice, lo, hi or kNoExpr, count}: part(b, lo of count), part(b, lo..hi
        ///< of count)
  // Slices: lists sent as one message
  SliceList,          ///< operands list of Slice or Slices expressions
  SliceComprehension, ///< slot = loop name (int, edge: int slot); a = iterable, b = condition or
                      ///< kNoExpr, c = slice
};
inline constexpr unsigned kExprKinds = static_cast<unsigned>(ExprKind::SliceComprehension) + 1;

/// How many of a, b, c a kind uses; the others are kNoExpr.
constexpr unsigned numOperands(ExprKind kind) {
  switch (kind) {
  case ExprKind::IntLit:
  case ExprKind::LocalInt:
  case ExprKind::MyRank:
  case ExprKind::NumRanks:
  case ExprKind::SizeSymbol:
  case ExprKind::StringLit:
  case ExprKind::GroupOf:
  case ExprKind::LocalSlice:
    return 0;
  case ExprKind::Negate:
  case ExprKind::Not:
  case ExprKind::NotNone:
  case ExprKind::ListLength:
  case ExprKind::TreeRoot:
  case ExprKind::TreeParent:
  case ExprKind::GraphDegree:
  case ExprKind::EdgeSlot:
  case ExprKind::EdgePeer:
  case ExprKind::EdgePeerSlot:
  case ExprKind::EdgeWeight:
  case ExprKind::EdgeKey:
  case ExprKind::GroupSize:
  case ExprKind::GroupRank:
  case ExprKind::IsCommutative:
  case ExprKind::TreeChildren:
  case ExprKind::EdgesFile:
  case ExprKind::GroupWhere:
  case ExprKind::GroupSplit:
  case ExprKind::GroupLeaders:
  case ExprKind::EdgesOf:
    return 1;
  case ExprKind::Add:
  case ExprKind::Sub:
  case ExprKind::Mul:
  case ExprKind::Div:
  case ExprKind::Mod:
  case ExprKind::ShiftLeft:
  case ExprKind::ShiftRight:
  case ExprKind::Xor:
  case ExprKind::And:
  case ExprKind::Or:
  case ExprKind::Eq:
  case ExprKind::Ne:
  case ExprKind::Lt:
  case ExprKind::Le:
  case ExprKind::Gt:
  case ExprKind::Ge:
  case ExprKind::CallBuiltin:
  case ExprKind::CallFunction:
  case ExprKind::ListElement:
  case ExprKind::GroupMember:
  case ExprKind::GroupContains:
  case ExprKind::Leader:
  case ExprKind::ListLiteral:
  case ExprKind::TreeSubtree:
  case ExprKind::MakeTree:
  case ExprKind::MakeGraph:
  case ExprKind::TreeAt:
  case ExprKind::GraphAt:
  case ExprKind::RangeOf:
  case ExprKind::Segments:
  case ExprKind::Block:
  case ExprKind::Part:
  case ExprKind::SliceList:
    return 2;
  case ExprKind::Select:
  case ExprKind::Aggregation:
  case ExprKind::ListComprehension:
  case ExprKind::Blocks:
  case ExprKind::Elements:
  case ExprKind::SliceComprehension:
    return 3;
  }
  __builtin_unreachable();
}

struct Expr {
  ExprKind kind = ExprKind::IntLit;
  ValueType type = ValueType::Int;
  uint32_t slot = kNoSlot;
  ExprId a = kNoExpr, b = kNoExpr, c = kNoExpr;
  DeclId owner = kNoDecl; ///< whose frame it is evaluated in
  int64_t value = 0;
  SourceLoc loc;
};

enum class StmtKind : uint8_t {
  Block,   ///< statements: operands list of StmtIds (listBegin, listCount)
  Let,     ///< slot (int or slice, by a's type) = a
  Temp,    ///< slice slot = a fresh buffer of Program::temps[value]
  For,     ///< slot (int or slice, by what a yields) over iterable a; body
  If,      ///< a ? body : otherwise (may be kNoStmt)
  Message, ///< op = Send, Recv, Signal, Wait; a = slices or kNoExpr; b = peer, or edge if
           ///< alongEdge; c = tag or kNoExpr; d = reduction or kNoExpr (Recv: combine with side);
           ///< value = 1: multicast
  Copy,    ///< a = source, b = target
  Combine, ///< a = source, b = target, d = reduction, side
  Calc,    ///< a = time in nanoseconds
  Depend,  ///< labels[listBegin] waits for labels[listBegin + 1 ..): value 0 = requires, 1 =
           ///< irequires
  Call, ///< value = DeclId of a collective; operands list, one ExprId per parameter, kNoExpr = its
        ///< default, evaluated by the callee; a = group or kNoExpr
  Parent,
  Child, ///< a = rank; trees only
  Edge,  ///< a = peer, b = key or kNoExpr, c = weight or kNoExpr; value 0 = to, 1 = from; graphs
         ///< only
};
inline constexpr unsigned kStmtKinds = static_cast<unsigned>(StmtKind::Edge) + 1;

struct Stmt {
  StmtKind kind = StmtKind::Block;
  OpKind op = OpKind::Send;
  Side side = Side::After;
  bool alongEdge = false;
  bool sliceSlot = false; ///< Let, For: slot is a slice slot
  uint32_t slot = kNoSlot;
  uint32_t label = kNoSlot; ///< index into Program::labels, or kNoSlot
  ExprId a = kNoExpr, b = kNoExpr, c = kNoExpr, d = kNoExpr;
  StmtId body = kNoStmt, otherwise = kNoStmt;
  uint32_t listBegin = 0, listCount = 0; ///< Block, Call: into operands; Depend: into labels
  int64_t value = 0;
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
};
inline constexpr unsigned kEnsureKinds = static_cast<unsigned>(EnsureKind::Synchronizes) + 1;

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

enum class DeclKind : uint8_t { Collective, Tree, Graph, Function };
inline constexpr unsigned kDeclKinds = static_cast<unsigned>(DeclKind::Function) + 1;

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

  /// The declaration of that name and kind; later ones shadow earlier ones.
  DeclId find(std::string_view name, DeclKind kind) const;
};

} // namespace colldsl
