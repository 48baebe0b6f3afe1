// Lowers bodies and int expressions to code. Within one piece of code temporaries are
// used like a stack: an expression leaves its value in the first one that is free.
// Pieces share none, since one may run while another waits for a tree's value.
// Bound: one instruction per node of an expression, one or two per statement.
#include "ir/Index32.h"
#include "program/Program.h"

#include <algorithm>
#include <map>
#include <span>

namespace colldsl {
namespace {

bool isLeaf(const Expr &e) { return infoOf(e.kind).opcode == Opcode::Move; }

class Lowering {
public:
  explicit Lowering(Program &program) : program_(program), code_(program.code) {}

  void all() {
    size_t firstExpr = code_.ofExpr.size(), firstDecl = code_.ofDecl.size();
    code_.ofExpr.resize(program_.exprs.size(), kNoCode);
    code_.ofDecl.resize(program_.decls.size());
    isPart_.assign(program_.exprs.size(), false);
    for (size_t i = 0; i < firstDecl; ++i) // arguments may have brought slots of their own
      code_.ofDecl[i].registers = std::max(code_.ofDecl[i].registers, program_.decls[i].intSlots);
    for (size_t i = firstDecl; i < program_.decls.size(); ++i)
      declaration(DeclId{static_cast<uint32_t>(i)});
    auto eachNew = [&](auto visit) {
      for (size_t i = firstExpr; i < program_.exprs.size(); ++i)
        if (ExprId id{static_cast<uint32_t>(i)}; becomesCode(id))
          visit(id);
    };
    eachNew([&](ExprId id) { markParts(expr(id)); });
    if (firstDecl != program_.decls.size())
      unmarkWhatIsWorkedOutInPieces();
    eachNew([&](ExprId id) {
      if (!isPart_[index(id)])
        code_.ofExpr[index(id)] = expression(id);
    });
  }

private:
  const Expr &expr(ExprId id) const { return program_.expr(id); }
  ExprId operand(const Expr &e, uint32_t i) const {
    return ExprId{program_.operands[index(e.a) + i]};
  }

  /// Of an expression that becomes code; Move of a leaf, Evaluate of what stays a tree.
  static Opcode opcodeOf(const Expr &e) {
    if (e.kind == ExprKind::CallBuiltin)
      return infoOf(static_cast<Builtin>(e.value)).opcode;
    if (e.kind == ExprKind::Select && !livesInIntSlot(e.type))
      return Opcode::Evaluate;
    return infoOf(e.kind).opcode;
  }

  bool becomesCode(ExprId id) const {
    const Expr &e = expr(id);
    if (e.owner == kNoDecl) // of a declaration with errors, or not looked at by checkProgram()
      return false;
    Opcode opcode = opcodeOf(e);
    return opcode != Opcode::Move && opcode != Opcode::Evaluate;
  }

  // Which expressions need no code of their own, since that of another has it

  template <typename Do> void eachPart(const Expr &e, Do visit) {
    if (e.kind == ExprKind::CallBuiltin) {
      for (uint32_t i = opcodeOf(e) == Opcode::GridShift ? 1 : 0; i < index(e.b); ++i)
        visit(operand(e, i));
      return;
    }
    const ExprId ids[] = {e.a, e.b, e.c};
    for (unsigned i = 0; i < infoOf(e.kind).numOperands(); ++i)
      visit(ids[i]);
  }

  void markParts(const Expr &e) {
    eachPart(e, [&](ExprId part) { isPart_[index(part)] = true; });
  }

  /// Sizes as symbols; indices of labels for messages.
  void unmarkWhatIsWorkedOutInPieces() {
    auto unmarkSizes = [&](const BufferType &type) {
      for (uint32_t d = 0; d < type.dims; ++d)
        if (type.dim[d].expr != kNoExpr)
          unmarkParts(type.dim[d].expr);
    };
    for (const BufferType &type : program_.temps)
      unmarkSizes(type);
    for (const Decl &decl : program_.decls)
      for (const Param &param : decl.params)
        if (param.isBuffer)
          unmarkSizes(param.buffer);
    for (const LabelRef &label : program_.labels)
      for (uint32_t i = 0; i < label.indexCount; ++i)
        isPart_[program_.operands[label.indexBegin + i]] = false;
  }

