// How far plans are proved: by the stamps of their texts, by images, by the commit; and which plans
// are refused, or passed over by rules, where more is required.
#include "runtime/PlanProof.h"

#include "compiler/Compile.h"
#include "ir/Concat.h"
#include "program/TextDigest.h"
#include "protocol/local/LocalEndpoint.h"
#include "runtime/CollectivePlan.h"
#include "runtime/job/LocalRanks.h"
#include "tests/runtime/Libraries.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

// ---- stamps and images ----------------------------------------------------------------------

/// smallLibrary() with the stamp of `shift` as given, and images that are proved.
std::unique_ptr<Library> stamped(const TextProof &stamp) {
  static std::deque<std::vector<std::byte>> kept;
  LibraryContent content = smallLibrary();
  uint32_t shift = content.textProofs[0].collective;
  uint64_t digest = content.textProofs[0].digest;
  content.textProofs = {stamp};
  content.textProofs[0].collective = shift;
  content.textProofs[0].digest = digest;
  for (LibraryImage &image : content.images)
    image.proof = ImageProof::Full;
  kept.push_back(encodeLibrary(content));
  return Library::view(kept.back()).take();
}

PlanProof proofOf(const TextProof &stamp, uint32_t ranks, bool commutes = true,
                  const char *name = "shift") {
  std::unique_ptr<Library> library = stamped(stamp);
  InstantiateRequest request;
  request.collective = (*library->program())->find(name, DeclKind::Collective);
  request.ranks = ranks;
  Result<PlanProof> proof = proofOfText(*library, request, commutes);
  EXPECT_TRUE(proof.ok()) << proof.message();
  return proof.ok() ? proof.take() : PlanProof();
}

TEST(PlanProof, isThatOfTheStampWhereItsQualifiersHold) {
  TextProof stamp{.allRanks = true, .needsCommutative = true, .mostRanks = 5};
  PlanProof proof = proofOf(stamp, 1'000'000);
  EXPECT_EQ(proof.level, ProofLevel::AllRanks);
  EXPECT_EQ(proof.mostRanks, UINT32_MAX);
  EXPECT_EQ(proof.inWords(), "proved for all P, for operators that commute");
  EXPECT_FALSE(proof.leavesOut);
  // Another operator: images for fewer ranks are left. The proofs one by one have operators that
  // commute.
  EXPECT_EQ(proofOf(stamp, 7, false).level, ProofLevel::SmallerRanks);
  EXPECT_EQ(proofOf(stamp, 7, false).inWords(), "proved for 2,5 ranks only");
  EXPECT_EQ(proofOf(stamp, 2, false).inWords(), "not proved");
  stamp.needsCommutative = false;
  EXPECT_EQ(proofOf(stamp, 7, false).inWords(), "proved for all P");
  stamp.leftOut = {"'deterministic'"};
  EXPECT_TRUE(proofOf(stamp, 7).leavesOut);
  EXPECT_EQ(proofOf(stamp, 7).inWords(), "proved for all P, but for 'deterministic'");
}

TEST(PlanProof, ofSomeNumbersOfRanksSaysWhich) {
  TextProof stamp{.mostRanks = 64};
  EXPECT_EQ(proofOf(stamp, 8).inWords(), "proved for 1 to 64 ranks, at the values tried");
  EXPECT_EQ(proofOf(stamp, 65).inWords(), "proved for 1 to 64 ranks only, at the values tried");
  EXPECT_EQ(proofOf(stamp, 65).mostRanks, 64u);
  EXPECT_EQ(proofOf(stamp, 65).level, ProofLevel::SmallerRanks);
  stamp.mostRanks = 3;
  EXPECT_EQ(proofOf(stamp, 9).inWords(), "proved for 2,5 ranks only") << "the largest counts";
  EXPECT_EQ(proofOf(stamp, 9, true, "star").inWords(), "proved for 3 ranks only");
  EXPECT_EQ(proofOf(stamp, 3, true, "star").inWords(), "not proved");
}

