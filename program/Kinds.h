/// The vocabulary of the checked program, as tables: the types of values, and the kinds of
/// expressions, statements and built-in functions, with what each takes and yields. The rows are
/// in the .def files beside this one; the analysis, the check of loaded programs, the lowering, the
/// evaluation and docs/language.md expand them.
#pragma once

#include "program/Code.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace colldsl {

enum class ValueType : uint8_t {
#define COLLDSL_TYPE(Name, spelling, description) Name,
#include "program/Types.def"
};
inline constexpr unsigned kValueTypes = static_cast<unsigned>(ValueType::Slices) + 1;

/// Int slots hold ints by value, and lists, strings, trees, graphs, edges and groups by handle.
constexpr bool livesInIntSlot(ValueType v) { return v < ValueType::Slice; }

/// The type whose values look the same in memory: Int for all that are numbers of some kind.
constexpr ValueType representation(ValueType v) {
  return v <= ValueType::Time ? ValueType::Int : v;
}

/// The entry in a row of the tables for an operand, or for the result of an expression: a value of
/// a type, or one of the names below. An operand is an ExprId unless said otherwise.
enum class Operand : uint8_t {
#define COLLDSL_TYPE(Name, spelling, description) Name,
#include "program/Types.def"
  None,        ///< there is none: kNoExpr
  MaybeInt,    ///< yields an int or none
  MaybeRank,   ///< yields a rank or none
  OptionalInt, ///< may be kNoExpr, as the two that follow
  OptionalReduction,
  OptionalGroup,
  Own,           ///< of the type that the expression has itself, at most a slice
  Comparable,    ///< an int or a reduction
  First,         ///< of the type of the first operand
  Value,         ///< anything that lives in a slot
  SliceOrSlices, ///< one slice, or a list of slices
  Carried,       ///< the slices of a message, or kNoExpr of one without bytes
  Peer,          ///< an int, or the edge that a message goes along
  Iterable,      ///< what a loop runs over; each value goes to the slot
  // Lists: [begin, begin + count) of Program::operands. In an expression begin is `a` and count
  // is `b`, as plain numbers.
  Count,
  IntArgs,
  SliceArgs,   ///< each one slice, or a list of slices
  BuiltinArgs, ///< of the built-in function
  CalleeArgs,  ///< one per parameter of the declaration; kNoExpr: its default
  PartArgs,   ///< {slice, lo, hi or kNoExpr, count}: part(b, lo of count), part(b, lo..hi of count)
  Statements, ///< StmtIds
  Labels,     ///< into Program::labels instead
  Invariants, ///< into Program::ensures instead, of a loop
};

constexpr bool isList(Operand o) { return o > Operand::Count; }

/// The type of what an expression yields; not of Own.
constexpr ValueType typeOf(Operand yields) {
  return yields == Operand::MaybeInt    ? ValueType::Int
         : yields == Operand::MaybeRank ? ValueType::Rank
                                        : static_cast<ValueType>(yields);
}
constexpr bool maybeNone(Operand yields) {
  return yields == Operand::MaybeInt || yields == Operand::MaybeRank;
}

enum class DeclKind : uint8_t { Collective, Tree, Graph, Function };
inline constexpr unsigned kDeclKinds = static_cast<unsigned>(DeclKind::Function) + 1;

/// The meaning of the field `value` of an expression or statement.
enum class ValueUse : uint8_t {
  None,      ///< nothing
  Literal,   ///< the value; of a reduction its number
  Level,     ///< of the machine
  Direction, ///< 0 out, 1 in
  Closed,    ///< 1: the end of the range is in it
  Multicast, ///< 1: it is one
  String,    ///< index into Program::strings
  Temp,      ///< index into Program::temps
  Aggregate,
  Builtin,
  Collective, ///< a DeclId of that kind, as the three that follow
  Tree,
  Graph,
  Function,
};

constexpr bool isCallee(ValueUse use) { return use >= ValueUse::Collective; }
constexpr DeclKind calleeKind(ValueUse use) {
  return static_cast<DeclKind>(static_cast<unsigned>(use) -
                               static_cast<unsigned>(ValueUse::Collective));
}

/// The meaning of the field `slot` of an expression or statement.
enum class SlotUse : uint8_t {
  None,  ///< kNoSlot
  Int,   ///< an int slot that is read
  Slice, ///< a slice slot that is read
  Size,  ///< a size slot that is read
  Loop,  ///< written: each value of the Iterable
  Rank,  ///< written: each rank of the group, before the operands are evaluated
  Value, ///< written: the value of a
  Temp,  ///< written: a new buffer
};

