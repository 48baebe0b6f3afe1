#include "program/TextDigest.h"

#include "ir/Checksum.h"
#include "program/Archive.h"

#include <unordered_map>

namespace colldsl {
namespace {

/// Counts up when the digest of unchanged texts changes.
constexpr uint32_t kScheme = 1;

/// Writes declarations by number in the order in which they are met, and expressions in full where
/// they are used, once each.
class DigestWriter {
public:
  explicit DigestWriter(const Program &program) : program_(program) { put(kScheme); }

  uint64_t digest(DeclId root) {
    number(root);
    for (size_t i = 0; i < decls_.size(); ++i)
      putDecl(program_.decl(decls_[i]));
    return xxh64(out_.bytes, 0);
  }

private:
  template <Plain T> void put(T value) { out_(value); }
  void putString(uint32_t id) { out_(program_.strings[id]); }

  uint32_t number(DeclId id) {
    auto [known, isNew] = declNumbers_.try_emplace(index(id), index32(decls_.size()));
    if (isNew)
      decls_.push_back(id);
    return known->second;
  }

  void putValue(ValueUse use, int64_t value) {
    if (isCallee(use))
      put(number(DeclId{static_cast<uint32_t>(value)}));
    else if (use == ValueUse::String)
      putString(static_cast<uint32_t>(value));
    else if (use == ValueUse::Temp)
      putTemp(static_cast<uint32_t>(value));
    else
      put(value);
  }

  void putTemp(uint32_t id) {
    putString(program_.tempNames[id]);
    putBuffer(program_.temps[id]);
  }

  void putExpr(ExprId id) {
    put(id != kNoExpr);
    if (id == kNoExpr)
      return;
    const Expr &e = program_.expr(id);
    const ExprInfo &info = infoOf(e.kind);
    put(e.kind);
    put(e.type);
    put(e.slot);
    put(e.owner == kNoDecl ? UINT32_MAX : number(e.owner));
    putValue(info.value, e.value);
    const ExprId ids[] = {e.a, e.b, e.c};
    for (unsigned i = 0; i < 3; ++i) {
      if (info.operands[i] == Operand::None || info.operands[i] == Operand::Count)
        continue;
      if (isList(info.operands[i]))
        putExprs(index(e.a), index(e.b));
      else
        putExpr(ids[i]);
    }
  }

  void putExprs(uint32_t begin, uint32_t count) {
    put(count);
    for (uint32_t i = 0; i < count; ++i)
      putExpr(ExprId{program_.operands[begin + i]});
  }

  void putLabel(uint32_t id) {
    const LabelRef &label = program_.labels[id];
    put(label.name);
    putString(label.text);
    putExprs(label.indexBegin, label.indexCount);
  }

  void putStmt(StmtId id) {
    put(id != kNoStmt);
    if (id == kNoStmt)
      return;
    const Stmt &s = program_.stmt(id);
    const StmtInfo &info = infoOf(s.kind);
    put(s.kind);
    put(s.op);
    put(s.side);
    put(s.alongEdge);
    put(s.sliceSlot);
    put(s.slot);
    put(s.label != kNoSlot);
    if (s.label != kNoSlot)
      putLabel(s.label);
    if (info.value == ValueUse::String)
      put(int64_t{0}); // the name of a loop's variable, which means nothing
    else
      putValue(info.value, s.value);
    for (ExprId operand : {s.a, s.b, s.c, s.d})
      putExpr(operand);
    putList(info.list, s);
    putStmt(s.body);
    putStmt(s.otherwise);
  }

  void putList(Operand list, const Stmt &s) {
    if (list == Operand::CalleeArgs)
      return putExprs(s.listBegin, s.listCount);
    put(s.listCount);
    for (uint32_t i = 0; i < s.listCount; ++i)
      if (list == Operand::Labels)
        putLabel(s.listBegin + i);
      else if (list == Operand::Invariants)
        putEnsure(program_.operands[s.listBegin + i]);
      else
        putStmt(StmtId{program_.operands[s.listBegin + i]});
  }

  void putBuffer(const BufferType &buffer) {
    put(buffer.generic);
    if (!buffer.generic)
      put(buffer.type);
    put(buffer.dims);
    for (uint32_t d = 0; d < buffer.dims; ++d) {
      put(buffer.dim[d].kind);
      putExpr(buffer.dim[d].expr);
      put(buffer.dim[d].slot);
    }
  }

  void putParam(const Param &p) {
    putString(p.name);
    put(p.isBuffer);
    if (p.isBuffer) {
      put(p.role);
      putBuffer(p.buffer);
    }
    putExpr(p.significantAt);
    put(p.type);
    put(p.isGlobal);
    put(p.slot);
    putExpr(p.defaultValue);
    put(index32(p.candidates.size()));
    for (const Candidate &candidate : p.candidates) {
      putExpr(candidate.lo);
      putExpr(candidate.hi);
    }
  }

  void putEnsure(uint32_t id) {
    put(id != kNoSlot);
    if (id == kNoSlot)
      return;
    const EnsureNode &e = program_.ensures[id];
    put(e.kind);
    put(e.slot);
    for (ExprId expr : {e.target, e.operand, e.rank, e.reduction, e.iterable, e.condition})
      putExpr(expr);
    putEnsure(e.inner);
  }

  void putDecl(const Decl &decl) {
    put(decl.kind);
    putString(decl.name);
    put(decl.deterministic);
    put(index32(decl.params.size()));
    for (const Param &param : decl.params)
      putParam(param);
    put(index32(decl.requirements.size()));
    for (ExprId requirement : decl.requirements)
      putExpr(requirement);
    put(index32(decl.ensures.size()));
    for (uint32_t ensure : decl.ensures)
      putEnsure(ensure);
    put(index32(decl.aliases.size()));
    for (const AliasClause &alias : decl.aliases) {
      put(alias.param);
      putExpr(alias.slice);
    }
    putStmt(decl.body);
    putExpr(decl.result);
    put(index32(decl.sizeNames.size()));
    for (uint32_t name : decl.sizeNames)
      putString(name);
  }

  const Program &program_;
  RecordWriter out_;
  std::vector<DeclId> decls_; ///< in the order of their numbers
  std::unordered_map<uint32_t, uint32_t> declNumbers_;
};

} // namespace

uint64_t textDigest(const Program &program, DeclId collective) {
  return DigestWriter(program).digest(collective);
}

} // namespace colldsl
