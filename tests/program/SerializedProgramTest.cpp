// Programs as bytes, and what is refused.
#include "program/SerializedProgram.h"

#include "compiler/Compile.h"
#include "instantiate/Instantiate.h"
#include "program/CheckProgram.h"

#include <gtest/gtest.h>

using namespace colldsl;

namespace {

const Program &stdlib() {
  static const Compilation compilation = compileFiles({});
  return compilation.program();
}

TEST(SerializedProgram, TheStandardLibraryComesBackTheSame) {
  std::vector<std::byte> bytes = serializeProgram(stdlib());
  Result<Program> back = deserializeProgram(bytes);
  ASSERT_TRUE(back.ok()) << back.message();
  EXPECT_EQ(serializeProgram(*back), bytes);
}

TEST(SerializedProgram, ItInstantiatesToTheSameSchedules) {
  Result<Program> back = deserializeProgram(serializeProgram(stdlib()));
  ASSERT_TRUE(back.ok()) << back.message();
  for (const char *name : {"bcast_tree", "allreduce_recursive_doubling", "allgather_ring"}) {
    InstantiateRequest request;
    request.collective = stdlib().find(name, DeclKind::Collective);
    request.ranks = 6;
    request.elements = 1000;
    Result<Schedule> one = instantiateAll(stdlib(), request),
                     other = instantiateAll(*back, request);
    ASSERT_TRUE(one.ok() && other.ok()) << name;
    for (uint32_t r = 0; r < 6; ++r) {
      ASSERT_EQ(one->ranks[r].size(), other->ranks[r].size()) << name;
      EXPECT_EQ(one->ranks[r].deps, other->ranks[r].deps) << name;
      EXPECT_EQ(one->ranks[r].slices, other->ranks[r].slices) << name;
    }
  }
}

TEST(SerializedProgram, EveryCutOffFileIsRefused) {
  std::vector<std::byte> bytes = serializeProgram(stdlib());
  for (size_t size = 0; size < bytes.size(); size += 1 + size / 50)
    EXPECT_FALSE(deserializeProgram(std::span(bytes).first(size)).ok()) << size << " bytes";
}

/// A program with one thing wrong in it.
struct Mistake {
  const char *name;
  void (*make)(Program &);
  const char *message;
};

void PrintTo(const Mistake &mistake, std::ostream *out) { *out << mistake.name; }

Expr &firstOf(Program &program, ExprKind kind) {
  for (Expr &e : program.exprs)
    if (e.kind == kind && e.owner != kNoDecl)
      return e;
  ADD_FAILURE() << "no such expression";
  return program.exprs.front();
}

Stmt &firstOf(Program &program, StmtKind kind) {
  for (Stmt &s : program.stmts)
    if (s.kind == kind)
      return s;
  ADD_FAILURE() << "no such statement";
  return program.stmts.front();
}

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreRefused) {
  Program program = stdlib();
  ASSERT_TRUE(checkProgram(program).ok());
  GetParam().make(program);
  Status status = checkProgram(program);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find(GetParam().message), std::string::npos) << status.message();
}

const Mistake kMistakes[] = {
    {"operandOutOfRange", [](Program &p) { firstOf(p, ExprKind::Add).a = ExprId{1u << 30}; },
     "expressions in declaration"},
    {"cycle",
     [](Program &p) {
       Expr &e = firstOf(p, ExprKind::Add);
       e.a = ExprId{static_cast<uint32_t>(&e - p.exprs.data())};
     },
     "users of an expression"},
    {"sharedOperand", [](Program &p) { firstOf(p, ExprKind::Add).a = firstOf(p, ExprKind::Add).b; },
     "users of an expression"},
    {"treeAsInt",
     [](Program &p) { p.exprs[index(firstOf(p, ExprKind::TreeParent).a)].type = ValueType::Int; },
     "types of expressions"},
    {"unknownSlot", [](Program &p) { firstOf(p, ExprKind::LocalInt).slot = 9999; },
     "values of slots"},
    {"slotBeforeItsValue", [](Program &p) { firstOf(p, StmtKind::Let).slot += 1; }, "slots"},
    {"unknownReduction",
     [](Program &p) {
       for (Expr &e : p.exprs)
         if (e.kind == ExprKind::IntLit && e.type == ValueType::Reduction)
           e.value = 77;
     },
     "reductions"},
    {"unknownLevel", [](Program &p) { firstOf(p, ExprKind::GroupLeaders).value = 9; }, "levels"},
    {"unknownCallee", [](Program &p) { firstOf(p, StmtKind::Call).value = 1 << 20; }, "callees"},
    {"parentInACollective",
     [](Program &p) {
       Stmt &copy = firstOf(p, StmtKind::Copy);
       copy.kind = StmtKind::Parent;
       copy.label = kNoSlot;
     },
     "kinds of statements"},
    {"unknownString", [](Program &p) { p.decls[0].name = 1u << 30; }, "strings"},
    {"unknownFile", [](Program &p) { p.decls[0].loc.file = 60'000; }, "places"},
    {"hugeFrame", [](Program &p) { p.decls[0].intSlots = 1u << 30; }, "numbers of slots"},
    {"foreignOwner", [](Program &p) { firstOf(p, ExprKind::Add).owner = DeclId{0x7fffffff}; },
     "owners of expressions"},
    {"labelTwice",
     [](Program &p) {
       firstOf(p, StmtKind::Depend).listBegin = firstOf(p, StmtKind::Message).label;
     },
     "labels"},
    {"nestedSynchronizes",
     [](Program &p) {
       for (EnsureNode &outer : p.ensures)
         if (outer.kind == EnsureKind::ForEach)
           p.ensures[outer.inner].kind = EnsureKind::Synchronizes;
     },
     "promises in declaration"},
};

INSTANTIATE_TEST_SUITE_P(Program, Mistakes, testing::ValuesIn(kMistakes),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
