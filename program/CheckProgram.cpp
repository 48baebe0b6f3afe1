// Whether a program that was read from a file is as sound as one that the compiler made:
// so that instantiation, which trusts programs, may trust this one too.
//
// Walks every declaration once, in the order in which its frame is filled: parameters,
// then the body; at each point it knows which slots have a value, and of which kind.
// Each expression and statement has one user at most, so the walk is linear. What each holds, its
// row in Exprs.def or Stmts.def says.
#include "program/CheckProgram.h"

#include <algorithm>
#include <optional>
#include <span>

namespace colldsl {
namespace {

class ProgramChecker {
public:
  explicit ProgramChecker(const Program &program)
      : program_(program), exprUsed_(program.exprs.size()), stmtUsed_(program.stmts.size()),
        tempUsed_(program.temps.size()), labelUsed_(program.labels.size()),
        ensureUsed_(program.ensures.size()) {}

  /// Expressions that some declaration uses; of a sound program only.
  const std::vector<bool> &usedExprs() const { return exprUsed_; }

  Status check() {
    require(program_.tempNames.size() == program_.temps.size(), "names of temporaries");
    for (uint32_t name : program_.tempNames)
      string(name);
    for (size_t i = 0; i < program_.decls.size() && ok(); ++i)
      declaration(DeclId{static_cast<uint32_t>(i)});
    for (const GivenArgument &given : program_.arguments)
      argument(given);
    decl_ = nullptr;
    nothingUnused();
    return ok() ? Status() : Status::error("program: " + error_);
  }

private:
  static constexpr uint32_t kMaxDepth = 2'000; ///< of expressions and statements

  bool ok() const { return error_.empty(); }

  bool require(bool holds, const char *what) {
    if (holds || !ok())
      return ok();
    error_ = std::string(what) + (decl_ ? " in declaration " + std::to_string(declId_) : "");
    error_ += ": not what they must be";
    return false;
  }

  void string(uint32_t id) { require(id < program_.strings.size(), "strings"); }
  void place(SourceLoc loc) {
    require(loc.file < std::max<size_t>(1, program_.files.size()), "places");
  }

  /// A range of program.operands.
  std::span<const uint32_t> list(uint64_t begin, uint64_t count) {
    if (!require(begin + count <= program_.operands.size(), "lists of operands"))
      return {};
    return std::span(program_.operands).subspan(begin, count);
  }

  struct Nested {
    explicit Nested(ProgramChecker &checker) : checker(checker) {
      checker.require(++checker.depth_ <= kMaxDepth, "nested expressions and statements");
    }
    ~Nested() { --checker.depth_; }
    ProgramChecker &checker;
  };

  /// What nobody uses was not looked at, and must not be lowered.
  void nothingUnused() {
    auto all = [](const std::vector<bool> &used) {
      return std::find(used.begin(), used.end(), false) == used.end();
    };
    require(all(tempUsed_), "temporaries nobody uses");
    require(all(labelUsed_), "labels nobody uses");
    for (size_t i = 0; i < exprUsed_.size(); ++i)
      require(exprUsed_[i] || program_.exprs[i].owner == kNoDecl, "expressions nobody uses");
  }

  // Slots

  /// From now on the slot has a value, up to the end of the scope at hand.
  void giveInt(uint32_t slot, ValueType type) {
    if (!require(slot < ints_.size() && !ints_[slot], "slots"))
      return;
    ints_[slot] = type;
    given_.push_back({slot, false});
  }
  void giveSlice(uint32_t slot) {
    if (!require(slot < slices_.size() && !slices_[slot], "slots"))
      return;
    slices_[slot] = true;
    given_.push_back({slot, true});
  }
  struct Given {
    uint32_t slot;
    bool isSlice;
  };
  struct Scope {
    explicit Scope(ProgramChecker &checker) : checker(checker), given(checker.given_.size()) {}
    ~Scope() {
      for (; checker.given_.size() > given; checker.given_.pop_back()) {
        Given last = checker.given_.back();
        if (last.isSlice)
          checker.slices_[last.slot] = false;
        else
          checker.ints_[last.slot].reset();
      }
    }
    ProgramChecker &checker;
    size_t given;
  };

  // Expressions and statements: as their rows in the tables say. Types are representations here.

  void optional(ExprId id, ValueType wanted) {
    if (id != kNoExpr)
      expression(id, wanted);
  }

  /// Of an expression that has not been looked at.
  ValueType typeAt(ExprId id) {
    if (!require(index(id) < program_.exprs.size(), "expressions"))
      return ValueType::Int;
    return representation(program_.expr(id).type);
  }

