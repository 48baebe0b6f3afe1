// Whether the MPIs here follow files of rules as they were meant. A rule names an algorithm that
// the MPI cannot run: calls for which it is chosen fail, and only these.
#include "tools/tune/mpi/Mpich.h"
#include "tools/tune/mpi/OpenMpi.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <unistd.h>

namespace colldsl::tools {
namespace {

constexpr uint32_t kRanks = 3;
// Calls of the measuring program and of MPIs within theirs are smaller.
constexpr uint64_t kFrom = 64 << 10, kTo = 256 << 10;
constexpr int kNoAlgorithm = 99;

struct Installed {
  std::string name, launcher, program;
};

std::vector<Installed> installed() {
  std::vector<Installed> all;
#ifdef OPENMPI_LAUNCHER
  all.push_back({"openmpi", OPENMPI_LAUNCHER, OPENMPI_PROGRAM});
#endif
#ifdef MPICH_LAUNCHER
  all.push_back({"mpich", MPICH_LAUNCHER, MPICH_PROGRAM});
#endif
  return all;
}

class MpiChoiceTest : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    for (const char *name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                             "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_mpi_yield_when_idle"})
      setenv(name, "1", 1);
    setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 1);
    for (const Installed &mpi : installed())
      if (GetParam().starts_with(mpi.name))
        launch_ = {{mpi.launcher}, mpi.program};
    if (launch_.launcher.empty() || launch_.launcher[0].ends_with("-NOTFOUND"))
      GTEST_SKIP() << GetParam() << " is not here";
    if (const char *words = std::getenv("COLLDSL_TEST_LAUNCHER")) {
      std::istringstream other(words);
      launch_.launcher = {std::istream_iterator<std::string>(other), {}};
    }
    folder_ = std::filesystem::temp_directory_path() / ("mpi-choice." + std::to_string(getpid()));
    std::filesystem::create_directory(folder_);
    if (std::string why = makeKind(); !why.empty())
      GTEST_SKIP() << why;
  }
  void TearDown() override {
    if (!folder_.empty())
      std::filesystem::remove_all(folder_);
  }

  /// An MPI that has algorithms which it cannot run. Else the reason why not.
  std::string makeKind() {
    bool isOpenMpi = GetParam() != "mpich";
    Result<std::unique_ptr<MpiKind>> real = MpiKind::make(isOpenMpi ? "openmpi" : "mpich", launch_);
    if (!real)
      return real.message();
    MpiFacts facts = (*real)->facts();
    Mpich::Algorithms algorithms;
    for (const std::string &function : mpiFunctions()) {
      algorithms[function] = {{"none",
                               function == "scan" ? "algorithm=MPIR_Exscan_intra_recursive_doubling"
                                                  : "algorithm=MPIR_Scan_intra_recursive_doubling",
                               kNoAlgorithm}};
      none_[function] = "none";
    }
    if (!isOpenMpi) {
      kind_ = std::move(*Mpich::make(facts, algorithms));
      return "";
    }
    if (GetParam() == "openmpi-json")
      return makeJson(std::move(facts), (*real)->usualFile());
    if ((*real)->usualFile().ends_with(".json"))
      return facts.library + " leaves rules out whose algorithm it does not know";
    for (const std::string &function : mpiFunctions())
      facts.variables[variableOf(function)].items[kNoAlgorithm] = "none";
    kind_ = std::make_unique<OpenMpi>(facts);
    return "";
  }

  // JSON has to name algorithms that there are: some are for two ranks only.
  std::string makeJson(MpiFacts facts, const std::string &file) {
    if (!file.ends_with(".json"))
      return facts.library + " reads no JSON";
    none_.clear();
    for (const std::string &function : mpiFunctions())
      for (const auto &[number, word] : facts.variables[variableOf(function)].items)
        if (word == "two_proc")
          none_[function] = word;
    kind_ = std::make_unique<OpenMpi>(facts);
    return "";
  }

  static std::string variableOf(const std::string &function) {
    return "coll_tuned_" + function + "_algorithm";
  }

  /// Rules for all functions that the MPI chooses for by size, or all others.
  Environment loading(bool bySize) {
    std::vector<Decision> decisions;
    for (const auto &[function, none] : none_) {
      if (kind_->hasSize(function) != bySize)
        continue;
      Decision d;
      d.function = function;
      d.ranks = kRanks;
      d.use.name = none;
      if (bySize) {
        d.minBytes = kFrom;
        d.maxBytes = kTo;
      }
      decisions.push_back(d);
    }
    Environment use = kind_->untouched();
    for (const TuningFile &file : kind_->files(decisions, folder_ / "rules.json")) {
      std::ofstream(file.path) << file.text;
      use.insert(use.end(), file.use.begin(), file.use.end());
    }
    return use;
  }

  bool works(const std::string &function, uint64_t bytes, uint32_t ranks, const Environment &use) {
    std::unique_ptr<Job> &job = jobs_[ranks];
    if (!job) {
      Result<std::unique_ptr<Job>> started = Job::start(launch_, ranks, kind_->form(), use);
      EXPECT_TRUE(started) << started.message();
      if (!started)
        return false;
      job = started.take();
    }
    Result<std::vector<ArmResult>> results = job->run({function, bytes, 0, 0}, {"-"});
    EXPECT_TRUE(results) << results.message();
    if (results && results->at(0).verdict == ArmResult::Right)
      return true;
    if (!results || results->at(0).verdict == ArmResult::Lost)
      job.reset();
    return false;
  }

  MpiLaunch launch_;
  std::filesystem::path folder_;
  std::unique_ptr<MpiKind> kind_;
  std::map<std::string, std::string> none_;       ///< of functions: an algorithm that cannot run
  std::map<uint32_t, std::unique_ptr<Job>> jobs_; ///< by their ranks
};

