// Calls within expressions: built-in functions, methods, functions, trees, graphs.
#include "compiler/ForeignWords.h"
#include "compiler/SemaImpl.h"
#include "compiler/Spelling.h"

#include "llvm/ADT/STLExtras.h"

namespace colldsl {

using ast::Argument;
using ast::ArgumentKind;
using ast::CallExpr;
using ast::Comprehension;
using ast::MemberExpr;
using ast::NameExpr;
using ast::Range;
using llvm::ArrayRef;
using llvm::cast;
using llvm::dyn_cast;
using llvm::StringRef;

namespace {

std::string plural(size_t n, const char *noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

} // namespace

TypedExpr Sema::analyseCall(const CallExpr &ast) {
  if (const auto *member = dyn_cast<MemberExpr>(ast.callee))
    return callMethod(ast, *member);
  const auto *name = dyn_cast<NameExpr>(ast.callee);
  if (!name)
    return {kNoExpr, failed(ast.loc, "only names can be called")};
  if (Work *callee = findDecl(name->name)) {
    noteUse(name->loc, program_.decl(callee->id).loc);
    return callDecl(ast, *callee);
  }
  bool comprehension =
      ast.arguments.size() == 1 && ast.arguments[0].kind == ArgumentKind::Comprehension;
  StringRef callee = name->name;
  if (auto aggregate = findAggregate(callee); aggregate && comprehension)
    return callAggregate(ast, *aggregate);
  if (auto builtin = findBuiltin(callee))
    return callBuiltin(ast, *builtin);
  if (auto kind = findCall(callee))
    return callExpr(ast, *kind);
  if (callee == "count")
    return {kNoExpr,
            failed(ast.loc, "'count' takes a comprehension", "count(for i in a..b: condition)")};
  std::vector<StringRef> names = declNames({DeclKind::Function, DeclKind::Tree, DeclKind::Graph});
  llvm::append_range(names, builtinCallNames());
  std::string hint = hintForFunction(callee);
  error(name->loc, "unknown function '" + callee.str() + "'",
        hint.empty() ? didYouMean(nearestWord(callee, names)) : hint);
  return invalid(ast.loc);
}

/// The expressions that are written as calls.
TypedExpr Sema::callExpr(const CallExpr &ast, ExprKind kind) {
  switch (kind) {
  case ExprKind::Part:
    return callPart(ast);
  case ExprKind::Segments:
    return callSegments(ast);
  case ExprKind::Leader:
  case ExprKind::GroupLeaders:
    return callLeaders(ast, kind == ExprKind::Leader);
  case ExprKind::GroupWhere:
  case ExprKind::GroupSplit:
    return callFilter(ast, kind == ExprKind::GroupSplit);
  default:
    return callUnary(ast, kind);
  }
}

TypedExpr Sema::callMethod(const CallExpr &ast, const MemberExpr &callee) {
  TypedExpr base = expr(*callee.base);
  const AstExpr *argument = onlyPlain(ast, callee.member.text, 1);
  if (!argument)
    return invalid(ast.loc);
  ExprId operand = notNone(exprOf(*argument, ValueType::Int, "argument")).id;
  if (base.type.invalid)
    return invalid(ast.loc);
  if (symbols_)
    symbols_->member(callee.member.loc, base.type.value, callee.member.text);
  std::vector<StringRef> names;
  if (auto method = findMember(base.type.value, callee.member.text, true, names))
    return make(method->kind, resultOf(method->kind), callee.member.loc, base.id, operand);
  return {base.id,
          failed(callee.member.loc,
                 describe(base.type) + " has no member function '" + callee.member.text.str() + "'",
                 didYouMean(nearestWord(callee.member.text, names)))};
}

/// Checks that there are `count` arguments, all plain. Returns the first, or null after an error.
const Sema::AstExpr *Sema::onlyPlain(const CallExpr &ast, StringRef name, size_t count) {
  if (ast.arguments.size() != count) {
    error(ast.loc, "'" + name.str() + "' takes " + plural(count, "argument") + ", found " +
                       std::to_string(ast.arguments.size()));
    return nullptr;
  }
  for (const Argument &argument : ast.arguments)
    if (argument.kind != ArgumentKind::Plain) {
      error(argument.loc, "'" + name.str() + "' takes plain arguments only");
      return nullptr;
    }
  return ast.arguments[0].value;
}

/// Analyses a function of one operand, whose type is in its row.
TypedExpr Sema::callUnary(const CallExpr &ast, ExprKind kind) {
  StringRef name = cast<NameExpr>(ast.callee)->name;
  const AstExpr *argument = onlyPlain(ast, name, 1);
  if (!argument)
    return invalid(ast.loc);
  ValueType wanted = typeOf(infoOf(kind).operands[0]);
  ExprId operand = exprOf(*argument, wanted, ("argument of '" + name.str() + "'").c_str()).id;
  return make(kind, resultOf(kind), ast.loc, operand);
}

TypedExpr Sema::callBuiltin(const CallExpr &ast, Builtin builtin) {
  const BuiltinInfo &info = infoOf(builtin);
  StringRef name = cast<NameExpr>(ast.callee)->name;
  size_t given = ast.arguments.size();
  if (given < info.least || given > info.most)
    return {kNoExpr, failed(ast.loc, "'" + name.str() + "' takes " +
                                         (info.least == info.most
                                              ? plural(info.least, "argument")
                                              : "at least " + plural(info.least, "argument")) +
                                         ", found " + std::to_string(given))};
  if (!onlyPlain(ast, name, given))
    return invalid(ast.loc);
  std::vector<ExprId> operands;
  for (size_t i = 0; i < given; ++i) {
    ValueType wanted = i == 0 ? info.first : ValueType::Int;
    std::string what = "argument of '" + name.str() + "'";
    TypedExpr e = expr(*ast.arguments[i].value);
    bool unitsKept = builtin == Builtin::Min || builtin == Builtin::Max;
    if (!fits(e.type, wanted) && !(unitsKept && isNumber(e.type.value)))
      error(ast.arguments[i].loc,
            what + ": expected " + std::string(describe(wanted)) + ", found " + describe(e.type));
    operands.push_back(notNone(e).id);
  }
  TypedExpr call = make(ExprKind::CallBuiltin, resultOf(info.result), ast.loc, kNoExpr, kNoExpr,
                        kNoExpr, static_cast<int64_t>(builtin));
  setOperands(call.id, operands);
  return call;
}

TypedExpr Sema::callAggregate(const CallExpr &ast, Aggregate aggregate) {
  const Argument &argument = ast.arguments[0];
  Iterable over = iterable(argument.iteration->range);
  BlockScope block(*scope_);
  if (over.element.is(ValueType::Slice))
    return {kNoExpr, failed(ast.loc, "an aggregate cannot run over segments")};
  uint32_t slot = loopName(argument.iteration->name, over.element);
  ExprId condition = conditionOf(*argument.iteration);
  bool counts = aggregate == Aggregate::Count;
  ExprId body = counts ? exprOf(*argument.value, ValueType::Bool, "what 'count' counts").id
                       : notNone(exprOf(*argument.value, ValueType::Int, "element")).id;
  TypedExpr call = make(ExprKind::Aggregation, Type::of(ValueType::Int), ast.loc, over.id,
                        condition, body, static_cast<int64_t>(aggregate));
  last().slot = slot;
  return call;
}

TypedExpr Sema::callPart(const CallExpr &ast) {
  bool right = ast.arguments.size() == 2 && ast.arguments[0].kind == ArgumentKind::Plain &&
               ast.arguments[1].kind == ArgumentKind::Part;
  if (!right)
    return {kNoExpr, failed(ast.loc, "'part' takes a slice and which part of how many",
                            "part(b, i of k) or part(b, lo..hi of k)")};
  TypedExpr s = exprOf(*ast.arguments[0].value, ValueType::Slice, "what 'part' cuts");
  const Argument &which = ast.arguments[1];
  ExprId lo = notNone(exprOf(*which.value, ValueType::Int, "number of the part")).id;
  ExprId hi =
      which.last ? notNone(exprOf(*which.last, ValueType::Int, "end of the parts")).id : kNoExpr;
  ExprId count = notNone(exprOf(*which.count, ValueType::Int, "number of parts")).id;
  TypedExpr part = make(ExprKind::Part, Type::slice(1, s.type.writable, s.type.element), ast.loc);
  setOperands(part.id, {s.id, lo, hi, count});
  return part;
}

TypedExpr Sema::callSegments(const CallExpr &ast) {
  if (!onlyPlain(ast, "segments", 2))
    return invalid(ast.loc);
  TypedExpr s = exprOf(*ast.arguments[0].value, ValueType::Slice, "what 'segments' cuts");
  ExprId bytes = notNone(exprOf(*ast.arguments[1].value, ValueType::Bytes, "segment size")).id;
  return make(ExprKind::Segments,
              {.value = ValueType::Slices, .writable = s.type.writable, .element = s.type.element},
              ast.loc, s.id, bytes);
}

/// leaders(level, include = none, index = 0) and leader(level, include = none, index = 0).
TypedExpr Sema::callLeaders(const CallExpr &ast, bool one) {
  StringRef name = cast<NameExpr>(ast.callee)->name;
  const auto *word = ast.arguments.empty() || ast.arguments[0].kind != ArgumentKind::Plain
                         ? nullptr
                         : dyn_cast<NameExpr>(ast.arguments[0].value);
  auto level = word ? parseLevel(std::string_view(word->name)) : std::nullopt;
  if (!level)
    return {kNoExpr, failed(ast.arguments.empty() ? ast.loc : ast.arguments[0].loc,
                            "'" + name.str() + "' takes a level first",
                            "one of all, node, board, socket, numa")};
  ExprId include = kNoExpr, which = kNoExpr;
  for (const Argument &argument : ast.arguments.drop_front()) {
    bool named = argument.kind == ArgumentKind::Named;
    if (named && argument.name.text == "include")
      include = exprOf(*argument.value, ValueType::Rank, "'include'").id;
    else if (named && argument.name.text == "index")
      which = intExpr(*argument.value, "'index'");
    else
      error(argument.loc,
            "'" + name.str() + "' takes 'include = r' and 'index = i' after the level");
  }
  auto kind = one ? ExprKind::Leader : ExprKind::GroupLeaders;
  return make(kind, {.value = one ? ValueType::Rank : ValueType::Group, .maybeNone = one}, ast.loc,
              include, which, kNoExpr, static_cast<int64_t>(*level));
}

/// where(r: condition), split(r: color).
TypedExpr Sema::callFilter(const CallExpr &ast, bool split) {
  if (ast.arguments.size() != 1 || ast.arguments[0].kind != ArgumentKind::Choice)
    return {kNoExpr, failed(ast.loc,
                            split ? "'split' takes a color for each rank"
                                  : "'where' takes a condition for each rank",
                            split ? "split(r: r / 4)" : "where(r: r % 2 == 0)")};
  BlockScope block(*scope_);
  const Argument &choice = ast.arguments[0];
  uint32_t slot = loopName(choice.name, Type::of(ValueType::Rank));
  TypedExpr value = split ? exprOf(*choice.value, ValueType::Int, "color")
                          : exprOf(*choice.value, ValueType::Bool, "condition");
  TypedExpr group = make(split ? ExprKind::GroupSplit : ExprKind::GroupWhere,
                         Type::of(ValueType::Group), ast.loc, value.id);
  last().slot = slot;
  return group;
}

TypedExpr Sema::callDecl(const CallExpr &ast, Work &callee) {
  const Decl &decl = program_.decl(callee.id);
  StringRef name = cast<NameExpr>(ast.callee)->name;
  if (decl.kind == DeclKind::Collective)
    return {kNoExpr, failed(ast.loc, "collective '" + name.str() + "' is no value",
                            "call it as a statement")};
  DeclKind kind = decl.kind;
  std::vector<ExprId> operands = bindArguments(name, ast.loc, callee, ast.arguments, false);
  Type type;
  ExprKind exprKind{};
  switch (kind) {
  case DeclKind::Tree:
    exprKind = ExprKind::MakeTree;
    type = Type::of(ValueType::Tree);
    break;
  case DeclKind::Graph:
    exprKind = ExprKind::MakeGraph;
    type = Type::of(ValueType::Graph);
    break;
  case DeclKind::Function:
  case DeclKind::Collective:
    exprKind = ExprKind::CallFunction;
    type = resultOf(callee);
    break;
  }
  TypedExpr call = make(exprKind, type, ast.loc, kNoExpr, kNoExpr, kNoExpr, index(callee.id));
  setOperands(call.id, operands);
  return call;
}

ExprId Sema::analyseArgumentFor(const Param &param, const AstExpr &ast) {
  std::string what = "argument '" + program_.strings[param.name] + "'";
  if (!param.isBuffer) {
    TypedExpr e = exprOf(ast, param.type, what.c_str());
    return isNumber(param.type) ? notNone(e).id : e.id;
  }
  TypedExpr e = exprOf(ast, ValueType::Slice, what.c_str());
  if (e.type.invalid)
    return e.id;
  if (param.role != BufferRole::In && !e.type.writable)
    error(ast.loc, what + " is '" + std::string(spelling(param.role)) +
                       "', but an 'in' buffer is never written");
  if (param.buffer.dims == 1 && e.type.dims == 2 && param.buffer.dim[0].kind == DimKind::CallTime)
    error(ast.loc, what + " is one block, found a slice of blocks");
  return e.id;
}

/// The position of the parameter that an argument names. If there is none it reports an error and
/// returns the number of parameters.
size_t Sema::parameterNamed(StringRef callee, const Argument &argument, const Decl &decl) {
  std::vector<StringRef> names;
  for (const Param &p : decl.params)
    names.push_back(program_.strings[p.name]);
  size_t at = llvm::find(names, argument.name.text) - names.begin();
  if (at == names.size())
    error(argument.loc,
          "'" + callee.str() + "' has no parameter '" + argument.name.text.str() + "'",
          didYouMean(nearestWord(argument.name.text, names)));
  else
    noteUse(argument.name.loc, decl.params[at].loc);
  return at;
}

std::vector<ExprId> Sema::bindArguments(StringRef callee, SourceLoc loc, Work &work,
                                        ArrayRef<Argument> arguments, bool isCollective) {
  needHead(work);
  if (work.headBusy) {
    error(loc, "'" + callee.str() + "' is used by the default of its own parameter");
    return {};
  }
  size_t count = program_.decl(work.id).params.size();
  std::vector<ExprId> bound(count, kNoExpr);
  std::vector<bool> given(count);
  size_t position = 0;
  for (const Argument &argument : arguments) {
    size_t at = position;
    const AstExpr *value = argument.value;
    if (argument.kind == ArgumentKind::Named) {
      at = parameterNamed(callee, argument, program_.decl(work.id));
      if (at == count)
        continue;
    } else if (argument.kind == ArgumentKind::Range && rangeArgs_ != RangeArgs::Forbidden) {
      sawRangeArg_ = true;
      value = rangeArgs_ == RangeArgs::First ? argument.value : argument.last;
      ++position;
    } else if (argument.kind != ArgumentKind::Plain) {
      error(argument.loc, "'" + callee.str() + "' takes plain and named arguments only");
      continue;
    } else {
      ++position;
    }
    if (at >= count) {
      error(argument.loc, "'" + callee.str() + "' takes " + plural(count, "argument") + ", found " +
                              std::to_string(arguments.size()));
      break;
    }
    if (given[at]) {
      error(argument.loc, "argument '" + program_.strings[program_.decl(work.id).params[at].name] +
                              "' is given twice");
      continue;
    }
    given[at] = true;
    Param param = program_.decl(work.id).params[at]; // analysis may move the declarations
    bound[at] = analyseArgumentFor(param, *value);
  }
  for (size_t i = 0; i < count; ++i) {
    const Param &param = program_.decl(work.id).params[i];
    if (!given[i] && param.defaultValue == kNoExpr)
      error(loc,
            "'" + callee.str() + "' needs an argument for '" + program_.strings[param.name] + "'");
  }
  return bound;
}

} // namespace colldsl
