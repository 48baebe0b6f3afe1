#include "tests/parameterized/ProofOf.h"

namespace colldsl::parameterized {
namespace {

using namespace std::chrono_literals;

class Proved : public testing::TestWithParam<const char *> {};

TEST_P(Proved, ForEveryNumberOfRanks) {
  AllRanksProof proof = proofOf(GetParam());
  EXPECT_TRUE(proof.isProved) << proof.reason << " in line " << proof.loc.line;
  EXPECT_EQ(proof.restrictedTo, "");
}

INSTANTIATE_TEST_SUITE_P(
    Library, Proved,
    testing::Values(
        "allgather_ring", "allgatherv_ring", "allgather_rotated", "allgather_pairwise",
        "allgather_recursive_doubling", "allgatherv_recursive_doubling",
        "allreduce_recursive_doubling", "allgather_concurrent_bcast", "allreduce_ring",
        "allreduce_ring_segmented", "allreduce_exchange", "alltoall_rotated", "alltoallv_rotated",
        "alltoallw_rotated", "alltoall_pairwise", "alltoall_exchange", "bcast_tree",
        "bcast_binomial", "bcast_chain", "bcast_two_trees", "gather_linear", "gatherv_linear",
        "scatter_linear", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw",
        "neighbor_allgather", "neighbor_allgatherv", "reduce_chain",
        "reduce_scatter_block_pairwise", "reduce_scatter_pairwise", "reduce_scatterv_pairwise",
        "scatterv_linear", "scan_chain", "exscan_chain", "scan_direct", "exscan_direct",
        "scan_recursive_doubling", "exscan_recursive_doubling", "allgather_neighbor_exchange",
        "allgatherv_neighbor_exchange", "fold_pairs", "unfold_pairs", "signal_up", "signal_down",
        "barrier_tree", "barrier_ring", "barrier_direct", "barrier_pairwise",
        "barrier_dissemination", "barrier_hierarchical", "allgather_bruck", "allgatherv_bruck",
        "allreduce_butterfly", "allreduce_rabenseifner", "allreduce_recursive_multiplying"));

TEST(AllRanks, ReduceUpAnyTreeWithOperatorsThatCommute) {
  AllRanksProof proof = proofOf("reduce_up");
  EXPECT_TRUE(proof.isProved) << proof.reason;
  EXPECT_EQ(proof.restrictedTo, "operators that commute");
}

/// The chain combines lower ranks last.
TEST(AllRanks, OperatorsThatDoNotCommuteKeepTheOrderOfRanks) {
  AllRanksProof proof = proofOf("c", R"(
collective c(in x: T[n], out y: T[n], op: reduction = sum)
  ensures y == reduce(op, for r in 0..=rank: x@r)
{
  copy x to y;
  if rank > 0         { recv y from rank - 1 combine op after; }
  if rank < ranks - 1 { send y to rank + 1; }
}
)");
  EXPECT_TRUE(proof.isProved) << proof.reason;
  EXPECT_EQ(proof.restrictedTo, "operators that commute");
}

/// The runs of a scan that starts behind each rank: no guess of loops has them.
TEST(AllRanks, UseStatedInvariants) {
  const std::string head = R"(
collective c(in x: T[n], out y: T[n], op: reduction = sum)
  ensures at rank > 0: y == reduce(op, for r in 0..rank: x@r)
{
  temp own: T[n];
  copy x to own;
  for k in 0..ceil_log2(ranks))";
  const std::string body = R"({
    let far = 1 << k;
    if rank + far < ranks { send own to rank + far; }
    if rank >= far {
      temp further: T[n];
      let heard = k == 0 ? y : further;
      recv heard from rank - far;
      if k > 0                  { combine heard into y op before; }
      if rank + 2 * far < ranks { combine heard into own op before; }
    }
  }
}
)";
  AllRanksProof without = proofOf("c", head + " " + body);
  EXPECT_FALSE(without.isProved);
  AllRanksProof with = proofOf("c", head + R"(
    invariant at rank + (1 << k) < ranks:
      own == reduce(op, for r in max(rank - (1 << k) + 1, 0)..=rank: x@r)
    invariant at k > 0 and rank > 0:
      y == reduce(op, for r in max(rank - (1 << k) + 1, 0)..rank: x@r) )" +
                                        body);
  EXPECT_TRUE(with.isProved) << with.reason << " in line " << with.loc.line;
  EXPECT_EQ(with.restrictedTo, "");
}

