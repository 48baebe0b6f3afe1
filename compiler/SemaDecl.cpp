// Declarations: first their names, then their parameters, then their bodies.
#include "compiler/SemaImpl.h"
#include "compiler/Spelling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

namespace colldsl {

using llvm::cast;
using llvm::dyn_cast;
using llvm::StringRef;

namespace {

DeclKind kindOf(const ast::Decl &decl) {
  switch (decl.kind) {
  case ast::DeclKind::Function:
    return DeclKind::Function;
  case ast::DeclKind::Structure:
    return cast<ast::StructureDecl>(decl).isTree ? DeclKind::Tree : DeclKind::Graph;
  case ast::DeclKind::Collective:
    return DeclKind::Collective;
  }
  llvm_unreachable("all kinds are listed");
}

std::string elementTypeHint(StringRef name) {
  if (std::string meant = elementTypeMeant(name); !meant.empty())
    return didYouMean(meant);
  constexpr StringRef kTypes =
#define COLLDSL_TYPE(Name, spelling, ...) " " spelling
#include "ir/Vocabulary.def"
      ;
  return "use" + kTypes.str() +
         ", or a type variable, which begins with a capital letter, such as T";
}

} // namespace

void Sema::declareAll(llvm::ArrayRef<SemaInput> inputs, std::vector<DeclId> &mainDecls) {
  for (const SemaInput &input : inputs)
    for (const ast::Decl *d : input.decls)
      if (!declare(input, d, mainDecls))
        return;
}

bool Sema::declare(const SemaInput &input, const ast::Decl *ast, std::vector<DeclId> &mainDecls) {
  std::vector<Work *> &sameName = declsByName_[ast->name.text];
  for (const Work *other : sameName)
    if (other->unit == input.unit)
      error(ast->name.loc, "'" + ast->name.text.str() + "' is declared twice, first in line " +
                               std::to_string(other->ast->name.loc.line));
  Decl decl;
  decl.kind = kindOf(*ast);
  decl.name = intern(ast->name.text);
  decl.doc = intern(ast->doc);
  decl.loc = ast->name.loc;
  if (const auto *collective = dyn_cast<ast::CollectiveDecl>(ast))
    decl.deterministic = collective->deterministic;
  auto work = std::make_unique<Work>();
  work->ast = ast;
  work->id = DeclId{static_cast<uint32_t>(program_.decls.size())};
  work->unit = input.unit;
  if (input.isMain)
    mainDecls.push_back(work->id);
  program_.decls.push_back(std::move(decl));
  if (symbols_)
    symbols_->declare({SymbolKind::Declaration, ast->name.text.str(), ast->name.loc, {}, work->id});
  sameName.push_back(work.get());
  works_.push_back(std::move(work));
  return !full();
}

/// The declaration of that name in the own unit, else in the nearest lower one; null if there is
/// none.
Sema::Work *Sema::findDecl(StringRef name) {
  auto it = declsByName_.find(name);
  if (it == declsByName_.end())
    return nullptr;
  Work *best = nullptr;
  for (Work *work : it->second)
    if ((!work_ || work->unit <= work_->unit) && (!best || work->unit >= best->unit))
      best = work;
  return best;
}

std::vector<StringRef> Sema::declNames(llvm::ArrayRef<DeclKind> kinds) {
  std::vector<StringRef> names;
  for (const auto &work : works_)
    if (const Decl &decl = program_.decl(work->id); llvm::is_contained(kinds, decl.kind))
      names.push_back(program_.nameOf(decl));
  return names;
}

void Sema::analyseAll() {
  for (const auto &work : works_)
    if (!full())
      needHead(*work);
  for (const auto &work : works_)
    if (!full())
      analyseBody(*work);
}

/// Analyses the parameters unless that has been done: a default may use a declaration that comes
/// later.
void Sema::needHead(Work &work) {
  if (work.headDone)
    return;
  work.headDone = work.headBusy = true;
  Work *outerWork = work_;
  Scope *outerScope = scope_;
  depth_ += kDepthOfDecl;
  analyseHead(work);
  work.headBusy = false;
  depth_ -= kDepthOfDecl;
  work_ = outerWork;
  scope_ = outerScope;
}

/// The parameters: values first, since the sizes of buffers may use any of them.
void Sema::analyseHead(Work &work) {
  work_ = &work;
  scope_ = &work.scope;
  scope_->push();
  std::vector<Param> params(work.ast->parameters.size());
  for (bool buffers : {false, true}) {
    size_t at = 0;
    for (const ast::Parameter &p : work.ast->parameters) {
      Param &param = params[at++];
      if (p.isBuffer != buffers)
        continue;
      param.name = intern(p.name.text);
      param.loc = p.name.loc;
      if (buffers && decl().kind != DeclKind::Collective)
        error(p.name.loc, "only collectives have buffers");
      buffers ? analyseBufferParam(p, param) : analyseValueParam(p, param);
    }
  }
  decl().params = std::move(params);
}

void Sema::declareParam(const ast::Parameter &ast, Param &param) {
  Type type =
      param.isBuffer ? sliceOf(param.buffer, param.role != BufferRole::In) : Type::of(param.type);
  param.slot = scope_->newSlot(type);
  if (!scope_->declare(ast.name.text, {type, param.slot, false, ast.name.loc}))
    error(ast.name.loc, "parameter '" + ast.name.text.str() + "' is declared twice");
  noteSymbol(SymbolKind::Parameter, ast.name.text, ast.name.loc, type);
}

void Sema::analyseValueParam(const ast::Parameter &ast, Param &param) {
  StringRef word = ast.type.name.text;
  auto kind = findValueKind(word);
  bool isList = ast.type.dimensions.size() == 1 &&
                ast.type.dimensions[0].kind == ast::DimensionKind::Open && word == "int";
  if (!kind)
    error(ast.type.name.loc,
          "unknown type '" + word.str() + "' of parameter '" + ast.name.text.str() + "'",
          parseElementType(std::string_view(word)) || !ast.type.dimensions.empty()
              ? "buffers are declared 'in', 'out' or 'inout'"
              : didYouMean(nearestWord(word, valueKindNames())));
  else if (!ast.type.dimensions.empty() && !isList)
    error(ast.type.name.loc, "only 'int[]' is a list");
  param.type = isList ? ValueType::IntList : kind.value_or(ValueType::Int);
  param.isGlobal = ast.isGlobal;
  if (ast.isGlobal && param.type != ValueType::Graph)
    error(ast.type.name.loc, "only a graph can be global");
  if (ast.defaultValue) {
    std::string what = "default of '" + ast.name.text.str() + "'";
    TypedExpr value = exprOf(*ast.defaultValue, param.type, what.c_str());
    param.defaultValue = isNumber(param.type) ? notNone(value).id : value.id;
  }
  declareParam(ast, param);
  if (ast.candidates)
    analyseCandidates(*ast.candidates, param);
}

void Sema::analyseCandidates(const ast::Candidates &ast, Param &param) {
  if (!ast.lo) {
    for (const AstExpr *value : ast.list)
      param.candidates.push_back(analyseCandidate(*value, param));
    if (ast.list.empty())
      error(ast.loc, "no candidates");
    return;
  }
  if (param.type != ValueType::Int && param.type != ValueType::Bytes) {
    error(ast.loc, "only ints and bytes have a range of candidates", "list them: in {a, b}");
    return;
  }
  Candidate range;
  range.lo = exprOf(*ast.lo, param.type, "smallest candidate").id;
  range.hi = exprOf(*ast.hi, param.type, "largest candidate").id;
  param.candidates.push_back(range);
}

/// kary(root, 2..8) stands for kary(root, 2) to kary(root, 8).
Candidate Sema::analyseCandidate(const AstExpr &ast, const Param &param) {
  Candidate candidate;
  sawRangeArg_ = false;
  rangeArgs_ = RangeArgs::First;
  candidate.lo = exprOf(ast, param.type, "candidate").id;
  if (sawRangeArg_) {
    rangeArgs_ = RangeArgs::Last;
    candidate.hi = exprOf(ast, param.type, "candidate").id;
  }
  rangeArgs_ = RangeArgs::Forbidden;
  return candidate;
}

void Sema::analyseBufferParam(const ast::Parameter &ast, Param &param) {
  param.isBuffer = true;
  param.role = ast.role;
  param.type = ValueType::Slice;
  if (ast.defaultValue || ast.candidates)
    error(ast.name.loc, "a buffer has no default");
  param.buffer = analyseBufferType(ast.type, true);
  if (ast.significantAt)
    param.significantAt = exprOf(*ast.significantAt, ValueType::Rank, "after 'at'").id;
  declareParam(ast, param);
}

/// The type of a slice of the whole buffer.
Type Sema::sliceOf(const BufferType &buffer, bool writable) {
  std::optional<ElementType> element = buffer.type;
  return Type::slice(static_cast<uint8_t>(buffer.dims), writable,
                     buffer.generic ? std::nullopt : element);
}

BufferType Sema::analyseBufferType(const ast::Type &type, bool mayBindSizes) {
  BufferType result;
  auto element = parseElementType(std::string_view(type.name.text));
  result.generic = !element;
  result.type = element.value_or(ElementType::I32);
  if (!element) {
    if (!isTypeVariable(type.name.text))
      error(type.name.loc, "'" + type.name.text.str() + "' is no element type",
            elementTypeHint(type.name.text));
    else
      useTypeVariable(type.name);
  }
  size_t count = type.dimensions.size();
  if (count < 1 || count > 2) {
    error(type.name.loc, "a buffer has one or two dimensions, found " + std::to_string(count));
    result.dim[0].expr = number(0, Type::of(ValueType::Int), type.name.loc).id;
    return result;
  }
  result.dims = static_cast<uint32_t>(count);
  for (size_t i = 0; i < count; ++i)
    result.dim[i] = analyseDimension(type.dimensions[i], i + 1 == count, mayBindSizes);
  return result;
}

void Sema::useTypeVariable(const ast::Name &name) {
  ast::Name &known = work_->typeVariable;
  if (known.text.empty()) {
    known = name;
    noteSymbol(SymbolKind::TypeVariable, name.text, name.loc);
  } else if (known.text == name.text) {
    noteUse(name.loc, known.loc);
  } else {
    error(name.loc,
          "a second type variable '" + name.text.str() + "' beside '" + known.text.str() + "'");
  }
}

Dim Sema::newSizeSymbol(const ast::NameExpr &name, SourceLoc loc, DimKind kind) {
  Symbol symbol{Type::of(ValueType::Int), scope_->sizeSlots++, true, name.loc};
  scope_->declare(name.name, symbol);
  noteSymbol(SymbolKind::Size, name.name, name.loc, symbol.type);
  decl().sizeNames.push_back(intern(name.name));
  Dim dim;
  dim.kind = kind;
  dim.slot = symbol.slot;
  dim.expr = make(ExprKind::SizeSymbol, symbol.type, loc).id;
  last().slot = symbol.slot;
  return dim;
}

Dim Sema::analyseDimension(const ast::Dimension &ast, bool isLast, bool mayBindSizes) {
  Dim dim;
  if (ast.kind == ast::DimensionKind::Open) {
    error(ast.loc, "a buffer's dimension needs a size", "an expression, a new name, or *");
    dim.expr = number(0, Type::of(ValueType::Int), ast.loc).id;
    return dim;
  }
  bool blockSizes = ast.kind != ast::DimensionKind::Size;
  if (blockSizes && !isLast)
    error(ast.loc, "only the last dimension can have sizes known at call time");
  if (ast.kind == ast::DimensionKind::CallTime) {
    dim.kind = DimKind::CallTime;
    return dim;
  }
  DimKind kind = blockSizes ? DimKind::Capacity : DimKind::Fixed;
  const auto *name = dyn_cast<ast::NameExpr>(ast.size);
  bool isNew = name && mayBindSizes && !scope_->find(name->name) && name->name != "rank" &&
               name->name != "ranks";
  if (isNew)
    return newSizeSymbol(*name, ast.loc, blockSizes ? DimKind::Capacity : DimKind::Symbol);
  bindsSizes_ = mayBindSizes;
  TypedExpr size = expr(*ast.size);
  bindsSizes_ = false;
  dim.kind = kind;
  dim.expr = size.id;
  if (size.type.is(ValueType::IntList)) {
    dim.kind = DimKind::Counts;
    if (!isLast || blockSizes)
      error(ast.loc, "only the last dimension can have a list of sizes");
  } else if (!fits(size.type, ValueType::Int)) {
    error(ast.loc, "the size of a dimension is an int, found " + describe(size.type));
  } else if (const Symbol *symbol = name ? scope_->find(name->name) : nullptr;
             symbol && symbol->isSize && kind == DimKind::Fixed) {
    dim.kind = DimKind::Symbol;
    dim.slot = symbol->slot;
  }
  return dim;
}

void Sema::analyseBody(Work &work) {
  work_ = &work;
  scope_ = &work.scope;
  if (work.ast->kind == ast::DeclKind::Function) {
    analyseFunction(work);
  } else if (const auto *structure = dyn_cast<ast::StructureDecl>(work.ast)) {
    StmtId body = block(structure->body);
    decl().body = body;
  } else {
    const auto &collective = cast<ast::CollectiveDecl>(*work.ast);
    analyseClauses(collective);
    StmtId body = block(collective.body);
    decl().body = body;
  }
  checkLabels(work);
  decl().intSlots = work.scope.intSlots;
  decl().sliceSlots = work.scope.sliceSlots;
  decl().sizeSlots = work.scope.sizeSlots;
}

void Sema::checkLabels(Work &work) {
  std::vector<StringRef> names;
  for (const auto &entry : work.labelIndices)
    names.push_back(entry.getKey());
  llvm::sort(names);
  for (const auto &[name, use] : work.labelUses) {
    auto it = work.labelIndices.find(name);
    if (it != work.labelIndices.end())
      noteUse(use.loc, work.labelLocs[name]);
    if (it == work.labelIndices.end())
      error(use.loc, "unknown label '" + name.str() + "'", didYouMean(nearestWord(name, names)));
    else if (it->second != use.indices)
      error(use.loc, "label '" + name.str() + "' has " + std::to_string(it->second) +
                         (it->second == 1 ? " index" : " indices") + ", found " +
                         std::to_string(use.indices));
  }
}

/// Analyses an expression from outside: it sees no declaration's names, but every function, tree
/// and graph of the program.
ExprId Sema::analyseArgument(const AstExpr &expr, DeclId collective, std::string_view param) {
  for (size_t i = 0; i < program_.decls.size(); ++i) {
    auto work = std::make_unique<Work>();
    work->id = DeclId{static_cast<uint32_t>(i)};
    work->headDone = true;
    work->unit = static_cast<uint32_t>(i);
    if (program_.decls[i].result != kNoExpr)
      work->result.type = Type::of(program_.expr(program_.decls[i].result).type);
    work->result.type.maybeNone = isNumber(work->result.type.value); // perhaps
    work->result.isFinal = true;
    declsByName_[program_.strings[program_.decls[i].name]].push_back(work.get());
    works_.push_back(std::move(work));
  }
  for (size_t i = 0; i < program_.strings.size(); ++i)
    interned_.try_emplace(program_.strings[i], i);
  work_ = works_[index(collective)].get();
  Work outside;
  outside.id = collective;
  outside.unit = UINT32_MAX;
  outside.scope.push();
  // Its loop names take slots after all that the collective's own frame holds.
  outside.scope.intSlots = program_.decl(collective).intSlots;
  if (index(collective) < program_.code.ofDecl.size())
    outside.scope.intSlots =
        std::max(outside.scope.intSlots, program_.code.ofDecl[index(collective)].registers);
  work_ = &outside;
  scope_ = &outside.scope;
  std::vector<StringRef> names;
  for (const Param &p : program_.decl(collective).params) {
    names.push_back(program_.strings[p.name]);
    if (program_.strings[p.name] != param)
      continue;
    if (p.isBuffer) {
      error(p.loc, "'" + std::string(param) + "' is a buffer; its data is given when it runs");
      return kNoExpr;
    }
    Param copy = p;
    ExprId id = analyseArgumentFor(copy, expr);
    program_.decls[index(collective)].intSlots = outside.scope.intSlots;
    return id;
  }
  error({},
        "'" + program_.nameOf(program_.decl(collective)) + "' has no parameter '" +
            std::string(param) + "'",
        didYouMean(nearestWord(llvm::StringRef(param), names)));
  return kNoExpr;
}

} // namespace colldsl