  void slices(ExprId id) {
    bool isList = typeAt(id) == ValueType::Slices;
    expression(id, isList ? ValueType::Slices : ValueType::Slice);
  }

  void expression(ExprId id, ValueType wanted) {
    Nested nested(*this);
    if (!ok() || !require(index(id) < program_.exprs.size(), "expressions"))
      return;
    const Expr &e = program_.expr(id);
    const ExprInfo &info = infoOf(e.kind);
    const ExprId ids[] = {e.a, e.b, e.c};
    require(!exprUsed_[index(id)], "users of an expression");
    exprUsed_[index(id)] = true;
    require(index(e.owner) == declId_, "owners of expressions");
    require(representation(e.type) == wanted, "types of expressions");
    for (unsigned i = 0; i < 3; ++i) // else it would have operands that nobody has looked at
      require(info.operands[i] != Operand::None || ids[i] == kNoExpr, "operands of expressions");
    place(e.loc);
    Scope scope(*this);
    value(info.value, e.value);
    useSlot(e, info.slot);
    for (unsigned i = 0; i < 3 && ok(); ++i)
      operand(info.operands[i], ids[i], e);
    if (ok())
      require(typeOf(e, info) == wanted, "types of expressions");
  }

  ValueType typeOf(const Expr &e, const ExprInfo &info) {
    if (info.result != Operand::Own)
      return representation(colldsl::typeOf(info.result));
    if (info.value == ValueUse::Builtin)
      return representation(colldsl::typeOf(infoOf(static_cast<Builtin>(e.value)).result));
    if (info.value == ValueUse::Function)
      return typeAt(program_.decls[e.value].result);
    if (info.value == ValueUse::Literal) {
      if (e.type == ValueType::Reduction)
        require(e.value >= 0 && e.value < kReductions, "reductions");
      else
        require(representation(e.type) == ValueType::Int, "literals");
    }
    return representation(e.type);
  }

  /// The slot that an expression reads, or that it fills before its operands.
  void useSlot(const Expr &e, SlotUse use) {
    if (use == SlotUse::Int)
      require(e.slot < ints_.size() && ints_[e.slot] == representation(e.type), "values of slots");
    else if (use == SlotUse::Slice)
      require(e.slot < slices_.size() && slices_[e.slot], "values of slots");
    else if (use == SlotUse::Size)
      require(e.slot < decl_->sizeSlots, "sizes");
    else if (use == SlotUse::Rank)
      giveInt(e.slot, ValueType::Int);
  }

  /// How many values the field has, and what a wrong one is called.
  std::pair<size_t, const char *> boundOf(ValueUse use) const {
    switch (use) {
    case ValueUse::None:
    case ValueUse::Literal:
      return {SIZE_MAX, ""};
    case ValueUse::Level:
      return {kLevels.size(), "levels"};
    case ValueUse::Direction:
      return {2, "directions"};
    case ValueUse::Closed:
      return {2, "ranges"};
    case ValueUse::Multicast:
      return {2, "messages"};
    case ValueUse::String:
      return {program_.strings.size(), "strings"};
    case ValueUse::Temp:
      return {program_.temps.size(), "temporaries"};
    case ValueUse::Aggregate:
      return {kAggregateKinds, "aggregates"};
    case ValueUse::Builtin:
      return {kBuiltinKinds, "built-in functions"};
    case ValueUse::Collective:
    case ValueUse::Tree:
    case ValueUse::Graph:
    case ValueUse::Function:
      return {program_.decls.size(), "callees"};
    }
    __builtin_unreachable();
  }

  void value(ValueUse use, int64_t value) {
    auto [end, what] = boundOf(use);
    if (end == SIZE_MAX) // any number
      return;
    bool isBelow = value >= 0 && static_cast<uint64_t>(value) < end;
    if (!require(isBelow, what) || !isCallee(use))
      return;
    const Decl &callee = program_.decls[value];
    require(callee.kind == calleeKind(use), "callees");
    if (use == ValueUse::Function)
      require(index(callee.result) < program_.exprs.size(), "results");
  }

  void operand(Operand type, ExprId id, const Expr &e) {
    switch (type) {
    case Operand::Own:
      require(e.type <= ValueType::Slice, "types of choices");
      return expression(id, representation(e.type));
    case Operand::Comparable: {
      ValueType found = typeAt(id);
      require(found == ValueType::Int || found == ValueType::Reduction, "types of comparisons");
      return expression(id, found);
    }
    case Operand::First:
      return expression(id, typeAt(e.a));
    case Operand::Iterable:
      return iterable(id, e.slot, false);
    default:
      return isList(type) ? listed(type, list(index(e.a), index(e.b)), e.value)
                          : plainOperand(type, id);
    }
  }