  void unmarkParts(ExprId root) {
    std::vector<ExprId> open{root};
    while (!open.empty()) {
      const Expr &e = expr(open.back());
      open.pop_back();
      if (e.kind != ExprKind::Add && e.kind != ExprKind::Sub && e.kind != ExprKind::Mul)
        continue;
      eachPart(e, [&](ExprId part) {
        isPart_[index(part)] = false;
        open.push_back(part);
      });
    }
  }

  // Expressions

  uint32_t next() const { return index32(code_.instructions.size()); }

  uint32_t emit(Opcode opcode, uint32_t origin, uint32_t to = 0, Register a = 0, Register b = 0) {
    code_.instructions.push_back({opcode, to, a, b, origin});
    return next() - 1;
  }

  void jumpHere(uint32_t jump) { code_.instructions[jump].to = next(); }

  Register newTemporary() {
    if (usedTemporaries_ == temporaries_.size())
      temporaries_.push_back(into_->registers++);
    return temporaries_[usedTemporaries_++];
  }

  Register constant(int64_t value) {
    auto [known, isNew] = constants_.try_emplace({into_, value}, into_->registers);
    if (isNew)
      into_->constants.push_back({into_->registers++, value});
    return known->second;
  }

  Register leaf(const Expr &e) {
    switch (e.kind) {
    case ExprKind::LocalInt:
      return e.slot;
    case ExprKind::MyRank:
      return into_->myRank;
    case ExprKind::NumRanks:
      return into_->numRanks;
    default:
      return constant(e.value);
    }
  }

  /// Where the value is: a leaf's own place, or a new temporary.
  Register value(ExprId id) {
    if (const Expr &e = expr(id); isLeaf(e))
      return leaf(e);
    Register to = newTemporary();
    valueInto(id, to);
    return to;
  }

  void valueInto(ExprId id, Register to) {
    const Expr &e = expr(id);
    uint32_t used = usedTemporaries_;
    if (isLeaf(e))
      emit(Opcode::Move, index(id), to, leaf(e));
    else if (!becomesCode(id))
      emit(Opcode::Evaluate, index(id), to);
    else
      operation(id, e, to);
    usedTemporaries_ = used;
  }

  void operation(ExprId id, const Expr &e, Register to) {
    if (e.kind == ExprKind::CallBuiltin)
      return builtin(id, e, to);
    if (e.kind == ExprKind::Select)
      return choice(id, e, to);
    if (e.kind == ExprKind::And || e.kind == ExprKind::Or)
      return logic(id, e, to);
    if (e.kind == ExprKind::Mod && wrapsAround(e))
      return wrapped(e, to);
    const ExprInfo &info = infoOf(e.kind);
    Register a = value(e.a), b = info.numOperands() > 1 ? value(e.b) : 0;
    bool isSwapped = e.kind == ExprKind::Gt || e.kind == ExprKind::Ge;
    emit(info.opcode, index(id), to, isSwapped ? b : a, isSwapped ? a : b);
  }

  /// The opcode of `and` and `or` jumps over the right side.
  void logic(ExprId id, const Expr &e, Register to) {
    valueInto(e.a, to);
    uint32_t done = emit(infoOf(e.kind).opcode, index(id), 0, to);
    valueInto(e.b, to);
    jumpHere(done);
  }

  void choice(ExprId id, const Expr &e, Register to) {
    uint32_t otherwise = jumpUnless(e.a);
    valueInto(e.b, to);
    uint32_t done = emit(Opcode::Jump, index(id));
    jumpHere(otherwise);
    valueInto(e.c, to);
    jumpHere(done);
  }