TEST(PlanProof, ofAnImageIsItsOwnAndThatOfTheText) {
  LibraryImage image;
  image.ranks = 5;
  PlanProof ofText = proofOf({.allRanks = true, .leftOut = {"'deterministic'"}}, 5);
  EXPECT_EQ(proofOfImage(image, ofText).inWords(), "not proved");
  image.proof = ImageProof::SomeLengths;
  EXPECT_EQ(proofOfImage(image, ofText).inWords(), "not proved");
  image.proof = ImageProof::Full;
  EXPECT_EQ(proofOfImage(image, {}).inWords(), "proved for these 5 ranks");
  EXPECT_EQ(proofOfImage(image, ofText).inWords(),
            "proved for all P, but for 'deterministic'; with all promises for these 5 ranks");
  EXPECT_FALSE(proofOfImage(image, ofText).leavesOut);
  image.passes = "fuse";
  EXPECT_EQ(proofOfImage(image, ofText).level, ProofLevel::Exact) << "not as written";
}

TEST(PlanProof, levelsHaveTheWordsOfTheEnvironment) {
  EXPECT_EQ(proofLevelOf("report"), ProofLevel::None);
  EXPECT_EQ(proofLevelOf("require"), ProofLevel::Exact);
  EXPECT_EQ(proofLevelOf("all-ranks"), ProofLevel::AllRanks);
  EXPECT_EQ(proofLevelOf("all"), std::nullopt);
}

// ---- plans ----------------------------------------------------------------------------------

/// As compiled.coll; `told` and `summed` are stamped, and two rules serve "telling": `guessed`, of
/// which nothing is known, then `told`.
const std::vector<std::byte> &libraryBytes() {
  static const std::vector<std::byte> bytes = [] {
    Compilation compilation = compileFiles({COLLDSL_COMPILED});
    EXPECT_TRUE(compilation.ok());
    LibraryContent content;
    content.identity = {"test", 1, {}};
    content.program = compilation.program();
    auto find = [&](const char *name) { return content.program.find(name, DeclKind::Collective); };
    auto stamp = [&](const char *name, TextProof proof) {
      proof.collective = index(find(name));
      proof.digest = textDigest(content.program, find(name));
      content.textProofs.push_back(proof);
    };
    stamp("told", {.allRanks = true});
    stamp("summed", {.allRanks = true, .needsCommutative = true, .leftOut = {"'deterministic'"}});
    std::sort(content.textProofs.begin(), content.textProofs.end(),
              [](const auto &a, const auto &b) { return a.collective < b.collective; });
    for (const char *name : {"half_told", "told"}) {
      SelectionRule rule;
      rule.function = "telling";
      rule.collective = index(find(name));
      content.rules.push_back(rule);
    }
    SelectionRule last = content.rules.front();
    last.function = "guessing";
    content.rules.push_back(last);
    return encodeLibrary(content);
  }();
  return bytes;
}

CompileSettings settings(ProofLevel least, uint64_t mostOps = 1 << 22, const char *passes = "") {
  CompileSettings s;
  s.passes = passes;
  s.leastProof = least;
  s.mostOps = mostOps;
  return s;
}

Status describe(CollectivePlan &plan, const std::string &name, int32_t *x, int32_t *y) {
  constexpr uint64_t kBytes = sizeof(int32_t);
  Status s = plan.setElements(1);
  for (Status next : {name == "summed" ? plan.bind("x", BoundBuffer::in(x, kBytes)) : Status(),
                      plan.bind(name == "summed" ? "y" : "buf", {y, kBytes})})
    s = s ? next : s;
  return s;
}

