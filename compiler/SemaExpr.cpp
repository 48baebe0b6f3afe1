// Expressions other than calls.
#include "compiler/ForeignWords.h"
#include "compiler/SemaImpl.h"
#include "compiler/Spelling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

namespace colldsl {

using ast::BinaryExpr;
using ast::BinaryOp;
using ast::CallExpr;
using ast::Comprehension;
using ast::ConditionalExpr;
using ast::IndexExpr;
using ast::ListExpr;
using ast::ListOfExpr;
using ast::Literal;
using ast::LiteralExpr;
using ast::MemberExpr;
using ast::Name;
using ast::NameExpr;
using ast::NumberExpr;
using ast::Range;
using ast::StringExpr;
using ast::UnaryExpr;
using ast::UnaryOp;
using ast::Unit;
using llvm::cast;
using llvm::dyn_cast;
using llvm::StringRef;

namespace {

constexpr auto kInt = ValueType::Int;

Type intType() { return Type::of(ValueType::Int); }
Type boolType() { return Type::of(ValueType::Bool); }
Type maybeRank() { return {.value = ValueType::Rank, .maybeNone = true}; }

} // namespace

/// Bounds the stack. ParseLimits bound one expression, but declarations may use later ones, those
/// still later ones, and so on.
TypedExpr Sema::expr(const AstExpr &ast) {
  constexpr unsigned kMaxDepth = 2000;
  if (depth_ >= kMaxDepth) {
    error(ast.loc, "declarations use later ones in a chain that is too long",
          "declare what is used before it is used");
    return invalid(ast.loc);
  }
  ++depth_;
  TypedExpr result = analyseAnyKind(ast);
  --depth_;
  return result;
}

TypedExpr Sema::analyseAnyKind(const AstExpr &ast) {
  switch (ast.kind) {
  case ast::ExprKind::Number:
    return analyseNumber(cast<NumberExpr>(ast));
  case ast::ExprKind::String:
    return make(ExprKind::StringLit, Type::of(ValueType::String), ast.loc, kNoExpr, kNoExpr,
                kNoExpr, intern(cast<StringExpr>(ast).value));
  case ast::ExprKind::Literal: {
    Literal value = cast<LiteralExpr>(ast).value;
    if (value == Literal::None)
      return number(kNone, maybeRank(), ast.loc);
    return number(value == Literal::True, boolType(), ast.loc);
  }
  case ast::ExprKind::Name:
    return analyseName(cast<NameExpr>(ast));
  case ast::ExprKind::Unary:
    return analyseUnary(cast<UnaryExpr>(ast));
  case ast::ExprKind::Binary:
    return analyseBinary(cast<BinaryExpr>(ast));
  case ast::ExprKind::Conditional:
    return analyseConditional(cast<ConditionalExpr>(ast));
  case ast::ExprKind::Member:
    return analyseMember(cast<MemberExpr>(ast));
  case ast::ExprKind::Index:
    return analyseIndex(cast<IndexExpr>(ast));
  case ast::ExprKind::Call:
    return analyseCall(cast<CallExpr>(ast));
  case ast::ExprKind::List:
    return analyseList(cast<ListExpr>(ast));
  case ast::ExprKind::ListOf:
    return analyseComprehension(cast<ListOfExpr>(ast));
  }
  llvm_unreachable("all kinds are listed");
}

TypedExpr Sema::exprOf(const AstExpr &ast, ValueType wanted, const char *what) {
  TypedExpr e = expr(ast);
  if (!fits(e.type, wanted)) {
    std::string hint = wanted == ValueType::Time && isNumber(e.type.value)
                           ? "times have a unit: ns, us, ms or s"
                           : "";
    e.type = failed(ast.loc,
                    std::string(what) + ": expected " + std::string(describe(wanted)) + ", found " +
                        describe(e.type),
                    hint);
  }
  return e;
}

/// Wraps a number that may be none in a check, where a number is needed.
TypedExpr Sema::notNone(TypedExpr e) {
  if (!e.type.maybeNone || e.type.invalid)
    return e;
  Type type = e.type;
  type.maybeNone = false;
  return make(ExprKind::NotNone, type, program_.expr(e.id).loc, e.id);
}

TypedExpr Sema::analyseNumber(const NumberExpr &ast) {
  switch (ast.unit) {
  case Unit::None:
    return number(ast.value, intType(), ast.loc);
  case Unit::Bytes:
    return number(ast.value, Type::of(ValueType::Bytes), ast.loc);
  case Unit::Time:
    return number(ast.value, Type::of(ValueType::Time), ast.loc);
  }
  llvm_unreachable("all units are listed");
}

TypedExpr Sema::analyseName(const NameExpr &ast) {
  using Kind = ExprKind;
  if (const Symbol *symbol = scope_->find(ast.name)) {
    Kind kind = symbol->isSize                       ? Kind::SizeSymbol
                : livesInIntSlot(symbol->type.value) ? Kind::LocalInt
                                                     : Kind::LocalSlice;
    TypedExpr e = make(kind, symbol->type, ast.loc);
    last().slot = symbol->slot;
    noteUse(ast.loc, symbol->loc);
    return e;
  }
  if (ast.name == "rank")
    return make(Kind::MyRank, Type::of(ValueType::Rank), ast.loc);
  if (ast.name == "ranks")
    return make(Kind::NumRanks, intType(), ast.loc);
  if (auto level = parseLevel(std::string_view(ast.name)))
    return make(Kind::GroupOf, Type::of(ValueType::Group), ast.loc, kNoExpr, kNoExpr, kNoExpr,
                static_cast<int64_t>(*level));
  if (auto reduction = parseReduction(std::string_view(ast.name)))
    return number(static_cast<int64_t>(*reduction), Type::of(ValueType::Reduction), ast.loc);
  bool isDecl = findDecl(ast.name) != nullptr;
  StringRef meant = nearestWord(ast.name, scope_->names());
  if (meant.empty())
    meant = ourValueFor(ast.name);
  if (meant.empty())
    meant = nearestWord(ast.name, builtinValueNames());
  error(ast.loc,
        isDecl ? "'" + ast.name.str() + "' is declared, but not a value"
               : "unknown name '" + ast.name.str() + "'",
        isDecl ? "call it: " + ast.name.str() + "(...)"
        : meant.empty() && bindsSizes_
            ? "a buffer T[" + ast.name.str() + "] in front of this one introduces a size"
            : didYouMean(meant));
  return invalid(ast.loc);
}

TypedExpr Sema::analyseUnary(const UnaryExpr &ast) {
  if (ast.op == UnaryOp::Not) {
    TypedExpr e = exprOf(*ast.operand, ValueType::Bool, "operand of 'not'");
    return make(ExprKind::Not, boolType(), ast.loc, e.id);
  }
  TypedExpr e = expr(*ast.operand);
  if (!e.type.invalid && !isNumber(e.type.value))
    return {e.id,
            failed(ast.loc, std::string("operand of '") + (ast.op == UnaryOp::Plus ? "+" : "-") +
                                "': expected a number, found " + describe(e.type))};
  e = notNone(e);
  if (ast.op == UnaryOp::Plus)
    return e;
  return make(ExprKind::Negate, e.type.is(ValueType::Rank) ? intType() : e.type, ast.loc, e.id);
}

/// True for operators that yield a number, so that their value never depends on a rank's data or
/// graph.
static bool isArithmetic(BinaryOp op) {
  switch (op) {
  case BinaryOp::Mul:
  case BinaryOp::Div:
  case BinaryOp::Mod:
  case BinaryOp::Add:
  case BinaryOp::Sub:
  case BinaryOp::ShiftLeft:
  case BinaryOp::ShiftRight:
  case BinaryOp::Xor:
    return true;
  case BinaryOp::At:
  case BinaryOp::And:
  case BinaryOp::Or:
  case BinaryOp::Eq:
  case BinaryOp::Ne:
  case BinaryOp::Lt:
  case BinaryOp::Le:
  case BinaryOp::Gt:
  case BinaryOp::Ge:
    return false;
  }
  llvm_unreachable("all operators are listed");
}

TypedExpr Sema::analyseBinary(const BinaryExpr &ast) {
  if (ast.op == BinaryOp::At)
    return analyseAt(ast);
  if (const auto *at = dyn_cast<BinaryExpr>(ast.left);
      at && at->op == BinaryOp::At && isArithmetic(ast.op))
    return {kNoExpr,
            failed(ast.loc,
                   "'@' binds tighter than '" + spelling(ast.op).str() +
                       "', so that the rank ends before it",
                   "put the rank in parentheses: @(... " + spelling(ast.op).str() + " ...)")};
  TypedExpr a = expr(*ast.left), b = expr(*ast.right);
  if (isArithmetic(ast.op))
    return analyseArithmetic(ast, a, b);
  return ast.op == BinaryOp::And || ast.op == BinaryOp::Or ? analyseLogic(ast, a, b)
                                                           : analyseComparison(ast, a, b);
}

namespace {

ExprKind binaryKind(BinaryOp op) {
  switch (op) {
#define COLLDSL_BINARY(Name, ...)                                                                  \
  case BinaryOp::Name:                                                                             \
    return ExprKind::Name;
#include "program/Exprs.def"
  case BinaryOp::At:
    return ExprKind::GraphAt;
  }
  llvm_unreachable("all operators are listed");
}

bool plain(ValueType v) { return v == ValueType::Int || v == ValueType::Rank; }

/// Numbers with different units do not compare; ints have none and fit all but times.
bool comparable(ValueType a, ValueType b, bool equality) {
  if (isNumber(a) && isNumber(b))
    return (a == ValueType::Time) == (b == ValueType::Time);
  bool simple = a == ValueType::Bool || a == ValueType::Reduction;
  return a == b && equality && simple;
}

/// The type of a op b for numbers, or nothing if the units do not go together.
std::optional<ValueType> arithmeticType(BinaryOp op, ValueType a, ValueType b) {
  if (plain(a) && plain(b))
    return kInt;
  bool sameUnit = a == b;
  if (op == BinaryOp::Add || op == BinaryOp::Sub || op == BinaryOp::Mod)
    return sameUnit || (a == ValueType::Bytes && plain(b)) || (b == ValueType::Bytes && plain(a))
               ? std::optional(plain(a) ? b : a)
               : std::nullopt;
  if (op == BinaryOp::Mul)
    return plain(a) ? std::optional(b) : plain(b) ? std::optional(a) : std::nullopt;
  if (op == BinaryOp::Div)
    return plain(b) ? std::optional(a) : sameUnit ? std::optional(kInt) : std::nullopt;
  return plain(b) ? std::optional(a) : std::nullopt; // shifts
}

} // namespace

TypedExpr Sema::analyseLogic(const BinaryExpr &ast, TypedExpr a, TypedExpr b) {
  bool isAnd = ast.op == BinaryOp::And;
  for (const TypedExpr &e : {a, b})
    if (!fits(e.type, ValueType::Bool))
      error(ast.loc, std::string("operands of '") + (isAnd ? "and" : "or") + "' are bools, found " +
                         describe(e.type));
  return make(binaryKind(ast.op), boolType(), ast.loc, a.id, b.id);
}

TypedExpr Sema::analyseArithmetic(const BinaryExpr &ast, TypedExpr a, TypedExpr b) {
  if (a.type.invalid || b.type.invalid)
    return invalid(ast.loc);
  for (const TypedExpr &e : {a, b})
    if (!isNumber(e.type.value))
      return {a.id, failed(ast.loc, "arithmetic needs numbers, found " + describe(e.type))};
  auto type = arithmeticType(ast.op, a.type.value, b.type.value);
  if (!type)
    return {a.id,
            failed(ast.loc, "arithmetic between " + describe(a.type) + " and " + describe(b.type))};
  a = notNone(a);
  b = notNone(b);
  return make(binaryKind(ast.op), Type::of(*type), ast.loc, a.id, b.id);
}

TypedExpr Sema::analyseComparison(const BinaryExpr &ast, TypedExpr a, TypedExpr b) {
  bool equality = ast.op == BinaryOp::Eq || ast.op == BinaryOp::Ne;
  bool known = !a.type.invalid && !b.type.invalid;
  if (known && !comparable(a.type.value, b.type.value, equality)) {
    bool slices = a.type.value == ValueType::Slice || b.type.value == ValueType::Slice;
    error(ast.loc, "cannot compare " + describe(a.type) + " with " + describe(b.type),
          slices ? "data is compared in 'ensures' only" : "");
  }
  if (!equality) {
    a = notNone(a);
    b = notNone(b);
  }
  return make(binaryKind(ast.op), boolType(), ast.loc, a.id, b.id);
}

TypedExpr Sema::analyseAt(const BinaryExpr &ast) {
  TypedExpr base = expr(*ast.left);
  ExprId rank = intExpr(*ast.right, "rank after '@'");
  if (base.type.invalid)
    return base;
  if (!base.type.is(ValueType::Graph))
    return {base.id, failed(ast.loc, "'@' belongs to a value in 'ensures' or to a global graph, "
                                     "found " +
                                         describe(base.type))};
  const auto *name = dyn_cast<NameExpr>(ast.left);
  bool global = name && llvm::any_of(decl().params, [&](const Param &p) {
                  return p.isGlobal && program_.strings[p.name] == name->name;
                });
  if (!global)
    return {base.id, failed(ast.loc, "only a global graph can be seen from another rank",
                            "declare the parameter as 'global graph'")};
  return make(ExprKind::GraphAt, base.type, ast.loc, base.id, rank);
}

TypedExpr Sema::analyseConditional(const ConditionalExpr &ast) {
  ExprId condition = exprOf(*ast.condition, ValueType::Bool, "condition of '?'").id;
  TypedExpr a = expr(*ast.whenTrue), b = expr(*ast.whenFalse);
  Type type = a.type.invalid ? b.type : a.type;
  if (!a.type.invalid && !b.type.invalid) {
    bool bothNumbers = isNumber(a.type.value) && isNumber(b.type.value);
    if (!fits(a.type, b.type.value) && !fits(b.type, a.type.value))
      return {a.id, failed(ast.loc, "the two sides of ':' are " + describe(a.type) + " and " +
                                        describe(b.type))};
    if (a.type.dims != b.type.dims)
      return {a.id, failed(ast.loc, "the two sides of ':' have different dimensions")};
    if (type.value == ValueType::Slices || b.type.value == ValueType::Slices)
      return {a.id, failed(ast.loc, "lists of slices cannot be chosen with '?'",
                           "use 'if' inside the list")};
    if (bothNumbers && a.type.value != b.type.value)
      type = a.type.value == ValueType::Bytes || b.type.value == ValueType::Bytes
                 ? Type::of(ValueType::Bytes)
                 : intType();
    type.maybeNone = a.type.maybeNone || b.type.maybeNone;
    type.writable = a.type.writable && b.type.writable;
    type.element = a.type.element == b.type.element ? a.type.element : std::nullopt;
  }
  return make(ExprKind::Select, type, ast.loc, condition, a.id, b.id);
}

TypedExpr Sema::analyseMember(const MemberExpr &ast) {
  TypedExpr base = expr(*ast.base);
  if (base.type.invalid)
    return base;
  if (symbols_)
    symbols_->member(ast.member.loc, base.type.value, ast.member.text);
  std::vector<StringRef> names;
  if (auto member = findMember(base.type.value, ast.member.text, false, names))
    return make(member->kind, resultOf(member->kind), ast.loc, base.id, kNoExpr, kNoExpr,
                member->value);
  return {base.id, failed(ast.member.loc,
                          describe(base.type) + " has no member '" + ast.member.text.str() + "'",
                          isMemberFunction(ast.member.text)
                              ? "call it: ." + ast.member.text.str() + "(...)"
                              : didYouMean(nearestWord(ast.member.text, names)))};
}

TypedExpr Sema::analyseList(const ListExpr &ast) {
  std::vector<ExprId> items;
  bool slices = false, ints = false, writable = true;
  std::optional<ElementType> common;
  for (const AstExpr *element : ast.elements) {
    TypedExpr e = expr(*element);
    items.push_back(e.id);
    if (e.type.invalid)
      continue;
    bool isSlice = e.type.value == ValueType::Slice || e.type.value == ValueType::Slices;
    if (!isSlice && !fits(e.type, kInt))
      error(element->loc, "lists hold ints or slices, found " + describe(e.type));
    common = slices && common != e.type.element ? std::nullopt : e.type.element;
    slices |= isSlice;
    ints |= !isSlice;
    writable &= e.type.writable;
    if (!isSlice)
      items.back() = notNone(e).id;
  }
  if (slices && ints)
    return {kNoExpr, failed(ast.loc, "a list holds ints or slices, not both")};
  TypedExpr list = make(slices ? ExprKind::SliceList : ExprKind::ListLiteral,
                        {.value = slices ? ValueType::Slices : ValueType::IntList,
                         .writable = writable,
                         .element = common},
                        ast.loc);
  setOperands(list.id, items);
  return list;
}

uint32_t Sema::localName(const Name &name, const Type &type, SymbolKind kind) {
  uint32_t slot = scope_->newSlot(type);
  if (!scope_->declare(name.text, {type, slot, false, name.loc}))
    error(name.loc, "'" + name.text.str() + "' is declared twice here");
  noteSymbol(kind, name.text, name.loc, type);
  return slot;
}

TypedExpr Sema::analyseComprehension(const ListOfExpr &ast) {
  const Comprehension &c = ast.comprehension;
  Iterable over = iterable(c.iteration.range);
  BlockScope block(*scope_);
  if (over.element.is(ValueType::Slice))
    return {kNoExpr, failed(ast.loc, "segments cannot be listed", "use a 'for' statement")};
  uint32_t slot = loopName(c.iteration.name, over.element);
  ExprId condition = conditionOf(c.iteration);
  TypedExpr element = expr(*c.element);
  bool isSlice = element.type.value == ValueType::Slice || element.type.value == ValueType::Slices;
  if (!element.type.invalid && !isSlice && !fits(element.type, kInt))
    error(c.element->loc, "lists hold ints or slices, found " + describe(element.type));
  TypedExpr list = make(isSlice ? ExprKind::SliceComprehension : ExprKind::ListComprehension,
                        {.value = isSlice ? ValueType::Slices : ValueType::IntList,
                         .writable = element.type.writable,
                         .element = element.type.element},
                        ast.loc, over.id, condition, isSlice ? element.id : notNone(element).id);
  last().slot = kNoSlot;
  program_.exprs[index(list.id)].slot = slot;
  return list;
}

TypedExpr Sema::analyseIndex(const IndexExpr &ast) {
  TypedExpr base = expr(*ast.base);
  ExprId lo = notNone(exprOf(*ast.index, kInt, "index")).id;
  ExprId hi = ast.end ? notNone(exprOf(*ast.end, kInt, "end of the range")).id : kNoExpr;
  if (base.type.invalid)
    return base;
  if (base.type.is(ValueType::IntList)) {
    if (ast.end)
      return {base.id, failed(ast.loc, "a list of ints has no slices", "index a single element")};
    return make(ExprKind::ListElement, intType(), ast.loc, base.id, lo);
  }
  if (!base.type.is(ValueType::Slice))
    return {base.id, failed(ast.loc, "only buffers, slices and lists have elements, found " +
                                         describe(base.type))};
  bool blocks = base.type.dims == 2;
  auto kind = !blocks ? ExprKind::Elements : ast.end ? ExprKind::Blocks : ExprKind::Block;
  uint8_t dims = blocks && ast.end ? 2 : 1;
  return make(kind, Type::slice(dims, base.type.writable, base.type.element), ast.loc, base.id, lo,
              hi);
}

/// The value of an int expression that consists of numbers only; nothing if it depends on a name,
/// or cannot be computed.
std::optional<int64_t> Sema::knownInt(ExprId id) const {
  const Expr &e = program_.expr(id);
  if (e.kind == ExprKind::IntLit && e.value != kNone)
    return e.value;
  bool negates = e.kind == ExprKind::Negate;
  if (!negates && e.kind != ExprKind::Add && e.kind != ExprKind::Sub && e.kind != ExprKind::Mul)
    return std::nullopt;
  std::optional<int64_t> a = negates ? 0 : knownInt(e.a), b = knownInt(negates ? e.a : e.b);
  int64_t value = 0;
  if (!a || !b ||
      (e.kind == ExprKind::Add   ? __builtin_add_overflow(*a, *b, &value)
       : e.kind == ExprKind::Mul ? __builtin_mul_overflow(*a, *b, &value)
                                 : __builtin_sub_overflow(*a, *b, &value)))
    return std::nullopt;
  return value;
}

/// Reports a range that descends: it has no elements in any call, unlike 0..0, so it is a mistake.
void Sema::checkAscends(const Range &range, ExprId lo, ExprId hi) {
  std::optional<int64_t> first = knownInt(lo), last = knownInt(hi);
  if (!first || !last || *first <= *last)
    return;
  error(range.first->loc,
        "the range " + std::to_string(*first) + (range.includesLast ? "..=" : "..") +
            std::to_string(*last) + " descends and has no elements",
        "ranges ascend; to count down, loop over the number of steps and subtract");
}

Sema::Iterable Sema::iterable(const Range &range) {
  if (range.last) {
    ExprId lo = notNone(exprOf(*range.first, kInt, "begin of the range")).id;
    ExprId hi = notNone(exprOf(*range.last, kInt, "end of the range")).id;
    checkAscends(range, lo, hi);
    TypedExpr r = make(ExprKind::RangeOf, Type::of(ValueType::Range), range.first->loc, lo, hi,
                       kNoExpr, range.includesLast);
    return {r.id, intType()};
  }
  TypedExpr e = expr(*range.first);
  if (e.type.invalid)
    return {e.id, Type::error()};
  switch (e.type.value) {
  case ValueType::IntList:
    return {e.id, intType()};
  case ValueType::Edges:
    return {e.id, Type::of(ValueType::Edge)};
  case ValueType::Slices:
    if (program_.expr(e.id).kind == ExprKind::Segments)
      return {e.id, Type::slice(1, e.type.writable, e.type.element)};
    break;
  default:
    break;
  }
  std::string hint = e.type.is(ValueType::Int) ? "write a range: 0..x" : "";
  return {e.id, failed(range.first->loc,
                       "'for' runs over ranges, segments, children, edges and lists, found " +
                           describe(e.type),
                       hint)};
}

} // namespace colldsl