enum class Builtin : uint8_t {
#define COLLDSL_BUILTIN(Name, ...) Name,
#include "program/Builtins.def"
};
inline constexpr unsigned kBuiltinKinds = 0
#define COLLDSL_BUILTIN(...) +1
#include "program/Builtins.def"
    ;

enum class Aggregate : uint8_t {
#define COLLDSL_AGGREGATE(Name, ...) Name,
#include "program/Builtins.def"
};
inline constexpr unsigned kAggregateKinds = static_cast<unsigned>(Aggregate::Count) + 1;

enum class ExprKind : uint8_t {
#define COLLDSL_EXPR(Name, ...) Name,
#include "program/Exprs.def"
};
inline constexpr unsigned kExprKinds = static_cast<unsigned>(ExprKind::SliceComprehension) + 1;

enum class StmtKind : uint8_t {
#define COLLDSL_STMT(Name, ...) Name,
#include "program/Stmts.def"
};
inline constexpr unsigned kStmtKinds = static_cast<unsigned>(StmtKind::Edge) + 1;

struct BuiltinInfo {
  std::string_view usage;
  unsigned least, most; ///< arguments
  ValueType first;      ///< type of the first argument; the others are ints
  Operand result;
  Opcode opcode;
};

struct ExprInfo {
  std::string_view usage; ///< empty: it has no word or operator of its own
  Operand result;
  ValueUse value;
  SlotUse slot;
  std::array<Operand, 3> operands; ///< a, b, c
  Opcode opcode;                   ///< Move: its kind alone says how it is lowered

  constexpr unsigned numOperands() const {
    unsigned count = 0;
    while (count < 3 && operands[count] != Operand::None)
      ++count;
    return count;
  }
};

/// The declarations whose bodies may hold a statement: of one kind, or all that have bodies.
enum class StmtPlace : uint8_t { Collective, Tree, Graph, Anywhere };
constexpr bool canStandIn(StmtPlace place, DeclKind kind) {
  return place == StmtPlace::Anywhere || static_cast<DeclKind>(place) == kind;
}

struct StmtInfo {
  std::string_view word; ///< what messages call it
  StmtPlace where;
  ValueUse value;
  SlotUse slot;
  std::array<Operand, 4> operands; ///< a, b, c, d
  Operand list;
  unsigned bodies;
  bool mayHaveLabel;
};

inline constexpr unsigned kAnyNumber = UINT32_MAX; ///< of arguments

inline constexpr BuiltinInfo kBuiltins[] = {
#define COLLDSL_BUILTIN(Name, usage, least, most, first, result, opcode, summary)                  \
  {usage, least, most, ValueType::first, Operand::result, Opcode::opcode},
#include "program/Builtins.def"
};

inline constexpr ExprInfo kExprs[] = {
#define COLLDSL_EXPR(Name, usage, result, value, slot, a, b, c, opcode, summary)                   \
  {usage,                                                                                          \
   Operand::result,                                                                                \
   ValueUse::value,                                                                                \
   SlotUse::slot,                                                                                  \
   {Operand::a, Operand::b, Operand::c},                                                           \
   Opcode::opcode},
#include "program/Exprs.def"
};

inline constexpr StmtInfo kStmts[] = {
#define COLLDSL_STMT(Name, word, where, value, slot, a, b, c, d, list, bodies, label)              \
  {word,                                                                                           \
   StmtPlace::where,                                                                               \
   ValueUse::value,                                                                                \
   SlotUse::slot,                                                                                  \
   {Operand::a, Operand::b, Operand::c, Operand::d},                                               \
   Operand::list,                                                                                  \
   bodies,                                                                                         \
   label},
#include "program/Stmts.def"
};

constexpr const BuiltinInfo &infoOf(Builtin b) { return kBuiltins[static_cast<unsigned>(b)]; }
constexpr const ExprInfo &infoOf(ExprKind kind) { return kExprs[static_cast<unsigned>(kind)]; }
constexpr const StmtInfo &infoOf(StmtKind kind) { return kStmts[static_cast<unsigned>(kind)]; }

/// The word in a usage: `ctz` of "ctz(x)", `parent` of ".parent".
constexpr std::string_view wordOf(std::string_view usage) {
  if (!usage.empty() && usage[0] == '.')
    usage.remove_prefix(1);
  return usage.substr(0, usage.find('('));
}

/// Calls visit(kind, alternative, value) for each way to write each kind of expression that has
/// one: of ".out|.in" the second has value 1.
template <typename Visit> constexpr void forEachUsage(Visit visit) {
  for (unsigned kind = 0; kind < kExprKinds; ++kind) {
    std::string_view rest = kExprs[kind].usage;
    for (int64_t value = 0; !rest.empty(); ++value) {
      size_t end = rest.find('|');
      visit(static_cast<ExprKind>(kind), rest.substr(0, end), value);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
  }
}

} // namespace colldsl