  void builtin(ExprId id, const Expr &e, Register to) {
    Opcode opcode = opcodeOf(e);
    if (opcode == Opcode::GridShift) {
      Register d = value(operand(e, 1)), delta = value(operand(e, 2));
      emit(opcode, index(id), to, d, delta);
      return;
    }
    Register first = value(operand(e, 0));
    if (opcode == Opcode::Bits) {
      emit(opcode, index(id), to, first);
      return;
    }
    for (uint32_t i = 1; i < index(e.b); ++i) { // Min, Max
      Register x = value(operand(e, i));
      emit(opcode, index(id), to, first, x);
      first = to;
    }
  }

  /// (a + b) % ranks, which schedules are full of.
  bool wrapsAround(const Expr &e) const {
    ExprKind kind = expr(e.a).kind;
    return expr(e.b).kind == ExprKind::NumRanks && (kind == ExprKind::Add || kind == ExprKind::Sub);
  }
  void wrapped(const Expr &e, Register to) {
    const Expr &inner = expr(e.a);
    Register a = value(inner.a), b = value(inner.b);
    emit(inner.kind == ExprKind::Add ? Opcode::AddWrapped : Opcode::SubWrapped, index(e.a), to, a,
         b);
  }

  /// A jump that is taken if the condition does not hold; its target is still open.
  uint32_t jumpUnless(ExprId condition) {
    const Expr &e = expr(condition);
    uint32_t used = usedTemporaries_;
    bool compares = e.kind == ExprKind::Lt || e.kind == ExprKind::Gt || e.kind == ExprKind::Eq ||
                    e.kind == ExprKind::Ne;
    uint32_t jump = 0;
    if (compares) {
      Register a = value(e.a), b = value(e.b);
      if (e.kind == ExprKind::Gt)
        std::swap(a, b);
      Opcode opcode = e.kind == ExprKind::Eq   ? Opcode::JumpUnlessEqual
                      : e.kind == ExprKind::Ne ? Opcode::JumpIfEqual
                                               : Opcode::JumpUnlessLess;
      jump = emit(opcode, index(condition), 0, a, b);
    } else {
      Register holds = value(condition);
      jump = emit(Opcode::JumpUnless, index(condition), 0, holds);
    }
    usedTemporaries_ = used;
    return jump;
  }

  /// The place of a new piece of code.
  uint32_t piece(DeclCode &into) {
    into_ = &into;
    temporaries_.clear();
    usedTemporaries_ = 0;
    return next();
  }

  uint32_t expression(ExprId id) {
    uint32_t begin = piece(code_.ofDecl[index(expr(id).owner)]);
    Register result = value(id);
    emit(Opcode::Return, index(id), 0, result);
    return begin;
  }

  // Statements

  /// Bodies of loops over lists, edges and segments are pieces of their own: they are
  /// lowered once the piece at hand has ended.
  void declaration(DeclId id) {
    const Decl &decl = program_.decl(id);
    DeclCode &made = code_.ofDecl[index(id)];
    made.myRank = decl.intSlots;
    made.numRanks = decl.intSlots + 1;
    made.registers = decl.intSlots + 2;
    if (decl.body == kNoStmt)
      return;
    pending_.clear();
    made.body = statements(decl.body, made);
    while (!pending_.empty()) {
      auto [stmt, forEach] = pending_.back();
      pending_.pop_back();
      uint32_t begin = statements(stmt, made);
      code_.instructions[forEach].to = begin;
    }
  }

  uint32_t statements(StmtId id, DeclCode &into) {
    uint32_t begin = piece(into);
    statement(id);
    emit(Opcode::Return, 0);
    return begin;
  }

