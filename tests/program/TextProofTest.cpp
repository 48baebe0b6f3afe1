// Tables of stamps, and how stamps are told.
#include "program/library/TextProof.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

TextProof read(const std::string &line) {
  Result<std::vector<NamedTextProof>> table = readTextProofs(line);
  EXPECT_TRUE(table.ok() && table->size() == 1) << (table.ok() ? line : table.message());
  return table.ok() && !table->empty() ? table->front().proof : TextProof();
}

TEST(TextProof, isToldWithItsDomain) {
  EXPECT_EQ(domainInWords(read("x | 00000000000000ff | 64 | all")), "all P");
  EXPECT_EQ(domainInWords(read("x | 00000000000000ff | 64 | all | commutative")),
            "all P, for operators that commute");
  EXPECT_EQ(
      domainInWords(read("x|00000000000000ff|0|all|commutative|'deterministic',bounds of costs")),
      "all P, for operators that commute, but for 'deterministic' and bounds of costs");
  EXPECT_EQ(domainInWords(read("x | 00000000000000ff | 64")), "1 to 64 ranks, at the values tried");
  EXPECT_EQ(domainInWords(read("x | 00000000000000ff | 0")), "");
}

TEST(TextProof, isReadFromATable) {
  Result<std::vector<NamedTextProof>> table =
      readTextProofs("# head\n\na | 0123456789abcdef | 3 | all | | | kary,binomial\nb | "
                     "00000000000000ff | 8\n");
  ASSERT_TRUE(table.ok()) << table.message();
  ASSERT_EQ(table->size(), 2u);
  const NamedTextProof &a = table->front();
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(digestWord(a.proof.digest), "0123456789abcdef");
  EXPECT_EQ(a.proof.mostRanks, 3u);
  EXPECT_TRUE(a.proof.allRanks);
  EXPECT_FALSE(a.proof.needsCommutative);
  EXPECT_TRUE(a.proof.leftOut.empty());
  EXPECT_EQ(a.proof.structures, (std::vector<std::string>{"kary", "binomial"}));
  EXPECT_FALSE(table->back().proof.allRanks);
}

TEST(TextProof, ofAWrongLineIsRefused) {
  for (const char *line :
       {"x", "x | 00ff | 64", "x | 00000000000000fg | 64", "x | 00000000000000ff | many",
        " | 00000000000000ff | 64", "x | 00000000000000ff | 64 | some",
        "x | 00000000000000ff | 64 | all | noncommutative",
        "x | 00000000000000ff | 64 | all | | | | more"}) {
    Result<std::vector<NamedTextProof>> table = readTextProofs(std::string("# head\n") + line);
    EXPECT_TRUE(!table.ok() && table.message().starts_with("line 2: ")) << line;
  }
}

} // namespace
} // namespace colldsl
