// Pieces of code: bodies, contracts, and the expressions that are no part of these.
#include "program/Lowering.h"

#include <algorithm>

namespace colldsl {

void lower(Program &program) { Lowering(program).all(); }

Register Lowering::Temporaries::run(uint32_t &count, uint32_t length) {
  auto isRun = [&] {
    for (size_t i = 1; i < length; ++i)
      if (registers[used + i] != registers[used] + i)
        return false;
    return true;
  };
  if (used + length > registers.size() || !isRun()) {
    std::vector<Register> fresh(length);
    for (Register &r : fresh)
      r = count++;
    registers.insert(registers.begin() + static_cast<ptrdiff_t>(used), fresh.begin(), fresh.end());
  }
  Register first = length ? registers[used] : 0;
  used += length;
  return first;
}

void Lowering::all() {
  size_t firstExpr = code_.ofExpr.size(), firstDecl = code_.ofDecl.size();
  code_.ofExpr.resize(program_.exprs.size(), kNoCode);
  code_.ofDecl.resize(program_.decls.size());
  isPart_.assign(program_.exprs.size(), false);
  isSize_.assign(program_.exprs.size(), false);
  for (size_t i = 0; i < firstDecl; ++i) // arguments may have brought slots of their own
    code_.ofDecl[i].registers = std::max(code_.ofDecl[i].registers, program_.decls[i].intSlots);
  for (size_t i = firstDecl; i < program_.decls.size(); ++i)
    declaration(DeclId{static_cast<uint32_t>(i)});
  if (firstDecl != program_.decls.size()) {
    for (const BufferType &type : program_.temps)
      markSizes(type);
    for (const Decl &decl : program_.decls)
      for (const Param &param : decl.params)
        if (param.isBuffer)
          markSizes(param.buffer);
    for (const LabelRef &label : program_.labels) // their messages show the indices
      for (uint32_t i = 0; i < label.indexCount; ++i)
        isPart_[program_.operands[label.indexBegin + i]] = false;
  }
  pieces(firstExpr);
}

void Lowering::markSizes(const BufferType &type) {
  const Dim &last = type.dim[type.dims - 1];
  if (last.expr != kNoExpr && last.kind != DimKind::Counts)
    isSize_[index(last.expr)] = true;
}

void Lowering::markOperands(const Expr &e) {
  const ExprId ids[] = {e.a, e.b, e.c};
  const ExprInfo &info = infoOf(e.kind);
  for (unsigned i = 0; i < 3; ++i)
    if (isList(info.operands[i])) {
      for (uint32_t item : listOf(e))
        if (ExprId{item} != kNoExpr)
          isPart_[item] = true;
    } else if (info.operands[i] != Operand::Count && ids[i] != kNoExpr) {
      isPart_[index(ids[i])] = true;
    }
}

/// The expressions that no other code has. Those without an owner are of declarations with errors,
/// or checkProgram() has not looked at them.
void Lowering::pieces(size_t firstExpr) {
  auto isOwned = [&](size_t i) { return program_.exprs[i].owner != kNoDecl; };
  for (size_t i = firstExpr; i < program_.exprs.size(); ++i)
    if (isOwned(i))
      markOperands(program_.exprs[i]);
  for (size_t i = firstExpr; i < program_.exprs.size(); ++i)
    if (isOwned(i) && !isPart_[i])
      code_.ofExpr[i] = expression(ExprId{static_cast<uint32_t>(i)});
}

uint32_t Lowering::beginPiece(DeclCode &into) {
  into_ = &into;
  ints_ = slices_ = sizes_ = {};
  return next();
}

uint32_t Lowering::expression(ExprId id) {
  const Expr &e = expr(id);
  uint32_t begin = beginPiece(code_.ofDecl[index(e.owner)]);
  Register result = isSize_[index(id)]           ? size(id)
                    : e.type == ValueType::Slice ? slice(id)
                                                 : value(id);
  emit(Opcode::Return, id, 0, result);
  return begin;
}

void Lowering::declaration(DeclId id) {
  const Decl &decl = program_.decl(id);
  DeclCode &made = code_.ofDecl[index(id)];
  made.myRank = decl.intSlots;
  made.numRanks = decl.intSlots + 1;
  made.registers = decl.intSlots + 2;
  made.sliceRegisters = decl.sliceSlots;
  made.sizeRegisters = decl.sizeSlots;
  if (decl.body == kNoStmt)
    return;
  made.body = beginPiece(made);
  statement(decl.body);
  emit(Opcode::Return, 0);
  made.contract = beginPiece(made);
  for (uint32_t root : decl.ensures)
    ensure(root);
  emit(Opcode::Return, 0);
}

// Statements

void Lowering::statement(StmtId id) {
  Scope scope(*this);
  const Stmt &s = program_.stmt(id);
  switch (s.kind) {
  case StmtKind::Block:
    for (uint32_t i = 0; i < s.listCount; ++i)
      statement(StmtId{program_.operands[s.listBegin + i]});
    return;
  case StmtKind::Let:
    return s.sliceSlot ? sliceInto(s.a, s.slot) : valueInto(s.a, s.slot);
  case StmtKind::Temp:
    emit(Opcode::Temp, index(id), s.slot);
    return;
  case StmtKind::For:
    return s.sliceSlot ? segments(s) : loop(id, s);
  case StmtKind::If:
    return branch(s);
  case StmtKind::Message:
    return message(id, s);
  case StmtKind::Copy:
  case StmtKind::Combine:
  case StmtKind::Calc:
    return local(id, s);
  case StmtKind::Depend:
    return depend(s);
  case StmtKind::Call:
    return call(id, s);
  case StmtKind::Parent:
    emit(Opcode::Parent, index(id), 0, value(s.a));
    return;
  case StmtKind::Child:
    emit(Opcode::Child, index(id), 0, value(s.a));
    return;
  case StmtKind::Edge: {
    Register peer = value(s.a), key = valueOr(s.b, 0), weight = valueOr(s.c, 1);
    emit(Opcode::Edge, index(id), 0, peer, key, weight);
    return;
  }
  }
}

/// The slices that the message carries, its tag and its reduction are evaluated only if there is a
/// peer.
void Lowering::message(StmtId id, const Stmt &s) {
  Register peer = value(s.b);
  Register at = s.label == kNoSlot ? 0 : labelIndex(program_.labels[s.label]);
  bool isPlain = s.a == kNoExpr && s.c == kNoExpr;
  uint32_t skip = 0;
  if (!isPlain)
    skip = emit(s.alongEdge ? Opcode::JumpIfNowhere : Opcode::JumpIfNone,
                s.a == kNoExpr ? s.b : s.a, 0, peer);
  if (s.a != kNoExpr)
    carry(s.a);
  Register tag = s.c == kNoExpr ? 0 : value(s.c);
  Register reduction = s.d == kNoExpr ? 0 : value(s.d);
  if (!isPlain)
    jumpHere(skip);
  emit(Opcode::Message, index(id), reduction, peer, at, tag);
}

void Lowering::local(StmtId id, const Stmt &s) {
  if (s.kind == StmtKind::Calc) {
    emit(Opcode::Calc, index(id), 0, value(s.a));
    return setLabel(s);
  }
  carry(s.a);
  emit(Opcode::EndSources, index(id));
  carry(s.b);
  Register reduction = s.d == kNoExpr ? 0 : value(s.d);
  emit(s.kind == StmtKind::Copy ? Opcode::Copy : Opcode::Combine, index(id), 0, reduction);
  setLabel(s);
}

/// Ints and slices in a run of registers each, in the order of the parameters; the registers of
/// defaults are left open.
void Lowering::call(StmtId id, const Stmt &s) {
  const Decl &callee = program_.decls[s.value];
  Register group = 0;
  uint32_t skip = 0;
  if (s.a != kNoExpr) {
    group = value(s.a);
    skip = emit(Opcode::JumpUnlessMember, index(id), 0, group);
  }
  auto buffers = index32(std::count_if(callee.params.begin(), callee.params.end(),
                                       [](const Param &p) { return p.isBuffer; }));
  Register ints = ints_.run(into_->registers, s.listCount - buffers);
  Register slices = slices_.run(into_->sliceRegisters, buffers);
  Register nextInt = ints, nextSlice = slices;
  for (uint32_t i = 0; i < s.listCount; ++i) {
    ExprId given{program_.operands[s.listBegin + i]};
    Register to = callee.params[i].isBuffer ? nextSlice++ : nextInt++;
    if (given != kNoExpr)
      callee.params[i].isBuffer ? sliceInto(given, to) : valueInto(given, to);
  }
  emit(Opcode::Call, index(id), group, ints, slices);
  if (s.a != kNoExpr)
    jumpHere(skip);
  setLabel(s);
}

void Lowering::branch(const Stmt &s) {
  uint32_t otherwise = jumpUnless(s.a);
  statement(s.body);
  if (s.otherwise == kNoStmt)
    return jumpHere(otherwise);
  uint32_t done = emit(Opcode::Jump, s.a);
  jumpHere(otherwise);
  statement(s.otherwise);
  jumpHere(done);
}

void Lowering::loop(StmtId id, const Stmt &s) {
  isPart_[index(s.a)] = true;
  loopOver(s.a, s.slot, [&] {
    invariants(id, s);
    statement(s.body);
  });
  invariants(id, s); // the name is what the range ends with, or begins with if it is empty
}

void Lowering::invariants(StmtId id, const Stmt &s) {
  if (s.listCount == 0)
    return;
  uint32_t skip = emit(Opcode::Invariants, index(id));
  for (uint32_t i = 0; i < s.listCount; ++i)
    ensure(program_.operands[s.listBegin + i]);
  emit(Opcode::EndInvariants, index(id));
  jumpHere(skip);
}

/// One number for the indices of a label, however many it has.
Register Lowering::labelIndex(const LabelRef &label) {
  into_->labels = std::max(into_->labels, label.name + 1);
  if (label.indexCount == 0)
    return constant(0);
  auto indexAt = [&](uint32_t i) { return ExprId{program_.operands[label.indexBegin + i]}; };
  Register result = value(indexAt(0));
  for (uint32_t i = 1; i < label.indexCount; ++i) {
    Register next = value(indexAt(i));
    Register joined = newInt();
    emit(Opcode::JoinIndices, indexAt(i), joined, result, next);
    result = joined;
  }
  return result;
}

void Lowering::setLabel(const Stmt &s) {
  if (s.label == kNoSlot)
    return;
  Register at = labelIndex(program_.labels[s.label]);
  emit(Opcode::Label, 0, s.label, 0, at);
}

void Lowering::depend(const Stmt &s) {
  Opcode opcode = s.value == 0 ? Opcode::Requires : Opcode::IRequires;
  Register waiter = labelIndex(program_.labels[s.listBegin]);
  for (uint32_t i = 1; i < s.listCount; ++i) {
    uint32_t first = s.listBegin + i;
    Register at = labelIndex(program_.labels[first]);
    emit(opcode, s.listBegin, first, waiter, at);
  }
}

// Contracts

void Lowering::ensure(uint32_t id) {
  Scope scope(*this);
  const EnsureNode &node = program_.ensures[id];
  auto innerIf = [&] {
    if (node.condition == kNoExpr)
      return ensure(node.inner);
    uint32_t otherwise = jumpUnless(node.condition);
    ensure(node.inner);
    jumpHere(otherwise);
  };
  switch (node.kind) {
  case EnsureKind::Equal:
  case EnsureKind::EqualReduce:
    return ensureThat(id, node);
  case EnsureKind::ForEach:
    isPart_[index(node.iterable)] = true;
    return loopOver(node.iterable, node.slot, innerIf);
  case EnsureKind::At:
    return innerIf();
  case EnsureKind::Synchronizes:
    return; // the whole schedule's, see instantiateAll()
  case EnsureKind::Cost:
    emit(Opcode::EnsureCost, id, 0, size(node.operand));
    return;
  }
}

void Lowering::ensureThat(uint32_t id, const EnsureNode &node) {
  bool isReduction = node.kind == EnsureKind::EqualReduce;
  emit(Opcode::BeginEnsure, id, 0, isReduction ? value(node.reduction) : 0);
  if (isReduction) {
    isPart_[index(node.iterable)] = true;
    loopOver(node.iterable, node.slot, [&] {
      uint32_t otherwise = node.condition == kNoExpr ? kNoCode : jumpUnless(node.condition);
      ensureOperand(id, node);
      if (otherwise != kNoCode)
        jumpHere(otherwise);
    });
  } else {
    ensureOperand(id, node);
  }
  uint32_t nothing = emit(Opcode::JumpIfNoOperand, id);
  emit(Opcode::Ensure, id, 0, slice(node.target));
  jumpHere(nothing);
}

void Lowering::ensureOperand(uint32_t id, const EnsureNode &node) {
  Scope scope(*this);
  Register rank = node.rank == kNoExpr ? into_->myRank : value(node.rank);
  uint32_t nowhere = emit(Opcode::AtRank, id, 0, rank);
  isRemote_ = true;
  Register operand = slice(node.operand);
  isRemote_ = false;
  emit(Opcode::EnsureOperand, id, 0, operand, rank);
  jumpHere(nowhere);
}

} // namespace colldsl