/// Commits and runs the collective on ranks whose rank 0 has 42; the collective that served and how
/// far it is proved, or why it was refused, of rank 0. `product`: an operator that does not
/// commute.
std::string told(const std::string &name, uint32_t ranks, const CompileSettings &settings,
                 bool isProduct = false) {
  LocalOptions local;
  local.numRanks = ranks;
  local.timeout = std::chrono::seconds(60);
  auto outcomes = runLocalRanks(local, [&](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
    auto library = Library::view(libraryBytes());
    if (!library)
      return library.status();
    Communicator communicator(endpoint, Topology::flat(ranks));
    int32_t x = 1, y = communicator.rank() == Rank{0} ? 42 : 0;
    CollectivePlan plan(communicator, **library, name);
    Status s = describe(plan, name, &x, &y);
    auto keepFirst = [](std::byte *target, const std::byte *first, const std::byte *, uint64_t n,
                        Side, void *) { std::memmove(target, first, n); };
    if (s)
      s = isProduct ? plan.setCombiner({keepFirst, nullptr, sizeof x}, false)
                    : plan.setType(ElementType::I32);
    for (Status next : {s, plan.setCompiler(*PlanCompiler::make(settings)), plan.commit()})
      s = s ? next : s;
    if (s)
      s = plan.start();
    if (s)
      s = plan.plan().wait(std::chrono::seconds(20));
    if (!s)
      return s;
    std::string text = concat(plan.collective(), ", ", plan.reason(), ": ", plan.proof().inWords());
    if (name != "summed" && y != 42)
      text += ", wrong data";
    auto bytes = std::as_bytes(std::span(text));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  });
  if (!outcomes.ok())
    return outcomes.message();
  const RankOutcome &first = outcomes->front();
  return first.status.ok()
             ? std::string(reinterpret_cast<const char *>(first.bytes.data()), first.bytes.size())
             : first.status.message();
}

TEST(PlanProof, ofATextHoldsWithoutAProofAtTheCommit) {
  constexpr uint64_t kTooFew = 4; // ops that may be proved
  EXPECT_EQ(told("told", 4, settings(ProofLevel::None)), "told, named: proved for all P");
  EXPECT_EQ(told("told", 4, settings(ProofLevel::AllRanks)), "told, named: proved for all P");
  EXPECT_EQ(told("told", 4, settings(ProofLevel::Exact, kTooFew)), "told, named: proved for all P");
  // A promise that is left out is proved for this number of ranks, if it may be.
  EXPECT_EQ(told("summed", 3, settings(ProofLevel::AllRanks)),
            "summed, named: proved for all P, for operators that commute, but for "
            "'deterministic'");
  EXPECT_EQ(told("summed", 3, settings(ProofLevel::Exact)),
            "summed, named: proved for all P, for operators that commute, but for "
            "'deterministic'; with all promises for these 3 ranks");
  std::string refused = told("summed", 4, settings(ProofLevel::Exact, kTooFew));
  EXPECT_TRUE(refused.starts_with("'summed' is proved for all P, for operators that commute, but "
                                  "for 'deterministic', but must be proved for this P: not proved"))
      << refused;
}

TEST(PlanProof, ofATextHoldsForItsOperatorsAlone) {
  EXPECT_EQ(told("summed", 3, settings(ProofLevel::None), true), "summed, named: not proved");
  EXPECT_EQ(told("summed", 3, settings(ProofLevel::AllRanks), true),
            "'summed' is not proved, but must be proved for all P");
}

TEST(PlanProof, belowTheLeastIsRefusedWithBothLevels) {
  EXPECT_EQ(told("half_told", 2, settings(ProofLevel::AllRanks)),
            "'half_told' is not proved, but must be proved for all P");
  EXPECT_EQ(told("half_told", 2, settings(ProofLevel::Exact)),
            "half_told, named: proved for these 2 ranks");
  EXPECT_EQ(told("told", 4, settings(ProofLevel::AllRanks, 1 << 22, "fuse")),
            "'told' is proved for these 4 ranks, but must be proved for all P");
}

TEST(PlanProof, belowTheLeastIsNotChosenByRules) {
  EXPECT_EQ(told("telling", 2, settings(ProofLevel::None)),
            "half_told, rule 1 for telling: not proved");
  EXPECT_EQ(told("telling", 2, settings(ProofLevel::AllRanks)),
            "told, rule 2 for telling: proved for all P");
  EXPECT_EQ(told("telling", 2, settings(ProofLevel::Exact)),
            "half_told, rule 1 for telling: proved for these 2 ranks");
  EXPECT_EQ(told("telling", 3, settings(ProofLevel::Exact)),
            "told, rule 2 for telling: proved for all P")
      << "half_told is wrong on three ranks";
  EXPECT_EQ(told("guessing", 2, settings(ProofLevel::AllRanks)),
            "'half_told' is not proved, but must be proved for all P");
}

} // namespace
} // namespace colldsl
