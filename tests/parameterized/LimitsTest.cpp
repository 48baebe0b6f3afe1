// Limits of time and memory: no answer of the solver is taken for a proof.
#include "parameterized/AllRanksProofs.h"
#include "parameterized/Prover.h"

#include <gtest/gtest.h>

namespace colldsl::parameterized {
namespace {

using namespace std::chrono_literals;

/// A fact that no numbers satisfy, and that z3 does not refute: a^3 + b^3 == c^3.
Terms hardFacts(Prover &prover) {
  Term a = prover.constant("a"), b = prover.constant("b"), c = prover.constant("c");
  return {a > 0, b > 0, c > 0, a * a * a + b * b * b == c * c * c};
}

TEST(Limits, AQueryThatTakesTooLongIsNotProved) {
  Prover prover(Prover::Clock::now() + 60s, 200ms);
  Prover::Clock::time_point begin = Prover::Clock::now();
  EXPECT_FALSE(prover.refutes(hardFacts(prover)));
  EXPECT_LT(Prover::Clock::now() - begin, 30s);
  EXPECT_FALSE(prover.refutes(hardFacts(prover))); // no answer is kept
  EXPECT_TRUE(prover.refutes({prover.constant("a") < prover.constant("a")}));
}

TEST(Limits, NoQueryRunsPastTheDeadline) {
  Prover prover(Prover::Clock::now() + 300ms, 600s);
  auto ask = [&] {
    while (true)
      EXPECT_FALSE(prover.refutes(hardFacts(prover)));
  };
  EXPECT_THROW(ask(), OutOfTime);
  // After the deadline an easy proof fails, too.
  EXPECT_THROW(prover.refutes({prover.constant("a") < prover.constant("a")}), OutOfTime);
}

TEST(Limits, AQueryBeyondTheMemoryEndsTheProof) {
  limitSolverMemory(1); // a solver takes 16 MiB
  {
    Prover prover(Prover::Clock::now() + 60s, 5000ms);
    EXPECT_THROW(prover.refutes(hardFacts(prover)), OutOfMemory);
  }
  limitSolverMemory(2048);
  Prover prover(Prover::Clock::now() + 60s, 5000ms);
  EXPECT_TRUE(prover.refutes({prover.constant("a") < prover.constant("a")}));
}

} // namespace
} // namespace colldsl::parameterized