  void statement(StmtId id) {
    const Stmt &s = program_.stmt(id);
    uint32_t used = usedTemporaries_;
    switch (s.kind) {
    case StmtKind::Block:
      for (uint32_t i = 0; i < s.listCount; ++i)
        statement(StmtId{program_.operands[s.listBegin + i]});
      break;
    case StmtKind::Let:
      if (s.sliceSlot) {
        letSlice(id, s);
      } else {
        isPart_[index(s.a)] = true;
        valueInto(s.a, s.slot);
      }
      break;
    case StmtKind::For:
      loop(id, s);
      break;
    case StmtKind::If:
      branch(s);
      break;
    case StmtKind::Message: {
      Register peer = part(s.b);
      Register at = s.label == kNoSlot ? 0 : labelIndex(program_.labels[s.label]);
      Opcode message = carries(s, peer) ? Opcode::CarryingMessage : Opcode::Message;
      emit(message, index(id), s.label, peer, at);
      break;
    }
    case StmtKind::Depend:
      depend(s);
      break;
    case StmtKind::Parent:
    case StmtKind::Child: {
      Register rank = part(s.a);
      emit(s.kind == StmtKind::Parent ? Opcode::Parent : Opcode::Child, index(id), 0, rank);
      break;
    }
    case StmtKind::Edge: {
      Register peer = part(s.a);
      Register key = s.b == kNoExpr ? constant(0) : part(s.b);
      Register weight = s.c == kNoExpr ? constant(1) : part(s.c);
      emit(Opcode::Edge, index(id), weight, peer, key);
      break;
    }
    case StmtKind::Temp:
    case StmtKind::Copy:
    case StmtKind::Combine:
    case StmtKind::Calc:
    case StmtKind::Call:
      emit(Opcode::Execute, index(id));
      setLabel(s);
      break;
    }
    usedTemporaries_ = used;
  }

  /// Whether it is a block or one part of a named slice; then its numbers are a and b.
  bool cutsName(ExprId id, ExprId &a, ExprId &b) const {
    const Expr &e = expr(id);
    ExprId of = e.a;
    a = b = e.b;
    if (e.kind == ExprKind::Part) {
      if (operand(e, 2) != kNoExpr)
        return false;
      of = operand(e, 0), a = operand(e, 1), b = operand(e, 3);
    } else if (e.kind != ExprKind::Block) {
      return false;
    }
    return expr(of).kind == ExprKind::LocalSlice;
  }

  void letSlice(StmtId id, const Stmt &s) {
    ExprId a, b;
    if (!cutsName(s.a, a, b)) {
      emit(Opcode::Execute, index(id));
      return;
    }
    Register at = part(a), count = b == a ? at : part(b);
    emit(Opcode::LetSlice, index(s.a), s.slot, at, count);
  }

  /// The slices of a message, if they are simple ones: they are worked out unless there is no
  /// peer.
  bool carries(const Stmt &s, Register peer) {
    if (s.a == kNoExpr || !isSimpleSlice(s.a))
      return false;
    Opcode jump = s.alongEdge ? Opcode::JumpIfNowhere : Opcode::JumpIfNone;
    uint32_t skip = emit(jump, index(s.a), 0, peer);
    carry(s.a);
    jumpHere(skip);
    return true;
  }

  bool isSimpleSlice(ExprId id) const {
    const Expr &e = expr(id);
    ExprId a, b;
    switch (e.kind) {
    case ExprKind::SliceList:
      for (uint32_t i = 0; i < index(e.b); ++i)
        if (!isSimpleSlice(operand(e, i)))
          return false;
      return true;
    case ExprKind::LocalSlice:
      return true;
    case ExprKind::Blocks:
      return expr(e.a).kind == ExprKind::LocalSlice;
    default:
      return cutsName(id, a, b);
    }
  }

