// Queries as text, read back by a solver of its own.
#include "parameterized/SmtLib.h"
#include "compiler/Compile.h"
#include "parameterized/AllRanksProofs.h"
#include "parameterized/Prover.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

namespace colldsl::parameterized {
namespace {

using namespace std::chrono_literals;

/// The answer to a script, in a context that knows nothing else.
z3::check_result answerTo(const std::string &script) {
  z3::context context;
  z3::solver solver(context, z3::solver::simple());
  solver.add(context.parse_string(script.c_str()));
  return solver.check();
}

class Recorded : public testing::Test {
protected:
  Prover prover{Prover::Clock::now() + 60s, 5000ms, true};

  std::string script(size_t step) {
    return smtLib(prover.recorded()->query(prover.recorded()->steps()[step].query), "a comment");
  }
};

TEST_F(Recorded, QueriesKeepTheirMeaning) {
  // The names need bars, and `a` is a constant and a function.
  Term a = prover.constant("a"), b = prover.constant("given b'"), negative = prover.number(-7);
  z3::func_decl f = prover.function("a", 2), g = prover.function("of |a|\n\\", 1);
  Term shared = f(a, b) + 1;
  Terms facts{a >= 3, b == z3::ite(a > 4, shared, shared * shared), z3::mod(a, 5) == 2,
              implies(b > negative, a / 2 == 3), g(a) == a};
  ASSERT_TRUE(prover.proves(facts, a <= 7 || b <= negative));
  std::string text = script(0);
  EXPECT_EQ(answerTo(text), z3::unsat) << text;
  EXPECT_NE(text.find("(declare-fun |given b'| () Int)"), std::string::npos) << text;
  EXPECT_NE(text.find("(- 7)"), std::string::npos) << text;
  // Without the goal, or with another one, there is a model.
  size_t goal = text.find("(assert", text.find("; the negated goal"));
  ASSERT_NE(goal, std::string::npos);
  std::string without = text;
  without.erase(goal, text.find('\n', goal) - goal);
  EXPECT_EQ(answerTo(without), z3::sat) << without;
}

TEST_F(Recorded, SharedTermsAreWrittenOnce) {
  Term sum = prover.constant("x");
  for (int i = 0; i < 60; ++i) // 2^60 without sharing
    sum = sum + sum;
  ASSERT_TRUE(prover.proves({prover.constant("x") == 0}, sum == 0));
  std::string text = script(0);
  EXPECT_LT(text.size(), 6000u);
  EXPECT_EQ(answerTo(text), z3::unsat) << text;
}

TEST_F(Recorded, AttemptsThatFailLeaveNothing) {
  Term x = prover.constant("x");
  auto words = [&] {
    std::string all;
    for (const ProofRecord::Step &step : prover.recorded()->steps())
      all += step.mistake.what + ";";
    return all;
  };
  EXPECT_TRUE(prover.proves({x > 1}, x > 0, {{}, "first"}));
  {
    Prover::Attempt attempt(prover);
    EXPECT_TRUE(prover.proves({x > 2}, x > 0, {{}, "failed"}));
    EXPECT_FALSE(prover.proves({x > 2}, x > 5, {{}, "has a model"}));
  }
  {
    Prover::Attempt attempt(prover);
    EXPECT_TRUE(prover.proves({x > 3}, x > 0, {{}, "kept"}));
    EXPECT_TRUE(prover.proves({x > 1}, x > 0, {{}, "known"})); // one query
    attempt.succeed();
  }
  EXPECT_EQ(words(), "first;kept;");
  // The answer is known, but nothing has rested on it.
  EXPECT_TRUE(prover.proves({x > 2}, x > 0, {{}, "again"}));
  EXPECT_EQ(words(), "first;kept;again;");
}

TEST(Proofs, HaveQueriesThatASolverRefutesAnew) {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
  files.push_back(llvm::MemoryBuffer::getMemBufferCopy(
      R"(
collective outer(inout x: T[n])
  ensures x == x@0
{
  bcast_tree(x, root = 0, t = binomial(0));
}
collective wrong(inout x: T[n])
{
  send x to (rank + 1) % ranks;
}
)",
      "test.coll"));
  Compilation compilation = compileTexts(std::move(files), CompileOptions());
  const Program &program = compilation.program();
  AllRanksProofs proofs(program, 600s);
  std::vector<ProofStep> all;
  std::vector<std::string> names;
  proofs.setSink([&](DeclId id, const AllRanksProof &proof, const std::vector<ProofStep> &steps) {
    EXPECT_TRUE(proof.isProved);
    EXPECT_LE(steps.size(), proof.queries);
    names.push_back(program.nameOf(program.decl(id)));
    all.insert(all.end(), steps.begin(), steps.end());
  });
  EXPECT_TRUE(proofs.of(program.find("outer", DeclKind::Collective)).isProved);
  // Proofs that are known, or fail, have no queries.
  EXPECT_TRUE(proofs.of(program.find("bcast_tree", DeclKind::Collective)).isProved);
  EXPECT_FALSE(proofs.of(program.find("wrong", DeclKind::Collective)).isProved);
  EXPECT_EQ(names, (std::vector<std::string>{"bcast_tree", "outer"}));
  ASSERT_GT(all.size(), 20u);
  for (const ProofStep &step : all) {
    EXPECT_EQ(answerTo(step.script), z3::unsat) << step.script;
    EXPECT_EQ(step.script.find("; " + step.title + "\n"), 0u);
  }
}

} // namespace
} // namespace colldsl::parameterized
