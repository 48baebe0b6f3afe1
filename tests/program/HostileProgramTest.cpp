// Programs that no compiler makes, and no sane author writes: refused, or instantiated to an error,
// in any case.
#include "instantiate/Instantiate.h"

#include "compiler/Compile.h"
#include "program/SerializedProgram.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace colldsl;

namespace {

Program compile(const std::string &text) {
  std::string path = testing::TempDir() + "/colldsl-hostile-" + std::to_string(getpid()) + ".coll";
  std::ofstream(path) << text;
  CompileOptions options;
  options.withStdlib = false;
  Compilation compilation = compileFiles({path}, options);
  std::filesystem::remove(path);
  for (const Diagnostic &d : compilation.diagnostics())
    ADD_FAILURE() << compilation.render(d);
  return compilation.program();
}

InstantiateRequest requestFor(const Program &program) {
  InstantiateRequest request;
  request.collective = program.find("c", DeclKind::Collective);
  request.ranks = 3;
  request.elements = 7;
  return request;
}

/// What the program is refused for, by the loader or else by its instantiation as `c`.
std::string problemOf(const Program &program) {
  Result<Program> loaded = deserializeProgram(serializeProgram(program));
  if (!loaded)
    return loaded.message();
  Result<Schedule> schedule = instantiateAll(*loaded, requestFor(*loaded));
  return schedule.ok() ? "" : schedule.message();
}

std::string problemOf(const std::string &text) { return problemOf(compile(text)); }

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(HostileProgram, NoneInADivisionIsAnError) {
  const int64_t numbers[] = {7, 3, -1, kNone};
  for (const char *operation : {"/", "%"})
    for (int64_t a : numbers)
      for (int64_t b : numbers) {
        Program program =
            compile(std::string("collective c() { let x = 1111 ") + operation + " 2222; }");
        for (Expr &e : program.exprs)
          if (e.kind == ExprKind::IntLit)
            e.value = e.value == 1111 ? a : b;
        bool isWrong = a == kNone || b == kNone;
        EXPECT_EQ(contains(problemOf(program), "beyond 64 bits"), isWrong)
            << a << operation << b << ": " << problemOf(program);
      }
}

TEST(HostileProgram, OperandsThatAKindDoesNotUseAreRefused) {
  const std::string text = R"(
function f(l: int[]) = -length(l);
collective c() { let g = where(r: r > 0); let x = g.size + f([1, 2]); }
)";
  ASSERT_EQ(problemOf(text), "");
  for (ExprKind kind : {ExprKind::Negate, ExprKind::ListLength, ExprKind::GroupSize,
                        ExprKind::GroupWhere, ExprKind::LocalInt, ExprKind::IntLit})
    for (ExprId Expr::*operand : {&Expr::b, &Expr::c}) {
      Program program = compile(text);
      for (Expr &e : program.exprs)
        if (e.kind == kind)
          e.*operand = ExprId{1u << 30};
      EXPECT_TRUE(contains(problemOf(program), "operands of expressions")) << problemOf(program);
    }
}

TEST(HostileProgram, OperandsThatAStatementDoesNotUseAreRefused) {
  const std::string text = R"(
collective c(in x: u8[4], out y: u8[4]) ensures y == x { copy x to y; calc 1ns; let z = rank; }
)";
  ASSERT_EQ(problemOf(text), "");
  for (StmtKind kind : {StmtKind::Copy, StmtKind::Calc, StmtKind::Let})
    for (ExprId Stmt::*operand : {&Stmt::c, &Stmt::d}) {
      Program program = compile(text);
      for (Stmt &s : program.stmts)
        if (s.kind == kind)
          s.*operand = ExprId{1u << 30};
      EXPECT_TRUE(contains(problemOf(program), "operands of statements")) << problemOf(program);
    }
}

// The check does not look at it, so its fields may be anything.
TEST(HostileProgram, AnExpressionWithoutOwnerIsNotLowered) {
  Program program = compile("collective c() { let x = 1; }");
  Expr &unused = program.exprs.emplace_back();
  unused.kind = ExprKind::CallBuiltin;
  unused.value = INT64_MAX / 2;
  EXPECT_EQ(problemOf(program), "");
}

TEST(HostileProgram, ArgumentsOfBuiltinFunctionsAreCounted) {
  for (const char *call : {"min(1, 2)", "ctz(1)", "bitreverse(1, 2)"}) {
    Program program = compile("collective c() { let x = " + std::string(call) + "; }");
    for (Expr &e : program.exprs)
      if (e.kind == ExprKind::CallBuiltin)
        e.b = ExprId{index(e.b) - 1};
    EXPECT_TRUE(contains(problemOf(program), "arguments of built-in functions")) << call;
  }
}

