#include "select/Decision.h"
#include "select/Candidate.h"
#include "select/Chooser.h"
#include "select/DecisionRules.h"
#include "select/Function.h"

#include <fstream>
#include <gtest/gtest.h>

namespace colldsl {
namespace {

std::unique_ptr<Library> standard() {
  Result<std::unique_ptr<Library>> library = Library::open(COLLDSL_STANDARD_LIBRARY);
  EXPECT_TRUE(library.ok()) << (library ? "" : library.message());
  return library.take();
}

Decision decision(const std::string &function, const std::string &use) {
  Decision d;
  d.function = function;
  d.ranks = 4;
  d.maxBytes = 1000;
  Result<TunedCollective> parsed = TunedCollective::parse(use);
  EXPECT_TRUE(parsed.ok()) << use;
  d.use = parsed.take();
  d.needsCommutative = function == "allreduce";
  return d;
}

std::string errorOf(const Decision &d) {
  MachineProfile profile;
  profile.decisions = {d};
  Status s = prefer(*standard(), profile);
  return s ? "none" : s.message();
}

std::string chosen(Library &library, std::string_view function, uint32_t ranks, uint64_t bytes,
                   bool commutative = true) {
  Situation situation{function, ranks, bytes, 1, ranks, ElementType::F64, commutative};
  Result<Chooser> chooser = Chooser::of(library);
  const SelectionRule *rule = chooser ? chooser->choose(situation) : nullptr;
  return rule ? chooser->collectiveOf(*rule).words() : "none";
}

TEST(DecisionsTest, comeBeforeTheRules) {
  std::unique_ptr<Library> plain = standard(), tuned = standard();
  MachineProfile profile;
  profile.decisions = {decision("bcast", "bcast_knomial k=3"),
                       decision("allreduce", "allreduce_ring")};
  profile.decisions[0].minBytes = 10;
  ASSERT_TRUE(prefer(*tuned, profile).ok());
  EXPECT_EQ(tuned->numPreceding(), 2u);
  EXPECT_EQ(chosen(*tuned, "bcast", 4, 10), "bcast_knomial k=3");
  EXPECT_EQ(chosen(*tuned, "bcast", 4, 1000), "bcast_knomial k=3");
  for (auto [ranks, bytes] : {std::pair(4, 9), std::pair(4, 1001), std::pair(5, 10)})
    EXPECT_EQ(chosen(*tuned, "bcast", ranks, bytes), chosen(*plain, "bcast", ranks, bytes));
  EXPECT_EQ(chosen(*tuned, "allreduce", 4, 8), "allreduce_ring");
  EXPECT_EQ(chosen(*tuned, "allreduce", 4, 8, false), chosen(*plain, "allreduce", 4, 8, false));
  EXPECT_NE(tuned->checksum(), plain->checksum()) << "ranks notice other decisions";
}

TEST(DecisionsTest, withoutAnyTheLibraryIsTheSame) {
  std::unique_ptr<Library> plain = standard(), tuned = standard();
  ASSERT_TRUE(prefer(*tuned, {}).ok());
  EXPECT_EQ(tuned->checksum(), plain->checksum());
}

TEST(DecisionsTest, nameWhatTheLibraryHas) {
  EXPECT_EQ(errorOf(decision("bcast", "bcast_kary k=5")), "none");
  EXPECT_EQ(errorOf(decision("allreduce", "allreduce_hierarchical segment=4096 halves=1")), "none");
  EXPECT_EQ(errorOf(decision("broadcast", "bcast_kary")),
            "decisions[0]: there is no function 'broadcast'");
  EXPECT_EQ(errorOf(decision("bcast", "bcast_star")),
            "decisions[0]: there is no collective 'bcast_star'");
  EXPECT_EQ(errorOf(decision("bcast", "bcast_kary fan=5")),
            "decisions[0]: 'bcast_kary' has no parameter 'fan'");
  EXPECT_EQ(errorOf(decision("bcast", "bcast_kary k=65")),
            "decisions[0]: 'k' of 'bcast_kary' cannot be 65");
  EXPECT_EQ(errorOf(decision("bcast", "bcast_kary k=2 k=3")), "decisions[0]: 'k' is given twice");
  EXPECT_EQ(errorOf(decision("bcast", "bcast_kary root=1")),
            "decisions[0]: 'root' of 'bcast_kary' is the caller's to choose");
  EXPECT_EQ(errorOf(decision("allreduce", "allreduce_hierarchical halves=2")),
            "decisions[0]: 'halves' of 'allreduce_hierarchical' cannot be 2");
  EXPECT_EQ(errorOf(decision("bcast", "allgather_ring")),
            "decisions[0]: 'allgather_ring' serves no bcast: it has no buffer 'buf', as "
            "'bcast_multicast_hierarchical' has");
}

// Their buffers have the same names, but blocks of other kinds.
TEST(DecisionsTest, shapesOfBuffersCount) {
  EXPECT_EQ(errorOf(decision("alltoallv", "alltoallv_hierarchical")),
            "decisions[0]: 'alltoallv_hierarchical' serves no alltoallv: its buffer 'x' is 'in "
            "T[ranks][<= $n1]', that of 'alltoallv_rotated' 'in T[ranks][*]'");
  EXPECT_EQ(errorOf(decision("alltoallv", "alltoallv_pairwise")), "none");
}

TEST(DecisionsTest, callsThatSuitTheRulesSuitThem) {
  Decision any = decision("allreduce", "allreduce_ring");
  any.needsCommutative = false;
  EXPECT_EQ(errorOf(any), "decisions[0]: decisions for allreduce are for operators that commute: "
                          "'commutative' is missing");
  Decision odd = decision("allgather", "allgather_neighbor_exchange");
  EXPECT_EQ(errorOf(odd), "none");
  odd.ranks = 5;
  EXPECT_EQ(errorOf(odd).find("decisions[0]: 'allgather_neighbor_exchange' is not for 5 ranks: "),
            0u)
      << errorOf(odd);
}

TEST(DecisionsTest, oneThatIsWrongChangesNothing) {
  std::unique_ptr<Library> plain = standard(), library = standard();
  MachineProfile profile;
  profile.decisions = {decision("bcast", "bcast_knomial k=3"), decision("bcast", "none")};
  EXPECT_FALSE(prefer(*library, profile).ok());
  EXPECT_EQ(library->numPreceding(), 0u);
  EXPECT_EQ(library->checksum(), plain->checksum());
  EXPECT_EQ(chosen(*library, "bcast", 4, 10), chosen(*plain, "bcast", 4, 10));
}

TEST(DecisionsTest, functionsHaveTheirOwnCollectives) {
  std::unique_ptr<Library> library = standard();
  const Program &program = **library->program();
  auto names = [&](const std::string &function) {
    std::vector<std::string> all;
    for (DeclId id : collectivesFor(program, **library->rules(), function))
      all.push_back(program.nameOf(program.decl(id)));
    return all;
  };
  std::vector<std::string> reduce = names("reduce");
  EXPECT_GT(reduce.size(), 5u);
  for (const std::string &name : reduce)
    EXPECT_EQ(name.find("reduce_scatter"), std::string::npos) << name;
  EXPECT_EQ(names("alltoallv"),
            (std::vector<std::string>{"alltoallv_rotated", "alltoallv_pairwise"}));
  EXPECT_TRUE(names("none").empty());
}

// Each part of a library is checked when it is first asked for.
TEST(DecisionsTest, damagedRulesAreAnError) {
  struct alignas(64) Line {
    char bytes[64];
  };
  std::ifstream file(COLLDSL_STANDARD_LIBRARY, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  std::vector<Line> lines(text.size() / sizeof(Line) + 1);
  char *bytes = lines.front().bytes;
  text.copy(bytes, text.size());
  Topology topology = Topology::flat(4);
  uint32_t numDamaged = 0;
  for (size_t at = 0; at < text.size(); at += text.size() / 64) {
    bytes[at] ^= 0x40;
    auto library = Library::view(std::as_bytes(std::span(bytes, text.size())));
    bool isDamaged = library && !(*library)->rules();
    if (isDamaged) {
      MachineProfile profile;
      EXPECT_FALSE(CandidateFinder::of(**library, {}, topology).ok()) << "byte " << at;
      EXPECT_FALSE(decide({TuningPoint()}, **library).ok()) << "byte " << at;
      EXPECT_FALSE(addLearned(profile, {TuningPoint()}, **library).ok()) << "byte " << at;
      EXPECT_TRUE(profile.points.empty());
    }
    numDamaged += isDamaged;
    bytes[at] ^= 0x40;
  }
  EXPECT_GT(numDamaged, 0u);
}

} // namespace
} // namespace colldsl
