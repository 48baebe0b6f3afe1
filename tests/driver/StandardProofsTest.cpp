// The table of stamps of the standard library.
#include "driver/library/StandardProofs.h"

#include "compiler/Compile.h"
#include "program/TextDigest.h"
#include "stdlib/StdlibFiles.h"

#include <gtest/gtest.h>
#include <set>

namespace colldsl::driver {
namespace {

TEST(StandardProofs, areOfTheTextsAsTheyAre) {
  Result<std::vector<NamedTextProof>> table = readTextProofs(stdlibProofs());
  ASSERT_TRUE(table.ok()) << table.message();
  Compilation compilation = compileFiles({});
  const Program &program = compilation.program();
  std::vector<TextProof> stamps = standardProofs(program);
  std::set<uint32_t> stamped;
  for (const TextProof &stamp : stamps)
    stamped.insert(stamp.collective);
  for (uint32_t i = 0; i < program.decls.size(); ++i)
    if (program.decls[i].kind == DeclKind::Collective)
      EXPECT_TRUE(stamped.contains(i))
          << program.nameOf(program.decls[i])
          << " has changed: scripts/index-all-ranks proves it and writes stdlib/proofs.txt";
  EXPECT_EQ(table->size(), stamps.size());
}

// A tree that changes takes the stamp from all collectives that send along it, and from no others.
TEST(StandardProofs, endWithAChangeOfWhatTheTextUses) {
  Program program = compileFiles({}).program();
  auto isStamped = [&](const char *name) {
    DeclId id = program.find(name, DeclKind::Collective);
    std::vector<TextProof> stamps = standardProofs(program);
    return std::any_of(stamps.begin(), stamps.end(),
                       [&](const TextProof &stamp) { return stamp.collective == index(id); });
  };
  ASSERT_TRUE(isStamped("bcast_binomial") && isStamped("allgather_ring"));
  DeclId binomial = program.find("binomial", DeclKind::Tree);
  for (Expr &e : program.exprs)
    if (e.owner == binomial && e.kind == ExprKind::IntLit)
      ++e.value;
  EXPECT_FALSE(isStamped("bcast_binomial"));
  EXPECT_TRUE(isStamped("allgather_ring"));
}

} // namespace
} // namespace colldsl::driver
