#include "select/Rule.h"
#include "select/Chooser.h"

#include "select/Choice.h"
#include "topology/KnownModels.h"

#include <gtest/gtest.h>
#include <random>

namespace colldsl {
namespace {

SelectionRule rule(const std::string &function) {
  SelectionRule r;
  r.function = function;
  return r;
}

std::unique_ptr<Library> standard() {
  Result<std::unique_ptr<Library>> library = Library::open(COLLDSL_STANDARD_LIBRARY);
  EXPECT_TRUE(library.ok()) << (library ? "" : library.message());
  return library.take();
}

TEST(SituationTest, followsFromThePlaces) {
  Situation one = Situation::on(*Topology::make("flat", 4), true);
  EXPECT_EQ(one.ranks, 4u);
  EXPECT_EQ(one.nodes, 1u);
  EXPECT_TRUE(one.oversubscribed);
  Situation two = Situation::on(*Topology::make("node:2 core:2", 4), true);
  EXPECT_EQ(two.nodes, 2u);
  EXPECT_FALSE(two.oversubscribed) << "nobody knows the cores of all nodes";
  EXPECT_TRUE(commutes(std::nullopt));
  EXPECT_TRUE(commutes(Reduction::Max));
  EXPECT_FALSE(commutes(Reduction::MatMul));
}

// Each condition alone: it fits exactly where it has nothing to say.
TEST(RuleTest, saysWhichConditionsFail) {
  Situation s{"bcast", 8, 65536, 2, 4, ElementType::I64, false};
  SelectionRule r = rule("bcast");
  EXPECT_EQ(whyNot(r, s), "");
  EXPECT_TRUE(fits(r, s));
  auto why = [&](auto change) {
    SelectionRule changed = rule("bcast");
    change(changed);
    EXPECT_FALSE(fits(changed, s));
    return whyNot(changed, s);
  };
  EXPECT_EQ(why([](SelectionRule &c) { c.minRanks = 9; }), "8 ranks are not 9..");
  EXPECT_EQ(why([](SelectionRule &c) { c.maxRanks = 4; }), "8 ranks are not 1..4");
  EXPECT_EQ(why([](SelectionRule &c) { c.maxBytes = 8192; }), "65536 bytes are not 0..8192");
  EXPECT_EQ(why([](SelectionRule &c) { c.maxTotal = 524287; }),
            "524288 bytes of all ranks are not 0..524287");
  EXPECT_EQ(why([](SelectionRule &c) { c.minTotal = 524289; }),
            "524288 bytes of all ranks are not 524289..");
  EXPECT_EQ(why([](SelectionRule &c) { c.minNodes = c.maxNodes = 1; }), "2 nodes are not 1");
  EXPECT_EQ(why([](SelectionRule &c) { c.maxPerNode = 1; }), "4 ranks per node are not 1");
  EXPECT_EQ(why([](SelectionRule &c) { c.types = 1u << 4 | 1u << 8; }), "i64 is not among i32,f32");
  EXPECT_EQ(why([](SelectionRule &c) { c.needsCommutative = true; }),
            "the operator does not commute");
  EXPECT_EQ(why([](SelectionRule &c) { c.needsOversubscribed = true; }),
            "there are no fewer cores than ranks");
  EXPECT_EQ(why([](SelectionRule &c) { c.needsMulticast = true; }), "the network has no multicast");
  EXPECT_EQ(why([](SelectionRule &c) { c.needsTcp = true; }),
            "the network is not reached by TCP or UDP");
  EXPECT_EQ(why([](SelectionRule &c) {
              c.maxRanks = 4;
              c.needsCommutative = true;
            }),
            "8 ranks are not 1..4; the operator does not commute");
}

TEST(ChooserTest, goesOnBehindARule) {
  Program program;
  std::vector<SelectionRule> decisions = {rule("bcast")}, rules = {rule("gather"), rule("bcast")};
  Chooser chooser(program, decisions, rules);
  Situation s{"bcast", 2, 8};
  const SelectionRule *first = chooser.choose(s);
  EXPECT_EQ(first, decisions.data());
  EXPECT_TRUE(chooser.isDecision(*first));
  EXPECT_EQ(chooser.nameOf(*first), "decision 0 of the profile for bcast");
  const SelectionRule *second = chooser.choose(s, first);
  EXPECT_EQ(second, &rules[1]);
  EXPECT_EQ(chooser.nameOf(*second), "rule 2 for bcast");
  EXPECT_EQ(chooser.choose(s, second), nullptr);
}

// Compared with what choose() returns for each number of bytes.
TEST(ChooserTest, theBytesAroundForWhichItChoosesAlike) {
  constexpr uint64_t kMost = 40;
  std::mt19937 random(7);
  auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  Program program;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<SelectionRule> decisions, rules;
    for (std::vector<SelectionRule> *part : {&decisions, &rules})
      for (uint32_t i = below(4); i > 0; --i) {
        SelectionRule &r = part->emplace_back(rule(below(5) == 0 ? "gather" : "bcast"));
        r.minBytes = below(kMost);
        r.maxBytes = below(3) == 0 ? UINT64_MAX : r.minBytes + below(10);
        r.minTotal = below(3) == 0 ? below(2 * kMost) : 0;
        r.maxTotal = below(3) == 0 ? r.minTotal + below(20) : UINT64_MAX;
        r.minRanks = below(4) == 0 ? 3 : 1;
      }
    Chooser chooser(program, decisions, rules);
    auto at = [](uint64_t bytes) { return Situation{"bcast", 2, bytes}; };
    for (uint64_t bytes = 0; bytes < kMost; ++bytes) {
      Chooser::Bytes alike = chooser.alikeAround(at(bytes));
      ASSERT_LE(alike.least, bytes);
      ASSERT_GE(alike.most, bytes);
      for (uint64_t other = alike.least; other <= std::min(alike.most, 2 * kMost); ++other)
        ASSERT_EQ(chooser.choose(at(other)), chooser.choose(at(bytes))) << bytes << ", " << other;
    }
  }
  std::vector<SelectionRule> rules = {rule("bcast"), rule("bcast")};
  rules[0].maxBytes = 9;
  Chooser chooser(program, {}, rules);
  EXPECT_EQ(chooser.alikeAround({"bcast", 2, 3}).most, 9u) << "no narrower than needed";
  EXPECT_EQ(chooser.alikeAround({"bcast", 2, 30}).least, 10u);
}

struct Explained {
  std::unique_ptr<Library> library = standard();
  Chooser chooser = *Chooser::of(*library);
  CostModel cost;
  Topology topology = *Topology::make("flat", 4);
  std::vector<TuningPoint> points;

