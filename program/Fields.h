/// The fields of each record of the checked program, in the order in which they are
/// stored. Internal to this folder.
#pragma once

#include "program/Archive.h"

namespace colldsl {

template <typename Visit, Is<SourceLoc> R> void eachField(Visit &visit, R &r) {
  visit(r.line);
  visit(r.column);
  visit(r.file);
}

template <typename Visit, Is<Expr> R> void eachField(Visit &visit, R &r) {
  visit(r.kind);
  visit(r.type);
  visit(r.slot);
  visit(r.a);
  visit(r.b);
  visit(r.c);
  visit(r.owner);
  visit(r.value);
  visit(r.loc);
}

template <typename Visit, Is<Stmt> R> void eachField(Visit &visit, R &r) {
  visit(r.kind);
  visit(r.op);
  visit(r.side);
  visit(r.alongEdge);
  visit(r.sliceSlot);
  visit(r.slot);
  visit(r.label);
  visit(r.a);
  visit(r.b);
  visit(r.c);
  visit(r.d);
  visit(r.body);
  visit(r.otherwise);
  visit(r.listBegin);
  visit(r.listCount);
  visit(r.value);
  visit(r.loc);
}

template <typename Visit, Is<LabelRef> R> void eachField(Visit &visit, R &r) {
  visit(r.name);
  visit(r.indexBegin);
  visit(r.indexCount);
  visit(r.text);
  visit(r.loc);
}

template <typename Visit, Is<Dim> R> void eachField(Visit &visit, R &r) {
  visit(r.kind);
  visit(r.expr);
  visit(r.slot);
}

template <typename Visit, Is<BufferType> R> void eachField(Visit &visit, R &r) {
  visit(r.generic);
  visit(r.type);
  visit(r.dims);
  visit(r.dim[0]);
  visit(r.dim[1]);
}

template <typename Visit, Is<Candidate> R> void eachField(Visit &visit, R &r) {
  visit(r.lo);
  visit(r.hi);
}

template <typename Visit, Is<Param> R> void eachField(Visit &visit, R &r) {
  visit(r.name);
  visit(r.isBuffer);
  visit(r.role);
  visit(r.buffer);
  visit(r.significantAt);
  visit(r.type);
  visit(r.isGlobal);
  visit(r.slot);
  visit(r.defaultValue);
  visit(r.candidates);
  visit(r.loc);
}

template <typename Visit, Is<EnsureNode> R> void eachField(Visit &visit, R &r) {
  visit(r.kind);
  visit(r.target);
  visit(r.operand);
  visit(r.rank);
  visit(r.reduction);
  visit(r.slot);
  visit(r.iterable);
  visit(r.condition);
  visit(r.inner);
  visit(r.loc);
}

template <typename Visit, Is<AliasClause> R> void eachField(Visit &visit, R &r) {
  visit(r.param);
  visit(r.slice);
  visit(r.loc);
}

template <typename Visit, Is<Decl> R> void eachField(Visit &visit, R &r) {
  visit(r.kind);
  visit(r.name);
  visit(r.doc);
  visit(r.deterministic);
  visit(r.params);
  visit(r.requirements);
  visit(r.ensures);
  visit(r.aliases);
  visit(r.body);
  visit(r.result);
  visit(r.intSlots);
  visit(r.sliceSlots);
  visit(r.sizeSlots);
  visit(r.sizeNames);
  visit(r.loc);
}

template <typename Visit, Is<GivenArgument> R> void eachField(Visit &visit, R &r) {
  visit(r.decl);
  visit(r.param);
  visit(r.value);
}

template <typename Visit, Is<Program> R> void eachField(Visit &visit, R &r) {
  visit(r.decls);
  visit(r.exprs);
  visit(r.stmts);
  visit(r.operands);
  visit(r.labels);
  visit(r.temps);
  visit(r.tempNames);
  visit(r.ensures);
  visit(r.arguments);
  visit(r.strings);
  visit(r.files);
}

} // namespace colldsl
