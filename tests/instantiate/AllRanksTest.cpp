// Checks that need all ranks.
#include "compiler/Compile.h"
#include "instantiate/Instantiate.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

InstantiateRequest request(const Program &program, const char *name, uint32_t ranks) {
  InstantiateRequest r;
  r.collective = program.find(name, DeclKind::Collective);
  r.ranks = ranks;
  r.elements = 1000;
  return r;
}

// Checking a tree works out trees that its body makes.
TEST(AllRanks, TreesOfTrees) {
  Compilation compilation = compileFiles({COLLDSL_PROGRAM_INPUTS "/trees-of-trees.coll"});
  const Program &program = compilation.program();
  for (const char *name : {"bcast_again", "bcast_through", "bcast_deeper"}) {
    Result<Schedule> all = instantiateAll(program, request(program, name, 7));
    ASSERT_TRUE(all.ok()) << all.message();
    EXPECT_EQ(all->numRanks(), 7u);
  }
}

TEST(AllRanks, LimitsHold) {
  Compilation compilation = compileFiles({});
  const Program &program = compilation.program();
  InstantiateRequest r = request(program, "allreduce_ring", 20);
  r.limits.maxTotalOps = 100;
  Status ops = instantiateAll(program, r).status();
  ASSERT_FALSE(ops.ok());
  EXPECT_NE(ops.message().find("of 20 ranks of 'allreduce_ring' have"), std::string::npos);
  EXPECT_NE(ops.message().find(" ops, the limit for all is 100"), std::string::npos);
  EXPECT_EQ(ops.diagnostic().hint, "raise the limit with --max-total-ops");
  r.limits.maxTotalOps = 1'000'000;
  r.limits.maxTotalDeps = 100;
  Status deps = instantiateAll(program, r).status();
  ASSERT_FALSE(deps.ok());
  EXPECT_NE(deps.message().find(" dependencies, the limit for all is 100"), std::string::npos);
  r.limits.maxTotalDeps = 1'000'000;
  r.limits.maxRanks = 10;
  EXPECT_FALSE(instantiateAll(program, r).ok());
}

} // namespace
} // namespace colldsl
