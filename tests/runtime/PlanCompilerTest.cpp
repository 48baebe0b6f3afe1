// Plans whose schedules passes make when they are committed.
#include "runtime/PlanCompiler.h"
#include "compiler/Compile.h"
#include "ir/Concat.h"
#include "protocol/local/LocalEndpoint.h"
#include "runtime/CollectivePlan.h"
#include "runtime/job/LocalRanks.h"
#include "select/DecisionRules.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

using RankBytes = Result<std::vector<std::byte>>;

/// With a rule: told serves the function "telling".
const std::vector<std::byte> &libraryBytes() {
  static const std::vector<std::byte> bytes = [] {
    Compilation compilation = compileFiles({COLLDSL_COMPILED});
    EXPECT_TRUE(compilation.ok());
    LibraryContent content;
    content.identity = {"test", 1, {}};
    content.program = compilation.program();
    SelectionRule rule;
    rule.function = "telling";
    rule.collective = index(content.program.find("told", DeclKind::Collective));
    content.rules = {rule};
    return encodeLibrary(content);
  }();
  return bytes;
}

std::shared_ptr<const PlanCompiler> compiler(std::string passes,
                                             ProofLevel least = ProofLevel::None,
                                             KnownModel machine = KnownModel::Cluster) {
  CompileSettings settings;
  settings.machine = knownModel(machine);
  settings.passes = std::move(passes);
  settings.leastProof = least;
  return *PlanCompiler::make(std::move(settings));
}