  void carry(ExprId id) {
    const Expr &e = expr(id);
    ExprId a, b;
    switch (e.kind) {
    case ExprKind::SliceList:
      for (uint32_t i = 0; i < index(e.b); ++i)
        carry(operand(e, i));
      return;
    case ExprKind::LocalSlice:
      emit(Opcode::WholeSlice, index(id), e.slot);
      return;
    case ExprKind::Blocks: {
      Register lo = part(e.b), hi = part(e.c);
      emit(Opcode::BlocksSlice, index(id), expr(e.a).slot, lo, hi);
      return;
    }
    default: { // a block or a part of a name
      cutsName(id, a, b);
      Register at = part(a), count = part(b);
      bool isPart = e.kind == ExprKind::Part;
      emit(isPart ? Opcode::PartSlice : Opcode::BlockSlice, index(id), isPart ? 0 : expr(e.a).slot,
           at, count);
      return;
    }
    }
  }

  /// The value of an expression of which the code at hand is the only user.
  Register part(ExprId id) {
    isPart_[index(id)] = true;
    return value(id);
  }

  void branch(const Stmt &s) {
    isPart_[index(s.a)] = true;
    uint32_t otherwise = jumpUnless(s.a);
    statement(s.body);
    if (s.otherwise == kNoStmt)
      return jumpHere(otherwise);
    uint32_t done = emit(Opcode::Jump, index(s.a));
    jumpHere(otherwise);
    statement(s.otherwise);
    jumpHere(done);
  }

  void loop(StmtId id, const Stmt &s) {
    const Expr &range = expr(s.a);
    if (range.kind != ExprKind::RangeOf || s.sliceSlot) {
      pending_.push_back({s.body, emit(Opcode::ForEach, index(id))});
      return;
    }
    Register i = s.slot;
    isPart_[index(range.a)] = isPart_[index(range.b)] = true;
    Register end = newTemporary();
    valueInto(range.a, i);
    valueInto(range.b, end);
    if (range.value)
      emit(Opcode::CloseRange, index(s.a), end, end);
    uint32_t begin = emit(Opcode::LoopBegin, index(s.a), 0, i, end);
    statement(s.body);
    emit(Opcode::LoopNext, index(s.a), begin + 1, i, end);
    jumpHere(begin);
  }

  /// One number for the indices of a label, however many it has.
  Register labelIndex(const LabelRef &label) {
    into_->labels = std::max(into_->labels, label.name + 1);
    if (label.indexCount == 0)
      return constant(0);
    auto indexAt = [&](uint32_t i) { return ExprId{program_.operands[label.indexBegin + i]}; };
    Register result = value(indexAt(0));
    for (uint32_t i = 1; i < label.indexCount; ++i) {
      Register next = value(indexAt(i));
      Register joined = newTemporary();
      emit(Opcode::JoinIndices, index(indexAt(i)), joined, result, next);
      result = joined;
    }
    return result;
  }

  void setLabel(const Stmt &s) {
    if (s.label == kNoSlot)
      return;
    Register at = labelIndex(program_.labels[s.label]);
    emit(Opcode::Label, 0, s.label, 0, at);
  }

  void depend(const Stmt &s) {
    Opcode opcode = s.value == 0 ? Opcode::Requires : Opcode::IRequires;
    Register waiter = labelIndex(program_.labels[s.listBegin]);
    for (uint32_t i = 1; i < s.listCount; ++i) {
      uint32_t first = s.listBegin + i;
      Register at = labelIndex(program_.labels[first]);
      emit(opcode, s.listBegin, first, waiter, at);
    }
  }

  struct Pending {
    StmtId body;
    uint32_t forEach;
  };

  Program &program_;
  Code &code_;
  std::vector<bool> isPart_;
  std::vector<Pending> pending_;
  DeclCode *into_ = nullptr;
  std::map<std::pair<const DeclCode *, int64_t>, Register> constants_;
  std::vector<Register> temporaries_; ///< of the piece at hand
  uint32_t usedTemporaries_ = 0;
};

} // namespace

void lower(Program &program) { Lowering(program).all(); }

} // namespace colldsl