/// Sums that go around a ring, each of the block that it will be of in the end.
TEST(AllRanks, UseStatedInvariantsOfSums) {
  auto ring = [](const std::string &contributions) {
    return R"(
collective c(in x: T[ranks][n], out y: T[n], op: reduction = sum)
  where commutative(op)
  ensures y == reduce(op, for r in 0..ranks: x[rank]@r)
{
  temp partial: T[2][n];
  copy x[(rank - 1) % ranks] to partial[1];
  for k in 1..ranks
    invariant partial[k % 2] ==
      reduce(op, for r in 0..ranks if )" +
           contributions + R"(: x[(rank - k) % ranks]@r) {
    send partial[k % 2] to (rank + 1) % ranks;
    recv partial[(k + 1) % 2] from (rank - 1) % ranks;
    combine x[(rank - k - 1) % ranks] into partial[(k + 1) % 2] op before;
  }
  copy partial[ranks % 2] to y;
}
)";
  };
  AllRanksProof proof = proofOf("c", ring("(rank - r) % ranks < k"));
  EXPECT_TRUE(proof.isProved) << proof.reason << " in line " << proof.loc.line;
  AllRanksProof wrong = proofOf("c", ring("(rank - r) % ranks <= k"));
  EXPECT_FALSE(wrong.isProved);
  EXPECT_EQ(wrong.reason, "that this invariant holds was not shown");
  EXPECT_EQ(wrong.loc.line, 9u);
}

TEST(AllRanks, NameWhatTheyRestOnAndLeaveOut) {
  EXPECT_EQ(proofOf("bcast_kary").structures, std::set<std::string>{"kary"});
  EXPECT_EQ(proofOf("allreduce_ring").leftOut, std::vector<std::string>{"'deterministic'"});
}

/// A function that calls itself is evaluated as long as its condition is decided, and not tried
/// further: each try would be many queries, of as many depths.
TEST(AllRanks, FunctionsThatCallThemselvesWithoutEndAreRefusedAtOnce) {
  const std::string head =
      "function twice(k: int, most: int) = k >= most ? k : twice(2 * k, most);\n"
      "collective c(in x: T[n], out y: T[n]) where twice(1, ";
  const std::string tail = ") >= 1 ensures y == x { copy x to y; }\n";
  EXPECT_TRUE(proofOf("c", head + "8" + tail).isProved);
  AllRanksProof open = proofOf("c", head + "ranks" + tail);
  EXPECT_EQ(open.reason, "the function 'twice' calls itself");
  EXPECT_LT(open.queries, 10u);
  EXPECT_EQ(proofOf("gather_up").reason, "the function 'running_sums' calls itself");
}

TEST(AllRanks, AreNotShownInNoTime) {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
  files.push_back(llvm::MemoryBuffer::getMemBufferCopy("", "test.coll"));
  Compilation compilation = compileTexts(std::move(files), CompileOptions());
  const Program &program = compilation.program();
  AllRanksProof proof =
      AllRanksProofs(program, 0s).of(program.find("allgather_ring", DeclKind::Collective));
  EXPECT_FALSE(proof.isProved);
  EXPECT_EQ(proof.reason, "not shown within 0 s");
}

class NotProved : public testing::TestWithParam<WrongText> {};

TEST_P(NotProved, BecauseOfTheMistake) {
  AllRanksProof proof = proofOf("c", GetParam().text);
  EXPECT_FALSE(proof.isProved);
  EXPECT_NE(proof.reason.find(GetParam().reason), std::string::npos) << proof.reason;
}