  void operand(Operand type, ExprId id, const Stmt &s) {
    switch (type) {
    case Operand::Value:
      return named(id, s);
    case Operand::Iterable:
      return iterable(id, s.slot, s.sliceSlot);
    case Operand::Carried:
      return carried(id, s);
    case Operand::Peer:
      return expression(id, s.alongEdge ? ValueType::Edge : ValueType::Int);
    default:
      return plainOperand(type, id);
    }
  }

  /// One that has the same type wherever it is.
  void plainOperand(Operand type, ExprId id) {
    switch (type) {
    case Operand::None:
    case Operand::Count: // of the list before it
      return;
    case Operand::OptionalInt:
      return optional(id, ValueType::Int);
    case Operand::OptionalReduction:
      return optional(id, ValueType::Reduction);
    case Operand::OptionalGroup:
      return optional(id, ValueType::Group);
    case Operand::SliceOrSlices:
      return slices(id);
    default:
      return expression(id, representation(colldsl::typeOf(type)));
    }
  }

  void listed(Operand type, std::span<const uint32_t> items, int64_t callee) {
    if (!ok())
      return;
    if (type == Operand::BuiltinArgs)
      return arguments(items, infoOf(static_cast<Builtin>(callee)));
    if (type == Operand::CalleeArgs)
      return arguments(items, program_.decls[callee]);
    if (type == Operand::PartArgs && require(items.size() == 4, "parts")) {
      constexpr Operand kTypes[] = {Operand::Slice, Operand::Int, Operand::OptionalInt,
                                    Operand::Int};
      for (size_t i = 0; i < 4; ++i)
        plainOperand(kTypes[i], ExprId{items[i]});
      return;
    }
    for (uint32_t item : items)
      if (type == Operand::IntArgs)
        expression(ExprId{item}, ValueType::Int);
      else if (type == Operand::SliceArgs)
        slices(ExprId{item});
      else if (type == Operand::Statements)
        statement(StmtId{item});
  }

  void arguments(std::span<const uint32_t> args, const BuiltinInfo &callee) {
    require(args.size() >= callee.least && args.size() <= callee.most,
            "arguments of built-in functions");
    for (size_t i = 0; i < args.size(); ++i)
      expression(ExprId{args[i]}, i == 0 ? callee.first : ValueType::Int);
  }

  void arguments(std::span<const uint32_t> args, const Decl &callee) {
    if (!require(args.size() == callee.params.size(), "numbers of arguments"))
      return;
    for (size_t i = 0; i < args.size(); ++i) {
      const Param &param = callee.params[i];
      if (ExprId{args[i]} == kNoExpr)
        require(!param.isBuffer && param.defaultValue != kNoExpr, "arguments left out");
      else
        expression(ExprId{args[i]}, param.isBuffer ? ValueType::Slice : representation(param.type));
    }
  }

  /// What a loop runs over. Its name is known up to the end of the scope at hand.
  void iterable(ExprId id, uint32_t slot, bool isSlice) {
    ValueType type = typeAt(id);
    if (!ok())
      return;
    bool fits = isSlice ? program_.expr(id).kind == ExprKind::Segments
                        : type == ValueType::Range || type == ValueType::Edges ||
                              type == ValueType::IntList;
    if (!require(fits, "what loops run over"))
      return;
    expression(id, type);
    if (isSlice)
      giveSlice(slot);
    else
      giveInt(slot, type == ValueType::Edges ? ValueType::Edge : ValueType::Int);
  }

  /// What a name is given to.
  void named(ExprId id, const Stmt &s) {
    ValueType type = s.sliceSlot ? ValueType::Slice : typeAt(id);
    require(s.sliceSlot || livesInIntSlot(type), "types of slots");
    expression(id, type);
    s.sliceSlot ? giveSlice(s.slot) : giveInt(s.slot, type);
  }

  void carried(ExprId id, const Stmt &s) {
    bool carries = s.op == OpKind::Send || s.op == OpKind::Recv;
    require(isMessage(s.op) && carries == (id != kNoExpr), "messages");
    require(s.d == kNoExpr || s.op == OpKind::Recv, "messages");
    require(s.value == 0 || carries, "messages");
    if (carries)
      slices(id);
  }

