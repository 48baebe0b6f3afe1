/// Lowers the parts of a program that have no code yet. Internal to this folder.
///
/// Within one piece of code temporaries are used like a stack: an expression leaves its value in
/// the first one that is free. Pieces share none, since one may run while another is under way.
/// Bound: one or two instructions per node of an expression or a statement.
#pragma once

#include "ir/Index32.h"
#include "program/Program.h"

#include <map>
#include <span>
#include <vector>

namespace colldsl {

class Lowering {
public:
  explicit Lowering(Program &program) : program_(program), code_(program.code) {}

  void all();

private:
  // Pieces of code, statements and contracts (Lowering.cpp)
  void markOperands(const Expr &e);
  void markSizes(const BufferType &type);
  void pieces(size_t firstExpr);
  uint32_t beginPiece(DeclCode &into);
  uint32_t expression(ExprId id);
  void declaration(DeclId id);
  void statement(StmtId id);
  void message(StmtId id, const Stmt &s);
  void local(StmtId id, const Stmt &s);
  void call(StmtId id, const Stmt &s);
  void branch(const Stmt &s);
  void loop(StmtId id, const Stmt &s);
  void invariants(StmtId id, const Stmt &s);
  void setLabel(const Stmt &s);
  void depend(const Stmt &s);
  Register labelIndex(const LabelRef &label);
  void ensure(uint32_t id);
  void ensureThat(uint32_t id, const EnsureNode &node);
  void ensureOperand(uint32_t id, const EnsureNode &node);

  // Values in int registers (LoweringExprs.cpp)
  Register value(ExprId id);
  Register valueOr(ExprId id, int64_t otherwise) {
    return id == kNoExpr ? constant(otherwise) : value(id);
  }
  void valueInto(ExprId id, Register to);
  void operation(ExprId id, const Expr &e, Register to);
  void operands(ExprId id, const Expr &e, Register to);
  void logic(ExprId id, const Expr &e, Register to);
  void choice(ExprId id, const Expr &e, Register to);
  void builtin(ExprId id, const Expr &e, Register to);
  void declArguments(ExprId id, const Expr &e, Register to);
  void listLiteral(ExprId id, const Expr &e, Register to);
  void aggregation(ExprId id, const Expr &e, Register to);
  void listComprehension(ExprId id, const Expr &e, Register to);
  void groupByRank(ExprId id, const Expr &e, Register to);
  void wrapped(const Expr &e, Register to);
  bool wrapsAround(const Expr &e) const;
  Register leaf(const Expr &e);
  uint32_t jumpUnless(ExprId condition);
  template <typename Body> void loopOver(ExprId iterable, Register name, Body body);
  template <typename Body> void loopIf(const Expr &e, Body body);
  template <typename Body> void loopFrom(ExprId origin, Register i, Register end, Body body);

  // Slices and sizes (LoweringSlices.cpp)
  Register slice(ExprId id);
  void sliceInto(ExprId id, Register to);
  void part(ExprId id, const Expr &e, Register to);
  void segments(const Stmt &s);
  void carry(ExprId id);
  Register size(ExprId id);

  const Expr &expr(ExprId id) const { return program_.expr(id); }
  std::span<const uint32_t> listOf(const Expr &e) const {
    return std::span(program_.operands).subspan(index(e.a), index(e.b));
  }
  ExprId operand(const Expr &e, uint32_t i) const { return ExprId{listOf(e)[i]}; }

  uint32_t next() const { return index32(code_.instructions.size()); }
  uint32_t emit(Opcode opcode, uint32_t origin, uint32_t to = 0, Register a = 0, Register b = 0,
                Register c = 0) {
    code_.instructions.push_back({opcode, to, a, b, c, origin});
    return next() - 1;
  }
  uint32_t emit(Opcode opcode, ExprId origin, uint32_t to = 0, Register a = 0, Register b = 0,
                Register c = 0) {
    return emit(opcode, index(origin), to, a, b, c);
  }
  void jumpHere(uint32_t jump) { code_.instructions[jump].to = next(); }
  Register constant(int64_t value);

  /// The temporaries of one kind in the piece at hand.
  struct Temporaries {
    std::vector<Register> registers;
    size_t used = 0;

    Register next(uint32_t &count) { return run(count, 1); }
    /// So many registers, one after the other.
    Register run(uint32_t &count, uint32_t length);
  };
  Register newInt() { return ints_.next(into_->registers); }
  Register newSlice() { return slices_.next(into_->sliceRegisters); }
  Register newSize() { return sizes_.next(into_->sizeRegisters); }

  /// Frees the temporaries that were taken since.
  struct Scope {
    explicit Scope(Lowering &lowering)
        : lowering(lowering), ints(lowering.ints_.used), slices(lowering.slices_.used),
          sizes(lowering.sizes_.used) {}
    ~Scope() {
      lowering.ints_.used = ints;
      lowering.slices_.used = slices;
      lowering.sizes_.used = sizes;
    }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
    Lowering &lowering;
    size_t ints, slices, sizes;
  };

  Program &program_;
  Code &code_;
  std::vector<bool> isPart_; ///< per ExprId: other code has it
  std::vector<bool> isSize_; ///< per ExprId: its piece yields a size
  DeclCode *into_ = nullptr;
  std::map<std::pair<const DeclCode *, int64_t>, Register> constants_;
  Temporaries ints_, slices_, sizes_;
  bool isRemote_ = false; ///< the code at hand is evaluated at the rank of AtRank
};

/// A loop from the value of `i` up to `end`; both are registers.
template <typename Body>
void Lowering::loopFrom(ExprId origin, Register i, Register end, Body body) {
  uint32_t begin = emit(Opcode::LoopBegin, origin, 0, i, end);
  body();
  emit(Opcode::LoopNext, origin, begin + 1, i, end);
  jumpHere(begin);
}

/// The body for each value of an iterable, which register `name` holds. A list is run over by
/// position; the edges of one direction have consecutive handles.
template <typename Body> void Lowering::loopOver(ExprId iterable, Register name, Body body) {
  Scope scope(*this);
  const Expr &e = expr(iterable);
  if (e.kind == ExprKind::RangeOf) {
    Register end = newInt();
    valueInto(e.a, name);
    valueInto(e.b, end);
    if (e.value)
      emit(Opcode::CloseRange, iterable, end, end);
    return loopFrom(iterable, name, end, body);
  }
  Register end = newInt();
  if (e.kind == ExprKind::EdgesOf) {
    emit(Opcode::EdgesOf, iterable, name, value(e.a), end);
    return loopFrom(iterable, name, end, body);
  }
  Register list = value(iterable), i = newInt();
  emit(Opcode::ListLength, iterable, end, list);
  emit(Opcode::Move, iterable, i, constant(0));
  loopFrom(iterable, i, end, [&] {
    emit(Opcode::ListElement, iterable, name, list, i);
    body();
  });
}

/// The loop of an expression: over e.a, named e.slot, for the values for which e.b holds.
template <typename Body> void Lowering::loopIf(const Expr &e, Body body) {
  loopOver(e.a, e.slot, [&] {
    if (e.b == kNoExpr)
      return body();
    uint32_t otherwise = jumpUnless(e.b);
    body();
    jumpHere(otherwise);
  });
}

} // namespace colldsl