  Choice of(const std::string &function, uint64_t bytes) {
    cost.machine = knownModel(KnownModel::Cluster);
    Situation s = Situation::on(topology, false);
    s.function = function;
    s.bytes = bytes;
    s.type = ElementType::U8;
    CandidateCall call{function, bytes, ElementType::U8, false, {}};
    CandidateLimits limits;
    limits.most = 1000;
    limits.reach = UINT64_MAX;
    return explainChoice(s, call, *chooser.choose(s), {chooser, cost, topology, points, limits});
  }
};

// The oracle is the simulator, asked for the chosen collective and each other one by itself.
TEST(ChoiceTest, predictsWhatTheSimulatorSays) {
  Explained explained;
  Choice choice = explained.of("bcast", 4096);
  EXPECT_EQ(choice.chosen.what.words(), "bcast_knomial k=4");
  ASSERT_FALSE(choice.others.empty());
  const Program &program = explained.chooser.program();
  auto timeOf = [&](const TunedCollective &what) {
    InstantiateRequest request;
    request.collective = program.find(what.name, DeclKind::Collective);
    request.ranks = 4;
    request.elements = 4096;
    request.type = ElementType::U8;
    request.topology = &explained.topology;
    const Decl &decl = program.decl(request.collective);
    request.values.resize(decl.params.size());
    for (size_t p = 0; p < decl.params.size(); ++p)
      for (const auto &[name, value] : what.values)
        if (program.nameOf(decl.params[p]) == name)
          request.values[p] = value;
    return explained.cost.makespanNs(program, request);
  };
  EXPECT_EQ(*choice.chosen.predictedNs, *timeOf(choice.chosen.what));
  uint64_t last = 0;
  for (const Alternative &other : choice.others) {
    EXPECT_EQ(*other.predictedNs, *timeOf(other.what)) << other.what.words();
    EXPECT_LE(last, *other.predictedNs) << "the fastest first";
    last = *other.predictedNs;
    EXPECT_NE(other.why, "") << other.what.words();
    EXPECT_NE(other.what, choice.chosen.what);
  }
}

TEST(ChoiceTest, saysWhyOthersAreNotChosen) {
  Explained explained;
  Choice choice = explained.of("bcast", 64);
  EXPECT_EQ(choice.chosen.what.words(), "bcast_flat");
  auto whyOf = [&](const std::string &words) {
    for (const Alternative &other : choice.others)
      if (other.what.words() == words)
        return other.why;
    return "not there: " + words;
  };
  EXPECT_NE(whyOf("bcast_knomial k=4").find(" fits, too, but comes later"), std::string::npos)
      << whyOf("bcast_knomial k=4");
  EXPECT_NE(whyOf("bcast_binomial").find("1 nodes are not 2..4"), std::string::npos)
      << whyOf("bcast_binomial");
  EXPECT_EQ(whyOf("bcast_knomial k=2"), "no rule names it with these values");
}

TEST(ChoiceTest, hasTheTimesOfTheProfile) {
  Explained explained;
  TuningPoint point;
  point.function = "bcast";
  point.ranks = 4;
  point.bytes = 64;
  point.shipped = *TunedCollective::parse("bcast_flat");
  point.shippedNs = 900;
  point.entries = {{*TunedCollective::parse("bcast_knomial k=4"), 800}};
  point.spread = 0.1;
  point.drift = 0.2;
  TuningPoint elsewhere = point;
  elsewhere.bytes = 65;
  elsewhere.shippedNs = 1;
  explained.points = {elsewhere, point};
  Choice choice = explained.of("bcast", 64);
  ASSERT_TRUE(choice.chosen.measured);
  EXPECT_EQ(choice.chosen.measured->ns, 900);
  EXPECT_EQ(choice.chosen.measured->noise, 0.2);
  for (const Alternative &other : choice.others) {
    bool isMeasured = other.what.words() == "bcast_knomial k=4";
    EXPECT_EQ(other.measured.has_value(), isMeasured) << other.what.words();
    if (isMeasured) {
      EXPECT_EQ(other.measured->ns, 800);
    }
  }
}

TEST(ChoiceTest, aRefusalHasTheConditionsOfEachRule) {
  Program program;
  std::vector<SelectionRule> rules = {rule("bcast"), rule("gather"), rule("bcast")};
  rules[0].maxRanks = 4;
  rules[0].line = 7;
  rules[2].maxBytes = 10;
  Chooser chooser(program, {}, rules);
  Status s = noRuleFits({"bcast", 8, 64}, chooser);
  EXPECT_EQ(s.message(), "no rule for 'bcast' fits 8 ranks on 1 node, 64 bytes of i32");
  ASSERT_EQ(s.diagnostic().notes.size(), 2u);
  EXPECT_EQ(s.diagnostic().notes[0].message, "line 7: 8 ranks are not 1..4");
  EXPECT_EQ(s.diagnostic().notes[1].message, "rule 3 for bcast: 64 bytes are not 0..10");
}

} // namespace
} // namespace colldsl