  void statement(StmtId id) {
    Nested nested(*this);
    if (!ok() || !require(index(id) < program_.stmts.size(), "statements"))
      return;
    const Stmt &s = program_.stmt(id);
    const StmtInfo &info = infoOf(s.kind);
    require(!stmtUsed_[index(id)], "users of a statement");
    stmtUsed_[index(id)] = true;
    place(s.loc);
    require(info.mayHaveLabel || s.label == kNoSlot, "labels");
    bool fits = canStandIn(info.where, decl_->kind);
    bool namesSlice = info.slot != SlotUse::None && s.sliceSlot;
    require(fits && (!namesSlice || decl_->kind == DeclKind::Collective), "kinds of statements");
    std::optional<Scope> scope;
    if (info.bodies > 0 || info.list == Operand::Statements)
      scope.emplace(*this);
    value(info.value, s.value);
    if (info.list == Operand::Labels)
      ordered(s);
    else if (isList(info.list))
      listed(info.list, list(s.listBegin, s.listCount), s.value);
    const ExprId ids[] = {s.a, s.b, s.c, s.d};
    for (unsigned i = 0; i < 4 && ok(); ++i)
      operand(info.operands[i], ids[i], s);
    if (info.slot == SlotUse::Temp)
      temporary(s);
    if (info.bodies > 0)
      scoped(s.body);
    if (info.bodies > 1 && s.otherwise != kNoStmt)
      scoped(s.otherwise);
    if (s.label != kNoSlot)
      labelRef(s.label);
  }

  void scoped(StmtId id) {
    Scope scope(*this);
    statement(id);
  }

  void temporary(const Stmt &s) {
    if (!ok() || !require(!tempUsed_[s.value], "temporaries"))
      return;
    tempUsed_[s.value] = true;
    bufferType(program_.temps[s.value]);
    giveSlice(s.slot);
  }

  void ordered(const Stmt &s) {
    require(s.listCount >= 2, "labels");
    for (uint32_t i = 0; i < s.listCount && ok(); ++i)
      labelRef(s.listBegin + i);
  }

  void labelRef(uint32_t id) {
    if (!require(id < program_.labels.size() && !labelUsed_[id], "labels"))
      return;
    labelUsed_[id] = true;
    const LabelRef &label = program_.labels[id];
    require(label.name <= program_.labels.size(), "labels");
    string(label.text);
    place(label.loc);
    for (uint32_t at : list(label.indexBegin, label.indexCount))
      expression(ExprId{at}, ValueType::Int);
  }

  // Declarations

  void bufferType(const BufferType &type) {
    if (!require(type.dims == 1 || type.dims == 2, "dimensions"))
      return;
    for (uint32_t d = 0; d < type.dims; ++d) {
      const Dim &dim = type.dim[d];
      bool isLast = d + 1 == type.dims;
      require(dim.slot == kNoSlot || dim.slot < decl_->sizeSlots, "sizes");
      switch (dim.kind) {
      case DimKind::Symbol:
        require(dim.slot != kNoSlot, "sizes");
        [[fallthrough]];
      case DimKind::Fixed:
        expression(dim.expr, ValueType::Int);
        break;
      case DimKind::Counts:
        require(isLast && type.dims == 2, "dimensions");
        expression(dim.expr, ValueType::IntList);
        break;
      case DimKind::CallTime:
        require(isLast && dim.expr == kNoExpr, "dimensions");
        break;
      case DimKind::Capacity:
        require(isLast, "dimensions");
        expression(dim.expr, ValueType::Int);
        break;
      }
    }
  }

  void parameter(const Param &p) {
    string(p.name);
    place(p.loc);
    if (p.isBuffer) {
      require(p.role != BufferRole::Temp && decl_->kind == DeclKind::Collective, "parameters");
      bufferType(p.buffer);
      optional(p.significantAt, ValueType::Int);
      return giveSlice(p.slot);
    }
    require(p.type < ValueType::Slice && p.type != ValueType::Edge && p.type != ValueType::Group,
            "types of parameters");
    optional(p.defaultValue, representation(p.type));
    for (const Candidate &candidate : p.candidates) {
      expression(candidate.lo, representation(p.type));
      optional(candidate.hi, representation(p.type));
    }
    giveInt(p.slot, representation(p.type));
  }

  enum class Nesting : uint8_t { Whole, Inner };

