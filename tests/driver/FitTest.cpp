// Measured times as they are read, and models that are fitted to times whose model is known.
#include "compiler/Compile.h"
#include "driver/fit/AlgorithmNames.h"
#include "driver/fit/FitErrors.h"
#include "topology/KnownModels.h"

#include <cmath>
#include <gtest/gtest.h>

namespace colldsl::driver {
namespace {

Compilation &fittedLibrary() {
  static Compilation compilation = compileFiles({});
  return compilation;
}

std::string faultOf(std::string_view text) {
  Result<std::vector<Measurement>> read = readMeasurements("data", text, {});
  return read ? "none" : read.message();
}

constexpr const char *kHead =
    "system\ttimestamp\tcollective\talgorithm\tnodes\tranks_per_node\tbytes\tmedian_ns\n";

TEST(FitTest, readsTablesOfPico) {
  std::string text = std::string(kHead) + "m\tr1\tALLGATHER\tring_ompi\t2x3\t2\t1200\t1500.5\n"
                                          "m\tr1\tBCAST\tdefault_ompi\t8\t1\t64\t0\n";
  Result<std::vector<Measurement>> read = readMeasurements("data", text, {});
  ASSERT_TRUE(read.ok()) << read.message();
  ASSERT_EQ(read->size(), 1u) << "a time of 0 is none";
  const Measurement &m = read->front();
  EXPECT_EQ(m.function, "allgather");
  EXPECT_EQ(m.numNodes, 6u);
  EXPECT_EQ(m.ranksPerNode, 2u);
  EXPECT_EQ(m.bytes, 1200u);
  EXPECT_EQ(m.ns, 1500.5);
  EXPECT_EQ(collectiveOf(m, fittedLibrary().program())->words(), "allgather_ring");
}

TEST(FitTest, namesTheLineOfAMistake) {
  std::string head = kHead;
  EXPECT_EQ(faultOf("system\talgorithm\nm\tx\n"), "data:1: there is no column 'timestamp'");
  EXPECT_EQ(faultOf(head + "m\tr\tBCAST\tx\t8\t1\n"),
            "data:2: it has 6 columns, the first line names 8");
  EXPECT_EQ(faultOf(head + "m\tr\tBCAST\tx\t8y8\t1\t8\t1\n"),
            "data:2: nodes is '8y8', neither a number nor sizes as in 8x8x8");
  EXPECT_EQ(faultOf(head + "m\tr\tBCAST\tx\t8\t0\t8\t1\n"),
            "data:2: ranks_per_node is '0', no number from 1 on");
  EXPECT_EQ(faultOf(head + "m\tr\tBCAST\tx\t8\t1\t-8\t1\n"), "data:2: bytes is '-8', no number");
  EXPECT_EQ(faultOf(head + "m\tr\tBCAST\tx\t8\t1\t8\tnan\n"),
            "data:2: median_ns is 'nan', no time in nanoseconds");
  EXPECT_EQ(faultOf("8 1.5\n"),
            "data:1: a size and a time are expected, below a line '# OSU MPI ... Latency'");
}

TEST(FitTest, readsTheOutputOfOsu) {
  MeasuredSituation situation{"here", "alltoall_pairwise", 4, 2};
  Result<std::vector<Measurement>> read =
      readMeasurements("data",
                       "\n# OSU MPI All-to-All Personalized Exchange Latency Test v7.4\n"
                       "# Size       Avg Latency(us)\n1                       3.25\n"
                       "\n# OSU MPI Broadcast Latency Test v7.4\n64   2.5\n",
                       situation);
  ASSERT_TRUE(read.ok()) << read.message();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ(read->front().function, "alltoall");
  EXPECT_EQ(read->front().bytes, 8u) << "a block for each of 8 ranks";
  EXPECT_EQ(read->front().ns, 3250);
  EXPECT_EQ(read->back().function, "bcast");
  EXPECT_EQ(read->back().bytes, 64u);
}

TEST(FitTest, knowsWhichCollectivesAlgorithmsAre) {
  auto named = [](const char *function, const char *algorithm) {
    Measurement m;
    m.function = function;
    m.algorithm = algorithm;
    std::optional<TunedCollective> found = collectiveOf(m, fittedLibrary().program());
    return found ? found->words() : "none";
  };
  EXPECT_EQ(named("bcast", "binomial_ompi"), "bcast_binomial");
  EXPECT_EQ(named("alltoall", "default-modified-bruck"), "alltoall_bruck k=2");
  EXPECT_EQ(named("allreduce", "default_mpich"), "none");
  EXPECT_EQ(named("allreduce", "default-default"), "none");
  EXPECT_EQ(named("allreduce", "allreduce_nccl_ring"), "none");
  EXPECT_EQ(named("bcast", "bcast_chain segment=8192"), "bcast_chain segment=8192");
}

// Each name has a collective that the library has, of that function, and its values are legal.
TEST(FitTest, algorithmsAreThoseOfTheLibrary) {
  struct Row {
    const char *function, *collective;
  };
  const Row rows[] = {
#define COLLDSL_ALGORITHM(function, algorithm, collective) {function, collective},
#include "driver/fit/AlgorithmNames.def"
  };
  Predictor predictor(fittedLibrary().program());
  for (const Row &row : rows) {
    Measurement m;
    m.function = row.function;
    m.numNodes = 4;
    m.bytes = 4096;
    Result<TunedCollective> collective = TunedCollective::parse(row.collective);
    ASSERT_TRUE(collective.ok()) << row.collective;
    EXPECT_EQ(collective->name.find(row.function), 0u);
    Result<Prediction> time =
        predictor.predict(m, *collective, knownModel(KnownModel::Cluster), 1 << 20, false);
    EXPECT_TRUE(time.ok()) << row.collective << ": " << time.message();
  }
}

/// Calls of several algorithms at several sizes.
std::vector<Measurement> calls(uint32_t nodes) {
  std::vector<Measurement> all;
  const char *names[][2] = {{"allreduce", "recursive_doubling"},
                            {"allreduce", "ring"},
                            {"bcast", "binomial"},
                            {"alltoall", "linear"},
                            {"gather", "binomial"},
                            {"reduce", "binomial"}};
  for (auto [function, algorithm] : names)
    for (uint64_t bytes = 64; bytes <= 16 << 20; bytes *= 8) {
      Measurement m;
      m.run = function;
      m.function = function;
      m.algorithm = algorithm;
      m.numNodes = nodes;
      m.nodes = std::to_string(nodes);
      m.bytes = bytes * nodes;
      all.push_back(m);
    }
  return all;
}

std::vector<FitPoint> pointsOf(const std::vector<Measurement> &all) {
  std::vector<FitPoint> points;
  for (const Measurement &m : all)
    points.push_back({&m, *collectiveOf(m, fittedLibrary().program())});
  return points;
}

MachineModel truth() {
  MachineModel model;
  for (unsigned d = 0; d <= kMaxDistance; ++d)
    model.distances[d] = {1300,      420,  700, PerByte::fromNs(0.07),
                          PerByte(), 8192, 0,   MovedBy::Interfaces};
  LogGop longer = model.distances[0];
  longer.L = 4100;
  model.longer.fill({{8193, longer}});
  model.copy.shortest = {0, PerByte::fromNs(0.11)};
  model.combine.shortest = {0, PerByte::fromNs(0.23)};
  model.node = {1, 0, PerByte::fromNs(0.05), true, 0};
  return model;
}

/// "": no links. Links that carry all that nodes send have no parameter to themselves.
sim::NetworkOptions network(const char *words) {
  return *words ? *sim::parseNetwork(words, PerByte(), sim::NetworkSizes::MayFollow)
                : sim::NetworkOptions();
}

TEST(FitTest, timesOnThePathAreDerivatives) {
  struct Variant {
    bool isFair;
    Spread spread;
    const char *network;
  };
  for (auto [isFair, spread, links] : {Variant{false, Spread::Ranks, ""},
                                       {true, Spread::Ranks, ""},
                                       {false, Spread::Messages, ""},
                                       {false, Spread::Ranks, "torus:4x3,hop=90,G=0.001"},
                                       {false, Spread::Messages, "torus:4x3,hop=90,G=0.001"},
                                       {true, Spread::Messages, "torus:4x3,hop=90,G=0.001"}}) {
    Predictor predictor(fittedLibrary().program(), network(links));
    MachineModel model = truth();
    model.node.isFair = isFair;
    model.node.spread = spread;
    ModelParameters parameters(model);
    std::vector<Measurement> all = calls(12);
    for (const FitPoint &point : pointsOf(all)) {
      Result<Prediction> at =
          predictor.predict(*point.measured, point.collective, model, 1 << 20, true);
      ASSERT_TRUE(at.ok()) << at.message();
      uint64_t sum = 0;
      for (auto [id, ns] : at->spent)
        sum += ns;
      EXPECT_EQ(sum, at->ns) << point.collective.words() << " " << point.measured->bytes;
      for (size_t p = 0; p < parameters.size(); ++p) {
        constexpr double kStep = 0.01;
        MachineModel moved = model;
        parameters.set(moved, p, parameters.valueIn(model, p) * (1 + kStep));
        Result<Prediction> there =
            predictor.predict(*point.measured, point.collective, moved, 1 << 20, false);
        ASSERT_TRUE(there.ok());
        double change = static_cast<double>(there->ns) - static_cast<double>(at->ns);
        double expected = 0;
        for (auto [id, ns] : at->spent)
          if (parameters.numberOf(id) == p)
            expected += kStep * static_cast<double>(ns);
        // Another path may become the longest, and rounding moves parameters.
        EXPECT_NEAR(change, expected, 0.004 * static_cast<double>(at->ns) + 20)
            << point.collective.words() << " " << point.measured->bytes << " "
            << sim::wordsOf(parameters.idOf(p), model) << (isFair ? " fair " : " ") << links
            << (spread == Spread::Messages ? " by messages" : "");
      }
    }
  }
}

// A binomial tree of 8: its longest path leads over 1 + 1 + 1 links of a cube, 4 + 2 + 1 of a ring.
TEST(FitTest, callsUseTheLinksBetweenTheirNodes) {
  std::string text = std::string(kHead) + "m\tr\tBCAST\tbinomial\t2x2x2\t1\t8\t1\n"
                                          "m\tr\tBCAST\tbinomial\t8x1\t1\t8\t1\n";
  Result<std::vector<Measurement>> read = readMeasurements("data", text, {});
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(read->front().shape, (std::vector<uint32_t>{2, 2, 2}));
  FitSettings settings;
  MachineModel flat = MachineModel::flat();
  const Program &program = fittedLibrary().program();
  std::vector<double> alone = predictAll(program, pointsOf(*read), flat, settings);
  settings.network = network("torus,hop=30,G=0");
  std::vector<double> linked = predictAll(program, pointsOf(*read), flat, settings);
  EXPECT_EQ(alone[0], alone[1]);
  EXPECT_EQ(linked[0], alone[0] + 3 * 30);
  EXPECT_EQ(linked[1], alone[1] + 7 * 30);
  settings.network = network("torus:2x4,hop=30,G=0"); // of all calls
  linked = predictAll(program, pointsOf(*read), flat, settings);
  EXPECT_EQ(linked[0], alone[0] + (2 + 1 + 1) * 30);
  EXPECT_EQ(linked[1], linked[0]);
}

// Rings along the dimensions have 2 sum(dims - 1) rounds.
TEST(FitTest, algorithmsForATorusKnowItsSizes) {
  Measurement m;
  m.function = "allreduce";
  m.algorithm = "allreduce_ring_torus";
  m.numNodes = 64;
  m.bytes = 1 << 10;
  std::optional<TunedCollective> ring = collectiveOf(m, fittedLibrary().program());
  ASSERT_TRUE(ring);
  EXPECT_EQ(ring->words(), "allreduce_ring_torus");
  Predictor predictor(fittedLibrary().program());
  auto rounds = [&](const std::vector<uint32_t> &shape) {
    m.shape = shape;
    MachineModel model = MachineModel::flat({1000, 0, 0, PerByte(), PerByte(), 65535, 0, {}});
    return predictor.predict(m, *ring, model, 1 << 20, false)->ns / 1000;
  };
  EXPECT_EQ(rounds({}), 2 * 63u);
  EXPECT_EQ(rounds({4, 4, 4}), 2 * 3 * 3u);
}

TEST(FitTest, findsTheModelThatMadeTheTimes) {
  std::vector<Measurement> all = calls(12), more = calls(7);
  all.insert(all.end(), more.begin(), more.end());
  std::vector<FitPoint> points = pointsOf(all);
  std::vector<double> times = predictAll(fittedLibrary().program(), points, truth(), {});
  for (size_t i = 0; i < all.size(); ++i)
    all[i].ns = times[i] * (i % 2 ? 1.02 : 0.98); // noise
  FitSettings settings;
  settings.hasFactors = false;
  settings.start = truth();
  ModelParameters parameters(settings.start);
  for (size_t p = 0; p < parameters.size(); ++p)
    parameters.set(settings.start, p, parameters.valueIn(settings.start, p) * (p % 2 ? 2.0 : 0.5));
  Result<FittedModel> fitted = fitModel(fittedLibrary().program(), points, settings);
  ASSERT_TRUE(fitted.ok()) << fitted.message();
  EXPECT_LT(fitted->residual, 0.05);
  size_t checked = 0;
  for (const ParameterEstimate &estimate : fitted->estimates) {
    if (!estimate.isFree || estimate.factor > 1.15)
      continue;
    double factor = estimate.value / valueOf(truth(), estimate.id);
    EXPECT_LT(std::abs(std::log(factor)), 1.5 * std::log(estimate.factor))
        << sim::wordsOf(estimate.id, truth()) << ": " << estimate.value;
    ++checked;
  }
  EXPECT_GE(checked, 2u);
}

TEST(FitTest, findsFactorsOfImplementations) {
  std::vector<Measurement> all = calls(8), slow = calls(8);
  for (Measurement &m : slow)
    m.algorithm += "_ompi";
  all.insert(all.end(), slow.begin(), slow.end());
  std::vector<FitPoint> points = pointsOf(all);
  std::vector<double> times = predictAll(fittedLibrary().program(), points, truth(), {});
  for (size_t i = 0; i < all.size(); ++i)
    all[i].ns = times[i] * (i >= all.size() / 2 ? 1.5 : 1);
  FitSettings settings;
  settings.start = truth();
  Result<FittedModel> fitted = fitModel(fittedLibrary().program(), points, settings);
  ASSERT_TRUE(fitted.ok()) << fitted.message();
  for (size_t i = all.size() / 2; i < all.size(); ++i)
    EXPECT_NEAR(factorOf(fitted->model, all[i]) / factorOf(fitted->model, all[i - all.size() / 2]),
                1.5, 0.15);
  // The model keeps them.
  Result<MachineModel> read = MachineModel::parse(fitted->model.toJson("text"));
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_NEAR(factorOf(*read, all.back()), factorOf(fitted->model, all.back()), 1e-9);
}

TEST(FitTest, judgesPicksByTheBest) {
  std::vector<Measurement> all(4);
  const char *names[] = {"ring_ompi", "recursive_doubling_ompi", "sparbit_over", "default_ompi"};
  double ns[] = {300, 200, 100, 400};
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].function = "allgather";
    all[i].algorithm = names[i];
    all[i].ns = ns[i];
  }
  std::vector<FitPoint> points = {{&all[0], *collectiveOf(all[0], fittedLibrary().program())},
                                  {&all[1], *collectiveOf(all[1], fittedLibrary().program())}};
  std::vector<double> predicted = {150, 250};
  std::vector<PickedAlgorithm> picks = picksOf(all, points, predicted);
  ASSERT_EQ(picks.size(), 1u);
  EXPECT_EQ(picks[0].picked, &all[0]);
  PickErrors errors = errorsOf(picks);
  EXPECT_DOUBLE_EQ(errors.mean, 1.5);
  EXPECT_DOUBLE_EQ(errors.meanOfAll, 3);
  EXPECT_DOUBLE_EQ(errors.meanDefault, 4);
  PredictionErrors factors = errorsOf(points, predicted);
  EXPECT_DOUBLE_EQ(factors.median, 2);
}

} // namespace
} // namespace colldsl::driver