TEST(HostileProgram, TheRangeOfALoopIsNoResult) {
  Program program = compile(R"(
function f() = length([1, 2]);
collective c() { let x = f(); for r in 0..3 { calc 1ns; } }
)");
  auto range = std::find_if(program.exprs.begin(), program.exprs.end(),
                            [](const Expr &e) { return e.kind == ExprKind::RangeOf; });
  ASSERT_NE(range, program.exprs.end());
  Decl &f = program.decls[index(program.find("f", DeclKind::Function))];
  Expr &result = program.exprs[index(f.result)];
  result.kind = ExprKind::SliceList;
  result.type = ValueType::Slices;
  result.a = ExprId{0};
  result.b = ExprId{0};
  EXPECT_TRUE(contains(problemOf(program), "results")) << problemOf(program);
}

TEST(HostileProgram, FramesAreNoLargerThanTheFile) {
  Program program = compile("collective c() { let x = 1; }");
  uint32_t &slots = program.decls[0].intSlots;
  slots = 2; // one more than it needs
  EXPECT_EQ(problemOf(program), "");
  slots = 100;
  EXPECT_TRUE(contains(problemOf(program), "numbers of slots")) << problemOf(program);
}

/// A function of a number within so many signs.
Program nested(uint32_t signs) {
  Program program = compile("function f() = 1; collective c() { let x = f(); }");
  DeclId f = program.find("f", DeclKind::Function);
  for (uint32_t i = 0; i < signs; ++i) {
    Expr sign;
    sign.kind = ExprKind::Negate;
    sign.a = program.decls[index(f)].result;
    sign.owner = f;
    program.decls[index(f)].result = ExprId{static_cast<uint32_t>(program.exprs.size())};
    program.exprs.push_back(sign);
  }
  return program;
}

TEST(HostileProgram, NestingHasABound) {
  EXPECT_EQ(problemOf(nested(1'990)), "");
  EXPECT_TRUE(contains(problemOf(nested(2'100)), "nested expressions"));
  EXPECT_TRUE(contains(problemOf(nested(1'000'000)), "nested expressions"));
}

TEST(HostileProgram, HugeSegmentsAreAllOfTheSlice) {
  Program program = compile(R"(
collective c(inout b: u8[n]) { for s in segments(b, 8589934591GiB) { send s to rank; recv s from rank; } }
)");
  Result<Schedule> schedule = instantiateAll(program, requestFor(program));
  ASSERT_TRUE(schedule.ok()) << schedule.message();
  EXPECT_EQ(schedule->ranks[0].size(), 2u);
  EXPECT_EQ(schedule->sizeClass.min, 1u);
}

TEST(HostileProgram, TooManyPartsAndTooLargeBuffersAreErrors) {
  EXPECT_TRUE(
      contains(problemOf("collective c(inout b: T[n]) { copy part(part(b, 1 of 2000000000), "
                         "1 of 4611686018427387904) to b; }"),
               "part 1 of"));
  EXPECT_TRUE(
      contains(problemOf("collective c() { temp b: i32[4000000000][9000000000000000000]; }"),
               "more than 2^56 bytes"));
  EXPECT_TRUE(
      contains(problemOf("collective c() { temp b: i32[4000000000][<= 9000000000000000000]; }"),
               "more than 2^56 bytes"));
}

TEST(HostileProgram, ABufferThatMeansNothingHereHasACapacity) {
  EXPECT_EQ(problemOf(R"(
collective inner(in x: T[<= m] at 0) { temp y: T[<= 4]; if rank == 0 { copy x to y; } }
collective middle(in x: T[<= m] at 0) { inner(x); }
collective c() { temp x: i32[<= 4]; middle(x); }
)"),
            "");
}

/// Any step that runs when the limit is reached ends in an error, and reads nothing that is not
/// there.
TEST(HostileProgram, EveryLimitOfStepsIsMet) {
  Program program = compile(R"(
graph ring() {
  edge to (rank + 1) % ranks; edge from (rank - 1) % ranks;
}
collective inner(in x: T[3][counts], counts: int[], g: graph = ring()) {}
collective c(inout x: T[3][counts], out y: T[g.indegree][*], counts: int[] = [for i in 0..3: i],
             g: graph = ring())
  where length(counts) == 3 and counts[0] == 0
  ensures for e in g.in: y[e.slot] == x[e.peerslot]@e.peer
{
  inner(x, counts);
  for e in g.out { if e.weight == 1 { send x[e.slot] to e.peer; } }
  for e in g.in { let p = e.peerslot; recv x[1..2] from e.peer; }
}
)");
  InstantiateRequest request = requestFor(program);
  size_t failed = 0;
  for (request.limits.maxSteps = 0; request.limits.maxSteps < 100; ++request.limits.maxSteps) {
    Result<Schedule> schedule = instantiateAll(program, request);
    failed += !schedule.ok() && contains(schedule.message(), "loop iterations");
  }
  EXPECT_GT(failed, 10u);
}

} // namespace