  void promise(uint32_t id, Nesting nesting) {
    Nested nested(*this);
    if (!ok() || !require(id < program_.ensures.size() && !ensureUsed_[id], "promises"))
      return;
    ensureUsed_[id] = true;
    const EnsureNode &node = program_.ensures[id];
    place(node.loc);
    Scope scope(*this);
    switch (node.kind) {
    case EnsureKind::Equal:
      expression(node.target, ValueType::Slice);
      expression(node.operand, ValueType::Slice);
      return optional(node.rank, ValueType::Int);
    case EnsureKind::EqualReduce:
      expression(node.target, ValueType::Slice);
      expression(node.reduction, ValueType::Reduction);
      iterable(node.iterable, node.slot, false);
      optional(node.condition, ValueType::Int);
      expression(node.operand, ValueType::Slice);
      return optional(node.rank, ValueType::Int);
    case EnsureKind::ForEach:
      iterable(node.iterable, node.slot, false);
      optional(node.condition, ValueType::Int);
      return promise(node.inner, Nesting::Inner);
    case EnsureKind::At:
      expression(node.condition, ValueType::Int);
      return promise(node.inner, Nesting::Inner);
    case EnsureKind::Synchronizes:
      require(nesting == Nesting::Whole, "promises"); // of all ranks, under no condition
      return;
    }
  }

  void declaration(DeclId id) {
    const Decl &decl = program_.decl(id);
    decl_ = &decl;
    declId_ = index(id);
    string(decl.name);
    string(decl.doc);
    place(decl.loc);
    // Each has something of its own that gives it a value: no frame is larger than the file.
    size_t most = decl.params.size() + program_.exprs.size() + program_.stmts.size() +
                  program_.ensures.size();
    require(decl.intSlots <= most && decl.sliceSlots <= most &&
                decl.sizeSlots == decl.sizeNames.size(),
            "numbers of slots");
    if (!ok())
      return;
    for (uint32_t name : decl.sizeNames)
      string(name);
    ints_.assign(decl.intSlots, std::nullopt);
    slices_.assign(decl.sliceSlots, false);
    given_.clear();
    for (bool buffers : {false, true}) // values are bound first
      for (const Param &p : decl.params)
        if (p.isBuffer == buffers)
          parameter(p);
    for (ExprId requirement : decl.requirements)
      expression(requirement, ValueType::Int);
    for (const AliasClause &alias : decl.aliases) {
      require(alias.param < decl.params.size() && decl.params[alias.param].isBuffer, "aliases");
      expression(alias.slice, ValueType::Slice);
      place(alias.loc);
    }
    for (uint32_t ensure : decl.ensures)
      promise(ensure, Nesting::Whole);
    bool isFunction = decl.kind == DeclKind::Function;
    require(isFunction == (decl.body == kNoStmt) && isFunction == (decl.result != kNoExpr),
            "bodies");
    require(decl.kind == DeclKind::Collective || (decl.ensures.empty() && decl.aliases.empty()),
            "promises");
    if (!ok())
      return;
    if (!isFunction)
      return statement(decl.body);
    if (!require(index(decl.result) < program_.exprs.size(), "results"))
      return;
    ValueType result = program_.expr(decl.result).type;
    require(result < ValueType::Slice, "results"); // what a loop runs over is no value
    expression(decl.result, representation(result));
  }

  void argument(const GivenArgument &given) {
    if (!ok() || !require(index(given.decl) < program_.decls.size(), "arguments"))
      return;
    decl_ = &program_.decl(given.decl);
    declId_ = index(given.decl);
    if (!require(given.param < decl_->params.size() && !decl_->params[given.param].isBuffer,
                 "arguments"))
      return;
    ints_.assign(decl_->intSlots, std::nullopt);
    slices_.assign(decl_->sliceSlots, false);
    given_.clear();
    expression(given.value, representation(decl_->params[given.param].type));
  }

  const Program &program_;
  const Decl *decl_ = nullptr;
  uint32_t declId_ = 0;
  std::vector<bool> exprUsed_, stmtUsed_, tempUsed_, labelUsed_, ensureUsed_;
  std::vector<std::optional<ValueType>> ints_; ///< of the declaration at hand
  std::vector<bool> slices_;                   ///< likewise: whether it has a value
  std::vector<Given> given_;
  uint32_t depth_ = 0;
  std::string error_;
};

} // namespace

Status checkProgram(const Program &program) { return ProgramChecker(program).check(); }

void disownUnused(Program &program) {
  ProgramChecker checker(program);
  (void)checker.check(); // complains of what is about to be mended
  for (size_t i = 0; i < program.exprs.size(); ++i)
    if (!checker.usedExprs()[i])
      program.exprs[i].owner = kNoDecl;
}

} // namespace colldsl
