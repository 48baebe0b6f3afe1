// Calls over groups of ranks, for every shape of the machine.
#include "tests/parameterized/ProofOf.h"

namespace colldsl::parameterized {
namespace {

class ProvedOverGroups : public testing::TestWithParam<const char *> {};

TEST_P(ProvedOverGroups, ForEveryMachine) {
  AllRanksProof proof = proofOf(GetParam());
  EXPECT_TRUE(proof.isProved) << proof.reason << " in line " << proof.loc.line;
}

INSTANTIATE_TEST_SUITE_P(Library, ProvedOverGroups,
                         testing::Values("bcast_hierarchical", "bcast_multicast_hierarchical",
                                         "bcast_split_binary", "reduce_two_leaders",
                                         "reduce_hierarchical"));

constexpr const char *kTwoLevels = R"(
collective c(inout x: T[n], op: reduction = sum)
  ensures x == reduce(op, for r in 0..ranks: x@r)
{
  reduce_binomial(x, x, op = op, root = leader(node)) over node;
  allreduce_recursive_doubling(x, x, op = op) over leaders(node);
  bcast_binomial(x, root = leader(node)) over node;
}
)";

/// Nodes may hold any ranks, and the rank that leads may be any.
TEST(Groups, ReductionsOfReductionsNeedOperatorsThatCommute) {
  AllRanksProof proof = proofOf("c", kTwoLevels);
  EXPECT_TRUE(proof.isProved) << proof.reason << " in line " << proof.loc.line;
  EXPECT_EQ(proof.restrictedTo, "operators that commute");
}

constexpr WrongText kWrongOverGroups[] = {
    {"rootIsNoMember", R"(
collective c(inout x: T[n], root: rank = 0)
  ensures x == x@root
{
  bcast_flat(x, root = root) over node;
}
)",
     "'root' may not be in the group of the call"},
    {"anotherLeads", R"(
collective c(inout x: T[n], root: rank = 0)
  ensures x == x@root
{
  bcast_flat(x, root = root) over leaders(node);
  bcast_flat(x, root = leader(node)) over node;
}
)",
     "'root' may not be in the group of the call"},
    {"membersDisagree", R"(
collective c(inout x: T[n])
{
  bcast_flat(x, root = rank) over node;
}
)",
     "the ranks may not agree on 'root'"},
    {"othersDisagree", R"(
collective c(inout x: T[n])
{
  bcast_flat(x, root = leader(node));
}
)",
     "the ranks may not agree on 'root'"},
    {"groupsOverlap", R"(
collective c(inout x: T[n])
{
  bcast_flat(x, root = 0) over where(r: r == 0 or r == rank);
}
)",
     "the members of a group may not agree on it"},
    {"someMembersCall", R"(
collective c(inout x: T[n])
{
  if rank % 2 == 0 { bcast_flat(x, root = leader(node)) over node; }
}
)",
     "the ranks may not agree on this call"},
    {"someIterationsAreOfAll", R"(
collective c(inout x: T[n])
{
  for i in 0..rank { bcast_flat(x, root = leader(node)) over node; }
}
)",
     "the ranks may not agree on this call"},
    {"oneIsLeftOut", R"(
collective c(inout x: T[n])
  ensures x == x@0
{
  bcast_flat(x, root = 0) over where(r: r == 0 or r != ranks / 2);
}
)",
     "that this promise holds was not shown"},
    {"nodesAreLeftOut", R"(
collective c(inout x: T[n])
  ensures x == x@(leader(node))
{
  bcast_flat(x, root = leader(node)) over where(r: r != ranks / 2);
}
)",
     ""},
    {"noneIsAMember", R"(
collective c(inout x: T[n])
  ensures x == x@0
{
  bcast_flat(x) over where(r: r < 0);
}
)",
     "that this promise holds was not shown"},
    {"leadersAloneReduce", R"(
collective c(inout x: T[n], op: reduction = sum)
  where commutative(op)
  ensures x == reduce(op, for r in 0..ranks: x@r)
{
  allreduce_recursive_doubling(x, x, op = op) over leaders(node);
  bcast_binomial(x, root = leader(node)) over node;
}
)",
     "that this promise holds was not shown"},
    {"leadersContributeTwice", R"(
collective c(inout x: T[n], op: reduction = sum)
  where commutative(op)
  ensures x == reduce(op, for r in 0..ranks: x@r)
{
  temp all: T[n];
  allreduce_recursive_doubling(x, all, op = op) over node;
  allreduce_recursive_doubling(all, x, op = op);
}
)",
     "an operand of a reduction is one itself"},
    {"whereIsNotKeptByAGroup", R"(
collective small(inout x: T[n])
  where ranks > 1
  ensures x == x@0
{
  bcast_flat(x, root = 0);
}
collective c(inout x: T[n])
  where ranks > 1
{
  small(x) over node;
}
)",
     "a 'where' of 'small' may not hold"},
    {"memberIsBeyond", R"(
collective c(inout x: T[n])
  ensures x == x@(node.member(1))
{
  bcast_flat(x, root = node.member(1)) over node;
}
)",
     "a member may lie beyond the group"},
    {"lengthsDiffer", R"(
collective c(inout x: T[ranks][n])
{
  bcast_flat(x[rank..ranks], root = leader(node)) over node;
}
)",
     "the ranks may not agree on the lengths of slices"},
};

class NotProvedOverGroups : public testing::TestWithParam<WrongText> {};

TEST_P(NotProvedOverGroups, BecauseOfTheMistake) {
  AllRanksProof proof = proofOf("c", GetParam().text);
  EXPECT_FALSE(proof.isProved);
  EXPECT_NE(proof.reason.find(GetParam().reason), std::string::npos) << proof.reason;
}

INSTANTIATE_TEST_SUITE_P(Texts, NotProvedOverGroups, testing::ValuesIn(kWrongOverGroups),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace colldsl::parameterized