constexpr WrongText kWrong[] = {
    {"sendsWhatItDoesNotHave", R"(
collective c(in x: T[n], out y: T[ranks][n])
  ensures for r in 0..ranks: y[r] == x@r
{
  copy x to y[rank];
  for k in 0..ranks - 1 {
    send y[(rank - k - 1) % ranks] to (rank + 1) % ranks;
    recv y[(rank - k - 2) % ranks] from (rank - 1) % ranks;
  }
}
)",
     "a send may read unwritten bytes of 'y'"},
    {"oneRoundTooFew", R"(
collective c(in x: T[n], out y: T[ranks][n])
  ensures for r in 0..ranks: y[r] == x@r
{
  copy x to y[rank];
  for k in 0..ranks - 2 {
    send y[(rank - k) % ranks] to (rank + 1) % ranks;
    recv y[(rank - k - 1) % ranks] from (rank - 1) % ranks;
  }
}
)",
     "that this promise holds was not shown"},
    {"blockOfAnother", R"(
collective c(in x: T[n], out y: T[ranks][n])
  ensures for r in 0..ranks: y[r] == x@r
{
  copy x to y[rank];
  for k in 1..ranks {
    send x to (rank + k) % ranks;
    recv y[(rank + k) % ranks] from (rank - k) % ranks;
  }
}
)",
     "that this promise holds was not shown"},
    {"noReceive", R"(
collective c(inout x: T[n])
{
  send x to (rank + 1) % ranks;
}
)",
     "a send may meet no receive"},
    {"noSend", R"(
collective c(inout x: T[n])
{
  if rank > 0 { recv x from rank - 1; }
}
)",
     "a receive may meet no send"},
    {"fromTheWrongSide", R"(
collective c(in x: T[n], out y: T[n])
  ensures y == x@((rank - 1) % ranks)
{
  send x to (rank + 1) % ranks;
  recv y from (rank + 1) % ranks;
}
)",
     "a send may meet no receive"},
    {"otherTag", R"(
collective c(in x: T[n], out y: T[n])
  ensures y == x@((rank - 1) % ranks)
{
  send x to (rank + 1) % ranks tag 1;
  recv y from (rank - 1) % ranks tag 2;
}
)",
     "a send may meet no receive"},
    {"onlyFarOut", R"(
collective c(in x: T[n], out y: T[n])
  ensures y == x@((rank - 1) % ranks)
{
  send x to (rank + 1) % ranks;
  if ranks != 1000 or rank != 7 { recv y from (rank - 1) % ranks; }
}
)",
     "a send may meet no receive"},
    {"crossed", R"(
collective c(in x: T[n], in z: T[n], out y: T[2][n])
  ensures y[0] == x@((rank - 1) % ranks)
  ensures y[1] == z@((rank - 1) % ranks)
{
  send x to (rank + 1) % ranks;
  send z to (rank + 1) % ranks;
  recv y[1] from (rank - 1) % ranks;
  recv y[0] from (rank - 1) % ranks;
}
)",
     "that this promise holds was not shown"},
    {"longer", R"(
collective c(in x: T[n], inout y: T[n])
{
  if rank == 0 and ranks > 1 { send x to 1; }
  if rank == 1 { recv part(y, 0 of 2) from 0; }
}
)",
     "a message may not be as long at both ends"},
    {"allWaitFirst", R"(
collective c(in x: T[n], out y: T[n])
  ensures y == x@((rank - 1) % ranks)
{
  r: recv y from (rank - 1) % ranks;
  s: send x to (rank + 1) % ranks;
  s requires r;
}
)",
     "that no operation waits for itself was not shown"},
    {"labelIsNotSet", R"(
collective c(in x: T[n], out y: T[ranks][n])
  ensures for r in 0..ranks: y[r] == x@r
{
  copy x to y[rank];
  for k in 1..ranks {
    s[k]: send x to (rank + k) % ranks;
    r[k]: recv y[(rank - k) % ranks] from (rank - k) % ranks;
    if k > 0 { s[k] requires r[k - 1]; }
  }
}
)",
     "the label 'r' may not have been set"},
    {"signalsInACircle", R"(
collective c()
{
  w: wait from (rank - 1) % ranks;
  s: signal to (rank + 1) % ranks;
  s requires w;
}
)",
     "that no operation waits for itself was not shown"},
    {"passesOnInACircle", R"(
collective c(inout x: T[n])
  ensures x == x@((rank - 1) % ranks)
{
  recv x from (rank - 1) % ranks;
  send x to (rank + 1) % ranks;
}
)",
     "that no operation waits for itself was not shown"},
    {"twice", R"(
collective c(in x: T[n], out y: T[n], op: reduction = sum)
  ensures y == reduce(op, for r in 0..=rank: x@r)
{
  copy x to y;
  combine x into y op;
  for r in rank + 1..ranks { send x to r; }
  for k in 1..=rank { recv y from rank - k combine op before; }
}
)",
     "a contribution may be combined twice"},
    {"beyondTheBuffer", R"(
collective c(in x: T[n], inout y: T[ranks][n])
{
  copy x to y[rank + 1];
}
)",
     "a block may lie beyond the buffer 'y'"},
    {"peerIsNoRank", R"(
collective c(in x: T[n], inout y: T[n])
{
  send x to rank + 1;
  recv y from rank - 1;
}
)",
     "the peer may not be a rank"},
    {"writesUnpromisedBytes", R"(
collective c(in x: T[n], out y: T[n], op: reduction = sum)
  ensures at rank > 0: y == x@(rank - 1)
{
  if rank == 0 { copy x to y; }
  if rank < ranks - 1 { send x to rank + 1; }
  if rank > 0 { recv y from rank - 1; }
}
)",
     "bytes may be written about which nothing is promised"},
    {"temporaryIsEmpty", R"(
collective c(in x: T[n], out y: T[n])
  ensures y == x
{
  temp z: T[n];
  copy z to y;
}
)",
     "a copy may read unwritten bytes of 'z'"},
    {"onlyInPlace", R"(
collective c(in x: T[n], out y: T[n])
  x aliases y
  ensures y == x@((rank - 1) % ranks)
{
  if rank > 0 or ranks == 1 { recv y from (rank - 1) % ranks; }
  send x to (rank + 1) % ranks;
  if rank == 0 and ranks > 1 { recv y from ranks - 1; }
}
)",
     ""},
    {"whereIsNotKept", R"(
collective small(inout x: T[n])
  where ranks < 5
  ensures x == x@0
{
  bcast_flat(x, root = 0);
}
collective c(inout x: T[n])
  ensures x == x@0
{
  small(x);
}
)",
     "a 'where' of 'small' may not hold"},
    {"calleeWantsEqualLengths", R"(
collective same(in x: T[*], out y: T[*])
  ensures y == x
{
  copy x to y;
}
collective c(in x: T[4], out y: T[6])
  ensures y[0..4] == x
  ensures y[4..6] == x[0..2]
{
  same(x, y);
  copy x[0..2] to y[4..6];
}
)",
     "a slice may not be as long as the one that it becomes"},
    {"someCall", R"(
collective c(inout x: T[n])
{
  if rank > 0 { bcast_flat(x, root = 0); }
}
)",
     "the ranks may not agree on this call"},
    {"rootsDiffer", R"(
collective c(inout x: T[n])
{
  bcast_flat(x, root = rank);
}
)",
     "the ranks may not agree on"},
    {"wrongSlot", R"(
collective c(g: graph, in x: T[g.outdegree][n], out y: T[g.indegree][n])
  ensures for e in g.in: y[e.slot] == x[e.peerslot]@e.peer
{
  for e in g.out { send x[0] along e; }
  for e in g.in  { recv y[e.slot] along e; }
}
)",
     "that this promise holds was not shown"},
    {"fromAnotherRoot", R"(
collective c(inout x: T[n], a: rank = 0, b: rank = 0)
  ensures x == x@a
{
  let t = flat(b);
  recv x from t.parent;
  for c in t.children { send x to c; }
}
)",
     "a send may read unwritten bytes of 'x'"},
    {"childIsForgotten", R"(
collective c(inout x: T[n], t: tree = flat(0))
  ensures x == x@(t.root)
{
  recv x from t.parent;
  for i in 1..length(t.children) { send x to t.children[i]; }
}
)",
     "a receive may meet no send"},
};

INSTANTIATE_TEST_SUITE_P(Texts, NotProved, testing::ValuesIn(kWrong),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace colldsl::parameterized