RankBytes asBytes(const std::string &text) {
  auto bytes = std::as_bytes(std::span(text));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

/// What each rank's body returned, or why it failed.
std::vector<std::string> onRanks(uint32_t ranks, const std::string &topology,
                                 const std::function<RankBytes(Communicator &, Library &)> &body) {
  LocalOptions local;
  local.numRanks = ranks;
  local.timeout = std::chrono::seconds(60);
  auto outcomes = runLocalRanks(local, [&](Endpoint &endpoint) -> RankBytes {
    auto library = Library::view(libraryBytes());
    if (!library)
      return library.status();
    Result<Topology> places = Topology::make(topology, ranks);
    if (!places)
      return places.status();
    Communicator communicator(endpoint, places.take());
    return body(communicator, **library);
  });
  if (!outcomes.ok())
    return {outcomes.message()};
  std::vector<std::string> texts;
  for (const RankOutcome &outcome : *outcomes)
    texts.push_back(outcome.status.ok()
                        ? std::string(reinterpret_cast<const char *>(outcome.bytes.data()),
                                      outcome.bytes.size())
                        : outcome.status.message());
  return texts;
}

Status runOnce(CollectivePlan &plan) {
  if (Status s = plan.commit(); !s)
    return s;
  if (Status s = plan.start(); !s)
    return s;
  return plan.plan().wait(std::chrono::seconds(20));
}

/// Broadcasts n numbers of rank 1; what is known of the plan once the data is right.
RankBytes tell(Communicator &communicator, Library &library, uint64_t n,
               std::shared_ptr<const PlanCompiler> compiler) {
  std::vector<int32_t> data(n, communicator.rank() == Rank{1} ? 42 : 0);
  CollectivePlan plan(communicator, library, "told");
  for (Status s :
       {plan.setType(ElementType::I32), plan.setElements(n), plan.setValue("root", int64_t{1}),
        plan.bind("buf", {data.data(), n * sizeof data[0]}), plan.setCompiler(std::move(compiler)),
        runOnce(plan)})
    if (!s)
      return s;
  if (data != std::vector<int32_t>(n, 42))
    return Status::error("the data is wrong");
  return asBytes(concat(plan.argumentsInWords(), "; ", plan.remarks(), "; ", plan.proof().inWords(),
                        "; ", plan.sizeClass().min));
}

/// All ranks' texts are one.
std::string oneOf(const std::vector<std::string> &texts) {
  for (const std::string &text : texts)
    if (text != texts[0])
      return concat(texts[0], " and ", text);
  return texts[0];
}

TEST(PlanCompiler, choosesTuningParametersForWhereTheRanksSit) {
  auto told = [](const char *topology, const char *passes) {
    return oneOf(onRanks(8, topology, [&](Communicator &communicator, Library &library) {
      return tell(communicator, library, 1, compiler(passes));
    }));
  };
  EXPECT_EQ(told("flat", ""), "root=1; ; not proved; 1");
  std::string flat = told("flat", "tune"), nodes = told("node:2 core:4", "tune");
  EXPECT_NE(flat.find("root=1, t=...; tune: "), std::string::npos) << flat;
  EXPECT_NE(flat.find("t = optimal-tree"), std::string::npos) << flat;
  EXPECT_NE(nodes.find("t = distance-tree"), std::string::npos) << nodes;
}

// As a machine profile has them with its decisions.
TEST(PlanCompiler, goesByTheCostsOfTheLibraryWhereItHasSome) {
  auto told = [](std::optional<MachineModel> costs, KnownModel settings) {
    return oneOf(onRanks(8, "node:2 core:4", [&](Communicator &communicator, Library &library) {
      MachineProfile profile;
      Decision decision;
      decision.function = "telling";
      decision.ranks = 8;
      decision.use.name = "told";
      if (costs) {
        profile.model = *costs;
        profile.decisions = {decision};
      }
      if (Status s = prefer(library, profile); !s)
        return RankBytes(s);
      return tell(communicator, library, 1000, compiler("tune", ProofLevel::None, settings));
    }));
  };
  std::string cluster = told({}, KnownModel::Cluster), ethernet = told({}, KnownModel::Ethernet);
  ASSERT_NE(cluster, ethernet);
  EXPECT_EQ(told(knownModel(KnownModel::Ethernet), KnownModel::Cluster), ethernet);
  EXPECT_EQ(told(MachineModel(), KnownModel::Cluster), cluster) << "costs that were not measured";
}

TEST(PlanCompiler, choosesTheSameForAllSizesOfAMagnitude) {
  auto once = compiler("tune");
  std::string texts = oneOf(onRanks(4, "flat", [&](Communicator &communicator, Library &library) {
    std::string all;
    for (uint64_t n : {1000, 1001, 1024, 1025}) {
      RankBytes text = tell(communicator, library, n, once);
      if (!text)
        return text;
      all += concat(std::string(reinterpret_cast<const char *>(text->data()), text->size()), "\n");
    }
    return asBytes(all);
  }));
  std::vector<std::string> lines;
  for (size_t at = 0, end; (end = texts.find('\n', at)) != texts.npos; at = end + 1)
    lines.push_back(texts.substr(at, end - at));
  ASSERT_EQ(lines.size(), 4u) << texts;
  EXPECT_EQ(lines[0], lines[1]);
  EXPECT_EQ(lines[0], lines[2]);
  EXPECT_NE(lines[0], lines[3]); // times of 2,048 elements
}

TEST(PlanCompiler, provesWhatItMakesWhereThatIsRequired) {
  std::string told = oneOf(onRanks(5, "flat", [](Communicator &communicator, Library &library) {
    return tell(communicator, library, 100, compiler("tune,fuse", ProofLevel::Exact));
  }));
  EXPECT_NE(told.find("; proved for these 5 ranks; "), std::string::npos) << told;
}

// A plan that was proved for one length is taken for others, and what passes on DAGs made is not.
TEST(PlanCompiler, takesAProofForAllLengthsOfItsSizeClass) {
  for (auto [passes, isTaken] : {std::pair("", true), {"fuse", false}})
    EXPECT_EQ(oneOf(onRanks(4, "flat",
                            [passes = passes](Communicator &communicator, Library &library) {
                              std::vector<int32_t> data(2000);
                              CollectivePlan plan(communicator, library, "told");
                              for (Status s :
                                   {plan.setType(ElementType::I32), plan.setElements(1000),
                                    plan.bind("buf", {data.data(), 4000}),
                                    plan.setCompiler(compiler(passes, ProofLevel::Exact)),
                                    runOnce(plan)})
                                if (!s)
                                  return RankBytes(s);
                              return asBytes(plan.holdsFor(1001) ? "taken" : "not taken");
                            })),
              isTaken ? "taken" : "not taken")
        << passes;
}

TEST(PlanCompiler, provesNothingThatIsTooLarge) {
  std::string told = oneOf(onRanks(4, "flat", [](Communicator &communicator, Library &library) {
    CompileSettings settings;
    settings.passes = "";
    settings.leastProof = ProofLevel::Exact;
    settings.mostOps = 4;
    return tell(communicator, library, 10, *PlanCompiler::make(settings));
  }));
  EXPECT_NE(told.find("not proved: the first"), std::string::npos) << told;
  EXPECT_NE(told.find("the limit for all is 4"), std::string::npos) << told;
}

// The ranks of a node have its sum; with other places of ranks that is no longer what is promised.
TEST(PlanCompiler, provesForTheMachineOfTheRanks) {
  auto told = [](const char *topology) {
    return oneOf(onRanks(4, topology, [](Communicator &communicator, Library &library) {
      int32_t data = communicator.rank() == Rank{0} ? 42 : 0;
      CollectivePlan plan(communicator, library, "told_on_node");
      for (Status s : {plan.setType(ElementType::I32), plan.setElements(1),
                       plan.bind("buf", {&data, sizeof data}),
                       plan.setCompiler(compiler("", ProofLevel::Exact)), runOnce(plan)})
        if (!s)
          return RankBytes(s);
      return asBytes(concat(data, ", ", plan.proof().inWords()));
    }));
  };
  EXPECT_EQ(told("flat"), "42, proved for these 4 ranks");
  std::string refused = told("node:2 core:2");
  EXPECT_NE(refused.find("'told_on_node': not proved for 4 ranks on 2 nodes: contract: "),
            std::string::npos)
      << refused;
}

// Of half_told; afterwards the communicator serves other plans.
RankBytes refusedThenTold(Communicator &communicator, Library &library) {
  int32_t data = 0;
  auto proving = compiler("", ProofLevel::Exact);
  CollectivePlan plan(communicator, library, "half_told");
  for (Status s : {plan.setType(ElementType::I32), plan.setElements(1),
                   plan.bind("buf", {&data, sizeof data}), plan.setCompiler(proving)})
    if (!s)
      return s;
  std::string texts;
  for (int time = 0; time < 2; ++time) { // found out once, remembered then
    Status s = plan.commit();
    plan.uncommit();
    texts += s.ok()                             ? "committed\n"
             : s.kind() != ErrorKind::NotProved ? "another error: " + s.message() + "\n"
             : s.message().find("half_told") != std::string::npos ? "refused\n"
                                                                  : s.message() + "\n";
  }
  RankBytes told = tell(communicator, library, 10, proving);
  return told ? asBytes(texts) : told;
}

TEST(PlanCompiler, refusesOnAllRanksWhatIsNotTrue) {
  EXPECT_EQ(oneOf(onRanks(2, "flat", refusedThenTold)), "committed\ncommitted\n");
  EXPECT_EQ(oneOf(onRanks(3, "flat", refusedThenTold)), "refused\nrefused\n");
}

/// An exchange of blocks of this rank's number of elements, by these passes.
RankBytes exchangeListed(Communicator &communicator, Library &library, const char *passes,
                         ProofLevel least) {
  uint32_t ranks = communicator.numRanks();
  std::vector<int32_t> x(ranks, static_cast<int32_t>(index(communicator.rank()))), y(ranks, -1);
  BlockTable blocks;
  for (uint32_t r = 0; r < ranks; ++r) {
    blocks.offset.push_back(r);
    blocks.length.push_back(1);
  }
  CollectivePlan plan(communicator, library, "listed");
  for (Status s : {plan.setType(ElementType::I32), plan.setBlocks("x", blocks),
                   plan.setBlocks("y", blocks), plan.bind("x", {x.data(), ranks * sizeof x[0]}),
                   plan.bind("y", {y.data(), ranks * sizeof y[0]}),
                   plan.setCompiler(compiler(passes, least)), runOnce(plan)})
    if (!s)
      return s;
  for (uint32_t r = 0; r < ranks; ++r)
    if (y[r] != static_cast<int32_t>(r))
      return Status::error("the data is wrong");
  return asBytes(concat(plan.remarks(), "; ", plan.proof().inWords()));
}

TEST(PlanCompiler, runsAsWrittenWhatItCannotProve) {
  EXPECT_EQ(
      oneOf(onRanks(3, "flat",
                    [](Communicator &communicator, Library &library) {
                      return exchangeListed(communicator, library, "fuse", ProofLevel::None);
                    })),
      "passes on DAGs did not run: lengths of blocks are known at call time only; not proved");
  EXPECT_EQ(oneOf(onRanks(3, "flat",
                          [](Communicator &communicator, Library &library) {
                            return exchangeListed(communicator, library, "", ProofLevel::Exact);
                          })),
            "; proved for these 3 ranks");
}

/// All ranks send to all others in the order of the ranks, which coloring changes.
RankBytes exchangeAlong(Communicator &communicator, Library &library, const char *passes) {
  uint32_t ranks = communicator.numRanks(), me = index(communicator.rank());
  auto graph = std::make_shared<OrderedGraph>();
  graph->edges.firstRank = me;
  graph->edges.ranks.resize(1);
  for (uint32_t r = 0; r < ranks; ++r) {
    graph->edges.ranks[0].out.push_back({r, 0, 1});
    graph->edges.ranks[0].in.push_back({r, 0, 1});
  }
  std::vector<int32_t> x(ranks), y(ranks, -1);
  for (uint32_t r = 0; r < ranks; ++r)
    x[r] = static_cast<int32_t>(me * ranks + r);
  CollectivePlan plan(communicator, library, "along");
  for (Status s : {plan.setType(ElementType::I32), plan.setElements(1), plan.setGraph("g", graph),
                   plan.bind("x", {x.data(), ranks * sizeof x[0]}),
                   plan.bind("y", {y.data(), ranks * sizeof y[0]}),
                   plan.setCompiler(compiler(passes)), runOnce(plan)})
    if (!s)
      return s;
  for (uint32_t r = 0; r < ranks; ++r)
    if (y[r] != static_cast<int32_t>(r * ranks + me))
      return Status::error("the data is wrong");
  return asBytes(concat(plan.remarks(), "; ", plan.proof().inWords()));
}

TEST(PlanCompiler, runsPassesOnDagsAlongGraphsOfWhichEachRankKnowsItsEdges) {
  std::string text = oneOf(onRanks(6, "flat", [](Communicator &communicator, Library &library) {
    return exchangeAlong(communicator, library, "edge-coloring");
  }));
  EXPECT_TRUE(text.starts_with("edge-coloring: 36 messages in 6 rounds; ")) << text;
  EXPECT_TRUE(text.ends_with("; proved for these 6 ranks")) << text;
}

TEST(PlanCompiler, isTheSameOnAllRanks) {
  std::vector<std::string> texts =
      onRanks(2, "flat", [](Communicator &communicator, Library &library) {
        bool isFirst = communicator.rank() == Rank{0};
        return tell(communicator, library, 10, compiler(isFirst ? "tune" : ""));
      });
  for (const std::string &text : texts)
    EXPECT_NE(text.find("disagree"), std::string::npos) << text;
}

TEST(PlanCompiler, namesThePassThatIsNotThere) {
  CompileSettings settings;
  settings.passes = "tune,hurry";
  EXPECT_NE(PlanCompiler::make(settings).message().find("there is no pass 'hurry'"),
            std::string::npos);
}

} // namespace
} // namespace colldsl