TEST_P(MpiChoiceTest, rulesHoldFromTheirFirstByteToTheirLast) {
  Environment use = loading(/*bySize=*/true);
  for (const auto &[function, none] : none_) {
    if (!kind_->hasSize(function))
      continue;
    EXPECT_TRUE(works(function, kFrom - 8, kRanks, use)) << function;
    EXPECT_FALSE(works(function, kFrom, kRanks, use)) << function;
    EXPECT_FALSE(works(function, kTo, kRanks, use)) << function;
    EXPECT_TRUE(works(function, kTo + 8, kRanks, use)) << function;
    EXPECT_TRUE(works(function, kFrom, kRanks - 1, use)) << function << " on fewer ranks";
    EXPECT_TRUE(works(function, kFrom, kRanks + 1, use)) << function << " on more ranks";
  }
}

TEST_P(MpiChoiceTest, rulesOfFunctionsWithoutASizeHoldForAll) {
  Environment use = loading(/*bySize=*/false);
  for (const auto &[function, none] : none_) {
    if (kind_->hasSize(function))
      continue;
    for (uint64_t bytes : {8, 64 << 10})
      EXPECT_FALSE(works(function, bytes, kRanks, use)) << function << " " << bytes;
    EXPECT_TRUE(works(function, 8, kRanks - 1, use)) << function << " on fewer ranks";
  }
}

TEST_P(MpiChoiceTest, algorithmsAreFound) {
  Result<std::unique_ptr<MpiKind>> real =
      MpiKind::make(GetParam() == "mpich" ? "mpich" : "openmpi", launch_);
  ASSERT_TRUE(real) << real.message();
  for (const std::string &function : mpiFunctions())
    EXPECT_GE((*real)->algorithms(function, 1 << 20).size(), 1u) << function;
  EXPECT_GE((*real)->algorithms("bcast", 1 << 20).size(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Mpis, MpiChoiceTest, testing::Values("openmpi", "openmpi-json", "mpich"));

} // namespace
} // namespace colldsl::tools
