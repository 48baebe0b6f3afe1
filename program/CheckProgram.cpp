// Whether a program that was read from a file is as sound as one that the compiler made:
// so that instantiation, which trusts programs, may trust this one too.
//
// Walks every declaration once, in the order in which its frame is filled: parameters,
// then the body; at each point it knows which slots have a value, and of which kind.
// Each expression and statement has one user at most, so the walk is linear.
#include "program/Holds.h"
#include "program/SerializedProgram.h"

#include <algorithm>

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
  std::span<const uint32_t> operandsOf(const Expr &e) { return list(index(e.a), index(e.b)); }

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
  void giveInt(uint32_t slot, Holds holds) {
    if (!require(slot < ints_.size() && ints_[slot] == Holds::Nothing, "slots"))
      return;
    ints_[slot] = holds;
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
          checker.ints_[last.slot] = Holds::Nothing;
      }
    }
    ProgramChecker &checker;
    size_t given;
  };

  // Expressions

  void optional(ExprId id, Holds wanted) {
    if (id != kNoExpr)
      expression(id, wanted);
  }

  void slices(ExprId id) {
    if (!require(index(id) < program_.exprs.size(), "expressions"))
      return;
    Holds holds = holdsOf(program_.expr(id).type);
    expression(id, holds == Holds::Slices ? holds : Holds::Slice);
  }

  void expression(ExprId id, Holds wanted) {
    Nested nested(*this);
    if (!ok() || !require(index(id) < program_.exprs.size(), "expressions"))
      return;
    const Expr &e = program_.expr(id);
    require(!exprUsed_[index(id)], "users of an expression");
    exprUsed_[index(id)] = true;
    require(index(e.owner) == declId_, "owners of expressions");
    require(holdsOf(e.type) == wanted, "types of expressions");
    // Else it would have operands that nobody has looked at.
    unsigned operands = numOperands(e.kind);
    require((operands > 0 || e.a == kNoExpr) && (operands > 1 || e.b == kNoExpr) &&
                (operands > 2 || e.c == kNoExpr),
            "operands of expressions");
    place(e.loc);
    if (ok())
      require(holdsOf(e.type) == resultOf(e), "types of expressions");
  }

  Holds ints(const Expr &e) {
    expression(e.a, Holds::Int);
    if (numOperands(e.kind) > 1)
      expression(e.b, Holds::Int);
    return Holds::Int;
  }

  /// Checks the operands; what the expression yields.
  Holds resultOf(const Expr &e) {
    switch (e.kind) {
    case ExprKind::IntLit:
      if (e.type == ValueType::Reduction)
        require(e.value >= 0 && e.value < kReductions, "reductions");
      else
        require(holdsOf(e.type) == Holds::Int, "literals");
      return holdsOf(e.type);
    case ExprKind::LocalInt:
      require(e.slot < ints_.size() && ints_[e.slot] == holdsOf(e.type), "values of slots");
      return holdsOf(e.type);
    case ExprKind::MyRank:
    case ExprKind::NumRanks:
      return Holds::Int;
    case ExprKind::SizeSymbol:
      require(e.slot < decl_->sizeSlots, "sizes");
      return Holds::Int;
    case ExprKind::Negate:
    case ExprKind::Not:
    case ExprKind::NotNone:
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
    case ExprKind::Lt:
    case ExprKind::Le:
    case ExprKind::Gt:
    case ExprKind::Ge:
      return ints(e);
    case ExprKind::Eq:
    case ExprKind::Ne:
      return compared(e);
    case ExprKind::Select:
      expression(e.a, Holds::Int);
      expression(e.b, holdsOf(e.type));
      expression(e.c, holdsOf(e.type));
      require(e.type <= ValueType::Slice, "types of choices");
      return holdsOf(e.type);
    case ExprKind::CallBuiltin:
      return builtin(e);
    case ExprKind::CallFunction:
      return called(e, DeclKind::Function);
    case ExprKind::MakeTree:
      return called(e, DeclKind::Tree);
    case ExprKind::MakeGraph:
      return called(e, DeclKind::Graph);
    case ExprKind::Aggregation:
      require(e.value >= 0 && e.value < kAggregateKinds, "aggregates");
      forEach(e.a, e.slot, false, [&] {
        optional(e.b, Holds::Int);
        expression(e.c, Holds::Int);
      });
      return Holds::Int;
    case ExprKind::ListComprehension:
      forEach(e.a, e.slot, false, [&] {
        optional(e.b, Holds::Int);
        expression(e.c, Holds::Int);
      });
      return Holds::IntList;
    case ExprKind::SliceComprehension:
      forEach(e.a, e.slot, false, [&] {
        optional(e.b, Holds::Int);
        slices(e.c);
      });
      return Holds::Slices;
    case ExprKind::ListElement:
      expression(e.a, Holds::IntList);
      expression(e.b, Holds::Int);
      return Holds::Int;
    case ExprKind::ListLength:
      expression(e.a, Holds::IntList);
      return Holds::Int;
    case ExprKind::ListLiteral:
      for (uint32_t operand : operandsOf(e))
        expression(ExprId{operand}, Holds::Int);
      return Holds::IntList;
    case ExprKind::StringLit:
      require(e.value >= 0 && e.value < static_cast<int64_t>(program_.strings.size()), "strings");
      return Holds::String;
    case ExprKind::EdgesFile:
      expression(e.a, Holds::String);
      return Holds::Graph;
    case ExprKind::IsCommutative:
      expression(e.a, Holds::Reduction);
      return Holds::Int;
    case ExprKind::RangeOf:
      require(e.value == 0 || e.value == 1, "ranges");
      expression(e.a, Holds::Int);
      expression(e.b, Holds::Int);
      return Holds::Range;
    case ExprKind::Segments:
      expression(e.a, Holds::Slice);
      expression(e.b, Holds::Int);
      return Holds::Slices;
    default:
      return e.kind >= ExprKind::LocalSlice ? sliceOf(e) : structure(e);
    }
  }

  Holds compared(const Expr &e) {
    if (!require(index(e.a) < program_.exprs.size(), "expressions"))
      return Holds::Int;
    Holds holds = holdsOf(program_.expr(e.a).type);
    require(holds == Holds::Int || holds == Holds::Reduction, "types of comparisons");
    expression(e.a, holds);
    expression(e.b, holds);
    return Holds::Int;
  }

  Holds builtin(const Expr &e) {
    if (!require(e.value >= 0 && e.value < kBuiltinKinds, "built-in functions"))
      return Holds::Int;
    auto args = operandsOf(e);
    auto builtin = static_cast<Builtin>(e.value);
    bool isShift = builtin == Builtin::Shift || builtin == Builtin::ShiftOpen;
    bool ofList = builtin == Builtin::SumList || builtin == Builtin::ProductList;
    bool isOpen = builtin == Builtin::Min || builtin == Builtin::Max;
    size_t count = isShift ? 3 : builtin == Builtin::BitReverse ? 2 : 1;
    require(isOpen ? !args.empty() : args.size() == count, "arguments of built-in functions");
    for (size_t i = 0; i < args.size(); ++i)
      expression(ExprId{args[i]}, i == 0 && (isShift || ofList) ? Holds::IntList : Holds::Int);
    return Holds::Int;
  }

  /// A function, tree or graph with its arguments.
  Holds called(const Expr &e, DeclKind kind) {
    const Decl *callee = declOf(e.value, kind);
    if (!callee)
      return Holds::Nothing;
    arguments(operandsOf(e), *callee);
    if (kind == DeclKind::Tree)
      return Holds::Tree;
    if (kind == DeclKind::Graph)
      return Holds::Graph;
    bool hasResult = require(index(callee->result) < program_.exprs.size(), "results");
    return hasResult ? holdsOf(program_.expr(callee->result).type) : Holds::Nothing;
  }

  const Decl *declOf(int64_t id, DeclKind kind) {
    bool fits = id >= 0 && id < static_cast<int64_t>(program_.decls.size()) &&
                program_.decls[id].kind == kind;
    return require(fits, "callees") ? &program_.decls[id] : nullptr;
  }

  void arguments(std::span<const uint32_t> args, const Decl &callee) {
    if (!require(args.size() == callee.params.size(), "numbers of arguments"))
      return;
    for (size_t i = 0; i < args.size(); ++i) {
      const Param &param = callee.params[i];
      if (ExprId{args[i]} == kNoExpr)
        require(!param.isBuffer && param.defaultValue != kNoExpr, "arguments left out");
      else
        expression(ExprId{args[i]}, param.isBuffer ? Holds::Slice : holdsOf(param.type));
    }
  }

  /// Trees, graphs, edges and groups.
  Holds structure(const Expr &e) {
    auto isLevel = [&] {
      require(e.value >= 0 && e.value < static_cast<int64_t>(kLevels.size()), "levels");
    };
    switch (e.kind) {
    case ExprKind::TreeRoot:
    case ExprKind::TreeParent:
      expression(e.a, Holds::Tree);
      return Holds::Int;
    case ExprKind::TreeChildren:
      expression(e.a, Holds::Tree);
      return Holds::IntList;
    case ExprKind::TreeSubtree:
      expression(e.a, Holds::Tree);
      expression(e.b, Holds::Int);
      return Holds::IntList;
    case ExprKind::TreeAt:
      expression(e.a, Holds::Tree);
      expression(e.b, Holds::Int);
      return Holds::Tree;
    case ExprKind::GraphAt:
      expression(e.a, Holds::Graph);
      expression(e.b, Holds::Int);
      return Holds::Graph;
    case ExprKind::GraphDegree:
    case ExprKind::EdgesOf:
      require(e.value == 0 || e.value == 1, "directions");
      expression(e.a, Holds::Graph);
      return e.kind == ExprKind::EdgesOf ? Holds::Edges : Holds::Int;
    case ExprKind::EdgeSlot:
    case ExprKind::EdgePeer:
    case ExprKind::EdgePeerSlot:
    case ExprKind::EdgeWeight:
    case ExprKind::EdgeKey:
      expression(e.a, Holds::Edge);
      return Holds::Int;
    case ExprKind::GroupSize:
    case ExprKind::GroupRank:
      expression(e.a, Holds::Group);
      return Holds::Int;
    case ExprKind::GroupMember:
    case ExprKind::GroupContains:
      expression(e.a, Holds::Group);
      expression(e.b, Holds::Int);
      return Holds::Int;
    case ExprKind::Leader:
      isLevel();
      optional(e.a, Holds::Int);
      optional(e.b, Holds::Int);
      return Holds::Int;
    case ExprKind::GroupOf:
      isLevel();
      return Holds::Group;
    case ExprKind::GroupLeaders:
      isLevel();
      optional(e.a, Holds::Int);
      return Holds::Group;
    case ExprKind::GroupWhere:
    case ExprKind::GroupSplit: {
      Scope scope(*this);
      giveInt(e.slot, Holds::Int);
      expression(e.a, Holds::Int);
      return Holds::Group;
    }
    default: // resultOf has the others
      return Holds::Nothing;
    }
  }

  Holds sliceOf(const Expr &e) {
    switch (e.kind) {
    case ExprKind::LocalSlice:
      require(e.slot < slices_.size() && slices_[e.slot], "values of slots");
      return Holds::Slice;
    case ExprKind::Block:
      expression(e.a, Holds::Slice);
      expression(e.b, Holds::Int);
      return Holds::Slice;
    case ExprKind::Blocks:
      expression(e.a, Holds::Slice);
      expression(e.b, Holds::Int);
      expression(e.c, Holds::Int);
      return Holds::Slice;
    case ExprKind::Elements:
      expression(e.a, Holds::Slice);
      expression(e.b, Holds::Int);
      optional(e.c, Holds::Int);
      return Holds::Slice;
    case ExprKind::Part:
      if (auto parts = operandsOf(e); require(parts.size() == 4, "parts")) {
        expression(ExprId{parts[0]}, Holds::Slice);
        expression(ExprId{parts[1]}, Holds::Int);
        optional(ExprId{parts[2]}, Holds::Int);
        expression(ExprId{parts[3]}, Holds::Int);
      }
      return Holds::Slice;
    default: // SliceList; resultOf has the comprehension
      require(e.kind == ExprKind::SliceList, "expressions");
      for (uint32_t operand : operandsOf(e))
        slices(ExprId{operand});
      return Holds::Slices;
    }
  }

  /// A loop, of a statement or a comprehension: `body` sees its name.
  template <typename Body> void forEach(ExprId iterable, uint32_t slot, bool isSlice, Body body) {
    if (!require(index(iterable) < program_.exprs.size(), "expressions"))
      return;
    const Expr &over = program_.expr(iterable);
    Holds holds = holdsOf(over.type);
    bool fits = isSlice ? over.kind == ExprKind::Segments
                        : holds == Holds::Range || holds == Holds::Edges || holds == Holds::IntList;
    if (!require(fits, "what loops run over"))
      return;
    expression(iterable, holds);
    Scope scope(*this);
    if (isSlice)
      giveSlice(slot);
    else
      giveInt(slot, holds == Holds::Edges ? Holds::Edge : Holds::Int);
    body();
  }

  // Statements

  void statement(StmtId id) {
    Nested nested(*this);
    if (!ok() || !require(index(id) < program_.stmts.size(), "statements"))
      return;
    const Stmt &s = program_.stmt(id);
    require(!stmtUsed_[index(id)], "users of a statement");
    stmtUsed_[index(id)] = true;
    place(s.loc);
    checkKind(s);
    switch (s.kind) {
    case StmtKind::Block: {
      Scope scope(*this);
      for (uint32_t inner : list(s.listBegin, s.listCount))
        statement(StmtId{inner});
      return;
    }
    case StmtKind::Let:
      return let(s);
    case StmtKind::Temp:
      if (!require(s.value >= 0 && s.value < static_cast<int64_t>(program_.temps.size()) &&
                       !tempUsed_[s.value],
                   "temporaries"))
        return;
      tempUsed_[s.value] = true;
      bufferType(program_.temps[s.value]);
      return giveSlice(s.slot);
    case StmtKind::For:
      return forEach(s.a, s.slot, s.sliceSlot, [&] { statement(s.body); });
    case StmtKind::If:
      expression(s.a, Holds::Int);
      scoped(s.body);
      if (s.otherwise != kNoStmt)
        scoped(s.otherwise);
      return;
    case StmtKind::Message:
      return message(s);
    case StmtKind::Copy:
    case StmtKind::Combine:
      slices(s.a);
      slices(s.b);
      if (s.kind == StmtKind::Combine)
        expression(s.d, Holds::Reduction);
      return label(s);
    case StmtKind::Calc:
      expression(s.a, Holds::Int);
      return label(s);
    case StmtKind::Depend:
      require(s.listCount >= 2, "labels");
      for (uint32_t i = 0; i < s.listCount && ok(); ++i)
        labelRef(s.listBegin + i);
      return;
    case StmtKind::Call:
      if (const Decl *callee = declOf(s.value, DeclKind::Collective))
        arguments(list(s.listBegin, s.listCount), *callee);
      optional(s.a, Holds::Group);
      return label(s);
    case StmtKind::Parent:
    case StmtKind::Child:
      return expression(s.a, Holds::Int);
    case StmtKind::Edge:
      require(s.value == 0 || s.value == 1, "directions");
      expression(s.a, Holds::Int);
      optional(s.b, Holds::Int);
      optional(s.c, Holds::Int);
      return;
    }
  }

  void scoped(StmtId id) {
    Scope scope(*this);
    statement(id);
  }

  /// Trees have parents and children, graphs edges, collectives all the rest.
  void checkKind(const Stmt &s) {
    bool isTree = decl_->kind == DeclKind::Tree, isGraph = decl_->kind == DeclKind::Graph;
    bool makesOps = s.kind == StmtKind::Message || s.kind == StmtKind::Copy ||
                    s.kind == StmtKind::Combine || s.kind == StmtKind::Calc ||
                    s.kind == StmtKind::Call;
    require(makesOps || s.label == kNoSlot, "labels");
    switch (s.kind) {
    case StmtKind::Block:
    case StmtKind::If:
      return;
    case StmtKind::Let:
    case StmtKind::For:
      require(!s.sliceSlot || decl_->kind == DeclKind::Collective, "kinds of statements");
      return;
    case StmtKind::Parent:
    case StmtKind::Child:
      require(isTree, "kinds of statements");
      return;
    case StmtKind::Edge:
      require(isGraph, "kinds of statements");
      return;
    default:
      require(!isTree && !isGraph, "kinds of statements");
    }
  }

  void let(const Stmt &s) {
    if (s.sliceSlot) {
      expression(s.a, Holds::Slice);
      return giveSlice(s.slot);
    }
    if (!require(index(s.a) < program_.exprs.size(), "expressions"))
      return;
    ValueType type = program_.expr(s.a).type;
    require(type < ValueType::Slice, "types of slots");
    expression(s.a, holdsOf(type));
    giveInt(s.slot, holdsOf(type));
  }

  void message(const Stmt &s) {
    bool carries = s.op == OpKind::Send || s.op == OpKind::Recv;
    require(isMessage(s.op) && carries == (s.a != kNoExpr), "messages");
    if (carries)
      slices(s.a);
    expression(s.b, s.alongEdge ? Holds::Edge : Holds::Int);
    optional(s.c, Holds::Int);
    require(s.d == kNoExpr || s.op == OpKind::Recv, "messages");
    require(s.value == 0 || (s.value == 1 && carries), "messages");
    optional(s.d, Holds::Reduction);
    label(s);
  }

  void label(const Stmt &s) {
    if (s.label != kNoSlot)
      labelRef(s.label);
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
      expression(ExprId{at}, Holds::Int);
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
        expression(dim.expr, Holds::Int);
        break;
      case DimKind::Counts:
        require(isLast && type.dims == 2, "dimensions");
        expression(dim.expr, Holds::IntList);
        break;
      case DimKind::CallTime:
        require(isLast && dim.expr == kNoExpr, "dimensions");
        break;
      case DimKind::Capacity:
        require(isLast, "dimensions");
        expression(dim.expr, Holds::Int);
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
      optional(p.significantAt, Holds::Int);
      return giveSlice(p.slot);
    }
    require(p.type < ValueType::Slice && p.type != ValueType::Edge && p.type != ValueType::Group,
            "types of parameters");
    optional(p.defaultValue, holdsOf(p.type));
    for (const Candidate &candidate : p.candidates) {
      expression(candidate.lo, holdsOf(p.type));
      optional(candidate.hi, holdsOf(p.type));
    }
    giveInt(p.slot, holdsOf(p.type));
  }

  enum class Nesting : uint8_t { Whole, Inner };

  void promise(uint32_t id, Nesting nesting) {
    Nested nested(*this);
    if (!ok() || !require(id < program_.ensures.size() && !ensureUsed_[id], "promises"))
      return;
    ensureUsed_[id] = true;
    const EnsureNode &node = program_.ensures[id];
    place(node.loc);
    switch (node.kind) {
    case EnsureKind::Equal:
      expression(node.target, Holds::Slice);
      expression(node.operand, Holds::Slice);
      return optional(node.rank, Holds::Int);
    case EnsureKind::EqualReduce:
      expression(node.target, Holds::Slice);
      expression(node.reduction, Holds::Reduction);
      return forEach(node.iterable, node.slot, false, [&] {
        optional(node.condition, Holds::Int);
        expression(node.operand, Holds::Slice);
        optional(node.rank, Holds::Int);
      });
    case EnsureKind::ForEach:
      return forEach(node.iterable, node.slot, false, [&] {
        optional(node.condition, Holds::Int);
        promise(node.inner, Nesting::Inner);
      });
    case EnsureKind::At:
      expression(node.condition, Holds::Int);
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
    ints_.assign(decl.intSlots, Holds::Nothing);
    slices_.assign(decl.sliceSlots, false);
    given_.clear();
    for (bool buffers : {false, true}) // values are bound first
      for (const Param &p : decl.params)
        if (p.isBuffer == buffers)
          parameter(p);
    for (ExprId requirement : decl.requirements)
      expression(requirement, Holds::Int);
    for (const AliasClause &alias : decl.aliases) {
      require(alias.param < decl.params.size() && decl.params[alias.param].isBuffer, "aliases");
      expression(alias.slice, Holds::Slice);
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
    expression(decl.result, holdsOf(result));
  }

  void argument(const GivenArgument &given) {
    if (!ok() || !require(index(given.decl) < program_.decls.size(), "arguments"))
      return;
    decl_ = &program_.decl(given.decl);
    declId_ = index(given.decl);
    if (!require(given.param < decl_->params.size() && !decl_->params[given.param].isBuffer,
                 "arguments"))
      return;
    ints_.assign(decl_->intSlots, Holds::Nothing);
    slices_.assign(decl_->sliceSlots, false);
    given_.clear();
    expression(given.value, holdsOf(decl_->params[given.param].type));
  }

  const Program &program_;
  const Decl *decl_ = nullptr;
  uint32_t declId_ = 0;
  std::vector<bool> exprUsed_, stmtUsed_, tempUsed_, labelUsed_, ensureUsed_;
  std::vector<Holds> ints_;  ///< of the declaration at hand
  std::vector<bool> slices_; ///< likewise: whether it has a value
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
