// Files of rules as their MPIs read them: readers that know nothing of the writers find for each
// call what was decided for it, and the MPI's own choice for all others.
#include "tools/tune/mpi/Mpich.h"
#include "tools/tune/mpi/OpenMpi.h"

#include <gtest/gtest.h>

#include <bit>
#include <climits>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <unistd.h>

namespace colldsl::tools {
namespace {

struct Call {
  std::string function;
  uint32_t ranks;
  uint64_t block; ///< bytes
};

const Decision *decisionFor(const std::vector<Decision> &decisions, const Call &call) {
  for (const Decision &d : decisions)
    if (d.function == call.function && d.ranks == call.ranks && d.minBytes <= call.block &&
        call.block <= d.maxBytes)
      return &d;
  return nullptr;
}

Decision decision(const std::string &function, uint32_t ranks, uint64_t from, uint64_t to,
                  const std::string &use) {
  Decision d;
  d.function = function;
  d.ranks = ranks;
  d.minBytes = from;
  d.maxBytes = to;
  d.use = *TunedCollective::parse(use);
  return d;
}

/// A few decisions for each function, in order, with gaps.
std::vector<Decision> randomDecisions(const MpiKind &kind, std::mt19937 &random) {
  std::vector<Decision> all;
  for (const std::string &function : mpiFunctions()) {
    std::vector<MpiAlgorithm> algorithms = kind.algorithms(function, 1 << 20);
    for (uint32_t ranks : {2u, 3u, 8u, 9u}) {
      if (algorithms.empty() || random() % 4 == 0)
        continue;
      auto any = [&] { return algorithms[random() % algorithms.size()].what.words(); };
      if (!kind.hasSize(function)) {
        all.push_back(decision(function, ranks, 0, UINT64_MAX, any()));
        continue;
      }
      uint64_t next = random() % 2 ? 0 : random() % 64;
      for (unsigned i = 0; i < 1 + random() % 3; ++i) {
        uint64_t end = next + random() % 5000;
        all.push_back(decision(function, ranks, next, end, any()));
        next = end + 1 + (random() % 2 ? 0 : random() % 3000);
      }
    }
  }
  return all;
}

std::vector<Call> callsAround(const std::vector<Decision> &decisions) {
  std::vector<Call> calls;
  for (const Decision &d : decisions)
    for (uint32_t ranks : {d.ranks - 1, d.ranks, d.ranks + 1})
      for (uint64_t block : {uint64_t{0}, d.minBytes - 1, d.minBytes, d.minBytes + 1,
                             d.maxBytes - 1, d.maxBytes, d.maxBytes + 1, uint64_t{1} << 24})
        if (ranks > 1 && block < (uint64_t{1} << 40))
          calls.push_back({d.function, ranks, block});
  return calls;
}

// Open MPI

/// An Open MPI of that version with algorithms as it names them.
OpenMpi openMpi(const std::string &version) {
  MpiFacts facts;
  facts.library = "Open MPI v" + version;
  for (const std::string &function : mpiFunctions()) {
    std::string name = "coll_tuned_" + function + "_algorithm";
    facts.variables[name] = {
        0, true, {{0, "ignore"}, {1, "linear"}, {2, "chain"}, {3, "pipeline"}}};
    facts.variables[name + "_segmentsize"] = {0, true, {}};
    facts.variables[name + "_chain_fanout"] = {4, true, {}};
  }
  return OpenMpi(facts);
}

struct Chosen {
  int algorithm = 0, fanout = 0;
  int64_t segment = 0;
  bool operator==(const Chosen &) const = default;
};

Chosen chosenBy(const Decision *d) {
  if (!d)
    return {};
  std::map<std::string, int> numbers = {{"linear", 1}, {"chain", 2}, {"pipeline", 3}};
  return {numbers.at(d->use.name), d->use.name == "chain" ? 4 : 0,
          d->use.values.empty() ? 0 : d->use.values[0].value};
}

/// "Message size" as Open MPI computes it in coll_tuned_decision_dynamic.c, of blocks of bytes.
uint64_t openMpiSize(const Call &call) {
  for (const char *all :
       {"allgather", "alltoall", "reduce_scatter", "reduce_scatter_block", "gather", "scatter"})
    if (call.function == all)
      return call.block * call.ranks;
  for (const char *none : {"barrier", "alltoallv"})
    if (call.function == none)
      return 0;
  return call.function == "scan" || call.function == "exscan" ? call.ranks : call.block;
}

int openMpiId(const std::string &function) { // enum COLLTYPE of coll_base_functions.h
  const char *names[] = {"allgather",      "allgatherv",
                         "allreduce",      "alltoall",
                         "alltoallv",      "alltoallw",
                         "barrier",        "bcast",
                         "exscan",         "gather",
                         "gatherv",        "reduce",
                         "reduce_scatter", "reduce_scatter_block",
                         "scan",           "scatter"};
  for (int id = 0; id < 16; ++id)
    if (names[id] == function)
      return id;
  return -1;
}

/// Parses and looks up rules as ompi_coll_tuned_read_rules_config_file() and its callers do.
Chosen chosenInClassic(const std::string &text, const Call &call) {
  std::istringstream lines(text);
  std::string numbers;
  for (std::string line; std::getline(lines, line);)
    numbers += line.substr(0, line.find('#')) + " ";
  std::istringstream in(numbers);
  auto next = [&] {
    uint64_t number = 0;
    EXPECT_TRUE(in >> number) << text;
    return number;
  };
  Chosen chosen;
  for (uint64_t functions = next(); functions > 0; --functions) {
    bool isFunction = next() == static_cast<uint64_t>(openMpiId(call.function));
    uint64_t sizes = next(), lastRanks = 0;
    for (uint64_t i = 0; i < sizes; ++i) {
      uint64_t ranks = next();
      EXPECT_TRUE(i == 0 ? ranks == 0 : ranks > lastRanks) << "not ascending";
      lastRanks = ranks;
      bool isSize = isFunction && ranks <= call.ranks;
      uint64_t rules = next(), lastFrom = 0;
      for (uint64_t r = 0; r < rules; ++r) {
        uint64_t from = next();
        EXPECT_TRUE(r == 0 ? from == 0 : from > lastFrom) << "the first rule is for 0, all ascend";
        lastFrom = from;
        Chosen here{static_cast<int>(next()), static_cast<int>(next()),
                    static_cast<int64_t>(next())};
        if (isSize && from <= openMpiSize(call))
          chosen = here;
      }
    }
  }
  uint64_t rest = 0;
  EXPECT_FALSE(in >> rest) << "more than was announced";
  return chosen;
}

Chosen chosenInJson(const nlohmann::json &file, const Call &call) {
  auto sizes = file.at("collectives").find(call.function);
  if (sizes == file.at("collectives").end())
    return {};
  uint64_t size = openMpiSize(call);
  std::map<std::string, int> numbers = {{"linear", 1}, {"chain", 2}, {"pipeline", 3}};
  for (const auto &ranks : *sizes) {
    EXPECT_EQ(ranks.at("comm_rank_distribution"), "single-node");
    if (ranks.at("comm_size_min") > call.ranks || ranks.at("comm_size_max") < call.ranks)
      continue;
    for (const auto &rule : ranks.at("rules")) {
      bool endless = rule.at("msg_size_max") == "inf";
      if (rule.at("msg_size_min") <= size && (endless || rule.at("msg_size_max") >= size))
        return {numbers.at(rule.at("alg")), rule.value("faninout", 0), rule.value("seg_size", 0)};
    }
    return {};
  }
  return {};
}

TEST(MpiRulesTest, openMpiFindsWhatWasDecided) {
  std::mt19937 random(7);
  OpenMpi classic = openMpi("4.1.4"), json = openMpi("6.0.0rc2");
  EXPECT_EQ(classic.usualFile(), "openmpi-rules.conf");
  EXPECT_EQ(openMpi("5.0.7").usualFile(), "openmpi-rules.conf");
  EXPECT_EQ(json.usualFile(), "openmpi-rules.json");
  for (int i = 0; i < 10; ++i) {
    std::vector<Decision> decisions = randomDecisions(classic, random);
    std::vector<TuningFile> old = classic.files(decisions, "/f"), now = json.files(decisions, "/f");
    ASSERT_EQ(old.size(), 1u);
    EXPECT_EQ(old[0].use, (Environment{"OMPI_MCA_coll_tuned_use_dynamic_rules=1",
                                       "OMPI_MCA_coll_tuned_dynamic_rules_filename=/f"}));
    nlohmann::json parsed = nlohmann::json::parse(now.at(0).text);
    EXPECT_EQ(parsed.at("rule_file_version"), 3);
    EXPECT_EQ(parsed.at("module"), "tuned");
    for (const Call &call : callsAround(decisions)) {
      Chosen wanted = chosenBy(decisionFor(decisions, call));
      EXPECT_EQ(chosenInClassic(old[0].text, call), wanted)
          << call.function << " " << call.ranks << " " << call.block << "\n"
          << old[0].text;
      EXPECT_EQ(chosenInJson(parsed, call), wanted)
          << call.function << " " << call.ranks << " " << call.block << "\n"
          << now[0].text;
    }
  }
}

TEST(MpiRulesTest, openMpiWithoutASizeThatAllRanksAgreeOnGetsOneRule) {
  OpenMpi mpi = openMpi("4.1.4");
  for (const char *function : {"barrier", "alltoallv", "scan", "exscan", "gather", "scatter"})
    EXPECT_FALSE(mpi.hasSize(function)) << function;
  std::string text = mpi.files({decision("gather", 4, 0, UINT64_MAX, "linear")}, "/f")[0].text;
  for (uint64_t block : {0, 8, 1 << 20})
    EXPECT_EQ(chosenInClassic(text, {"gather", 4, block}).algorithm, 1);
}

TEST(MpiRulesTest, variablesThatARunningJobCannotWriteAreSetInItsEnvironment) {
  MpiFacts facts = openMpi("4.1.4").facts();
  facts.variables["coll_tuned_allgatherv_algorithm"].isWritable = false;
  std::vector<MpiAlgorithm> algorithms = OpenMpi(facts).algorithms("allgatherv", 64);
  ASSERT_EQ(algorithms.size(), 3u);
  EXPECT_EQ(algorithms[1].arm, "-");
  EXPECT_EQ(algorithms[1].environment, (Environment{"OMPI_MCA_coll_tuned_allgatherv_algorithm=2"}));
  EXPECT_EQ(OpenMpi(facts).algorithms("bcast", 64)[0].arm,
            "coll_tuned_bcast_algorithm=1,coll_tuned_bcast_algorithm_segmentsize=0");
}

// MPICH

/// A library of MPICH: per collective a tree of its own and two algorithms besides.
MpiFacts mpichFacts() {
  std::map<std::string, std::string> own = {
      {"Bcast", R"({"comm_type=intra":{"comm_size<8":{"comm_hierarchy=parent":{"avg_msg_size<=100":
         {"algorithm=MPIR_Bcast_intra_usual":{}},"avg_msg_size=any":{"algorithm=MPIR_Bcast_intra_a":{}}},
         "comm_hierarchy=any":{"algorithm=MPIR_Bcast_intra_usual":{}}},"comm_size=pow2":
         {"algorithm=MPIR_Bcast_intra_b":{}},"comm_size=any":{"algorithm=MPIR_Bcast_intra_usual":{}}},
         "comm_type=inter":{"algorithm=MPIR_Bcast_inter_x":{}}})"},
      {"Allreduce", R"({"comm_type=intra":{"is_commutative=yes":{"avg_msg_size<=8":
         {"algorithm=MPIR_Allreduce_intra_a":{}},"avg_msg_size=any":
         {"algorithm=MPIR_Allreduce_intra_usual":{}}},
         "is_commutative=no":{"algorithm=MPIR_Allreduce_intra_b":{}}}})"}};
  MpiFacts facts;
  facts.library = "MPICH 4.0.2";
  std::string tree, device;
  for (const std::string &function : mpiFunctions()) {
    std::string name = function, upper;
    name[0] = static_cast<char>(std::toupper(name[0]));
    for (char c : function)
      upper += static_cast<char>(std::toupper(c));
    std::string subtree = "{\"comm_type=intra\":{\"algorithm=MPIR_" + name + "_intra_usual\":{}}}";
    if (own.contains(name))
      subtree = own[name];
    tree += (tree.empty() ? "{" : ",") + ("\"collective=" + function + "\":") + subtree;
    for (const char *algorithm : {"usual", "a", "b", "reduce_scatter_c", "recexch"})
      facts.texts.push_back("algorithm=MPIR_" + name + "_intra_" + algorithm);
    facts.variables["MPIR_CVAR_" + upper + "_INTRA_ALGORITHM"] = {0, true, {}};
    facts.variables["MPIR_CVAR_" + upper + "_RECEXCH_KVAL"] = {2, true, {}};
  }
  facts.texts.push_back(tree + "}");
  facts.texts.push_back(R"({"collective=bcast":{"comm_type=intra":{"comm_hierarchy=parent":
    {"composition=alpha":{}},"comm_hierarchy=any":{"composition=flat":{}}}},
    "collective=gather":{"comm_type=intra":{"composition=only":{}}}})");
  return facts;
}

std::unique_ptr<Mpich> mpich() {
  MpiFacts facts = mpichFacts();
  Mpich::Algorithms algorithms = Mpich::namesIn(facts);
  for (auto &[function, named] : algorithms)
    for (size_t i = 0; i < named.size(); ++i)
      named[i].number = static_cast<int>(i); // "usual" is 0
  return std::move(*Mpich::make(std::move(facts), std::move(algorithms)));
}

/// What a selection depends on.
struct Selection {
  Call call;
  bool isParent = true, isCommutative = true, isBuiltIn = true, isInPlace = false, isRegular = true;
  uint64_t elementBytes = 8;
};

uint64_t totalOf(const Selection &s) { return s.call.block * s.call.ranks; }

bool isTrue(const std::string &condition, const Selection &s) {
  auto compare = [&](const char *what, uint64_t value) -> std::optional<bool> {
    std::string name = what;
    if (condition == name + "=any")
      return true;
    if (condition.starts_with(name + "<="))
      return value <= std::stoull(condition.substr(name.size() + 2));
    if (condition.starts_with(name + "<"))
      return value < std::stoull(condition.substr(name.size() + 1));
    return std::nullopt;
  };
  std::map<std::string, bool> flags = {
      {"comm_type=intra", true},
      {"comm_type=inter", false},
      {"comm_hierarchy=parent", s.isParent},
      {"comm_hierarchy=any", true},
      {"comm_size=pow2", std::has_single_bit(s.call.ranks)},
      {"is_commutative=yes", s.isCommutative},
      {"is_commutative=no", !s.isCommutative},
      {"is_op_built_in=yes", s.isBuiltIn},
      {"is_sendbuf_inplace=no", !s.isInPlace},
      {"is_block_regular=yes", s.isRegular},
      {"count<pow2", s.call.block / s.elementBytes < std::bit_floor(s.call.ranks)}};
  if (auto flag = flags.find(condition); flag != flags.end())
    return flag->second;
  for (auto is : {compare("comm_size", s.call.ranks), compare("avg_msg_size", s.call.block),
                  compare("total_msg_size", totalOf(s))})
    if (is)
      return *is;
  ADD_FAILURE() << "MPICH knows no '" << condition << "'";
  return false;
}

bool isLeafKey(const std::string &key) {
  return key.starts_with("algorithm=") || key.starts_with("composition=");
}

/// Searches as MPIR_Csel_search() does; empty: no algorithm, where MPICH would end.
std::string chosenInTree(const SelectionTree &level, const Selection &s, SelectionTree *leaf) {
  for (const auto &[condition, below] : level.items()) {
    if (isLeafKey(condition)) {
      EXPECT_EQ(level.size(), 1u) << "a leaf beside conditions hides them: " << level;
      *leaf = below;
      return condition;
    }
    if (isTrue(condition, s))
      return chosenInTree(below, s, leaf);
  }
  return "";
}

/// Holds what validate_tree() wants, and what makes a comparison of ranks wrong in 4.0: below
/// messages.
void expectValid(const SelectionTree &level, bool belowMessages) {
  for (auto at = level.begin(); at != level.end(); ++at) {
    if (isLeafKey(at.key()))
      return;
    bool isAny = at.key().ends_with("=any") && at.key() != "comm_hierarchy=any";
    bool compares = at.key().find('<') != std::string::npos && !isAny;
    bool isLast = std::next(at) == level.end();
    EXPECT_FALSE(isAny && !isLast) << at.key() << " stands before others";
    EXPECT_FALSE(compares && isLast) << at.key() << " has nothing behind it";
    bool isRanks = at.key().starts_with("comm_size<") || at.key() == "comm_size=pow2";
    EXPECT_FALSE(belowMessages && isRanks) << at.key() << " below a message's condition";
    EXPECT_FALSE(at->empty());
    expectValid(*at, belowMessages || at.key().find("msg_size") != std::string::npos ||
                         at.key().starts_with("is_"));
  }
}

TEST(MpiRulesTest, mpichFindsWhatWasDecided) {
  std::mt19937 random(5);
  std::unique_ptr<Mpich> mpi = mpich();
  SelectionTree own = *parseTree(mpichFacts().texts.end()[-2]), none;
  for (int i = 0; i < 10; ++i) {
    std::vector<Decision> decisions = randomDecisions(*mpi, random);
    std::vector<TuningFile> files = mpi->files(decisions, "/f.json");
    SelectionTree tree = *parseTree(files.at(0).text);
    EXPECT_EQ(tree.size(), own.size()) << "all collectives are there";
    for (const SelectionTree &collective : tree)
      expectValid(collective, false);
    for (const Call &call : callsAround(decisions)) {
      const Decision *d = decisionFor(decisions, call);
      std::string key = "collective=" + call.function;
      for (Selection s : {Selection{call}, Selection{call, false}}) {
        SelectionTree leaf;
        std::string chosen = chosenInTree(tree.at(key), s, &leaf);
        bool isSmall = call.block / 8 < std::bit_floor(call.ranks);
        if (!d || (d->use.name == "reduce_scatter_c" && isSmall)) {
          EXPECT_EQ(chosen, chosenInTree(own.at(key), s, &none));
          continue;
        }
        EXPECT_TRUE(chosen.ends_with("_intra_" + d->use.name))
            << call.function << " " << call.ranks << " " << call.block << ": " << chosen;
        EXPECT_EQ(leaf.contains("k=2"), d->use.name == "recexch");
      }
    }
  }
}

TEST(MpiRulesTest, mpichChoosesForItselfWhatWasNotMeasured) {
  std::unique_ptr<Mpich> mpi = mpich();
  SelectionTree own = *parseTree(mpichFacts().texts.end()[-2]), leaf;
  std::map<std::string, std::vector<Selection>> others = {
      {"allreduce",
       {{{"allreduce", 4, 64}, true, false}, {{"allreduce", 4, 64}, true, true, false}}},
      {"alltoall", {{{"alltoall", 4, 64}, true, true, true, true}}},
      {"reduce_scatter", {{{"reduce_scatter", 4, 64}, true, true, true, false, false}}},
  };
  for (const auto &[function, selections] : others) {
    SelectionTree tree =
        *parseTree(mpi->files({decision(function, 4, 0, 1000, "a")}, "/f.json")[0].text);
    const SelectionTree &there = tree.at("collective=" + function);
    EXPECT_TRUE(chosenInTree(there, {{function, 4, 64}}, &leaf).ends_with("_intra_a"));
    for (const Selection &s : selections)
      EXPECT_EQ(chosenInTree(there, s, &leaf),
                chosenInTree(own.at("collective=" + function), s, &leaf));
  }
}

TEST(MpiRulesTest, mpichsDeviceLeavesDecidedCallsToThem) {
  std::unique_ptr<Mpich> mpi = mpich();
  EXPECT_EQ(mpi->algorithms("bcast", 8).at(0).arm,
            "MPIR_CVAR_BCAST_INTRA_ALGORITHM=1,MPIR_CVAR_BCAST_DEVICE_COLLECTIVE=0");
  EXPECT_EQ(mpi->algorithms("gather", 8).at(0).arm, "MPIR_CVAR_GATHER_INTRA_ALGORITHM=1");
  std::vector<TuningFile> files = mpi->files({decision("bcast", 4, 16, 64, "a")}, "/x/f.json");
  ASSERT_EQ(files.size(), 2u);
  SelectionTree device = *parseTree(files[1].text), leaf;
  const SelectionTree &there = device.at("collective=bcast");
  EXPECT_EQ(chosenInTree(there, {{"bcast", 4, 15}}, &leaf), "composition=alpha");
  EXPECT_EQ(chosenInTree(there, {{"bcast", 4, 16}}, &leaf), "composition=flat");
  EXPECT_EQ(chosenInTree(there, {{"bcast", 4, 65}}, &leaf), "composition=alpha");
  EXPECT_EQ(chosenInTree(there, {{"bcast", 5, 16}}, &leaf), "composition=alpha");
  EXPECT_EQ(mpi->files({decision("gather", 4, 0, UINT64_MAX, "a")}, "/f").size(), 1u);
}

// A job that starts while others are written finds a pair, and so does one whose variables are old.
TEST(MpiRulesTest, mpichFilesThatBelongTogetherHaveAVersion) {
  std::unique_ptr<Mpich> mpi = mpich();
  std::set<std::string> paths;
  for (uint64_t to : {64, 128})
    for (const char *algorithm : {"a", "recexch"}) {
      std::vector<TuningFile> files =
          mpi->files({decision("bcast", 4, 16, to, algorithm)}, "/x.y/f.json");
      ASSERT_EQ(files.size(), 2u);
      const std::string begin = "/x.y/f.";
      ASSERT_EQ(files[0].path.size(), begin.size() + 16 + 5);
      std::string version = files[0].path.substr(begin.size(), 16);
      EXPECT_EQ(files[0].path, begin + version + ".json");
      EXPECT_EQ(files[1].path, begin + version + ".ch4.json");
      EXPECT_EQ(files[0].use,
                (Environment{"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=" + files[0].path}));
      EXPECT_EQ(files[1].use,
                (Environment{"MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE=" + files[1].path}));
      EXPECT_TRUE(paths.insert(files[0].path).second && paths.insert(files[1].path).second)
          << "the trees differ, or those of the device do";
      EXPECT_EQ(mpi->files({decision("bcast", 4, 16, to, algorithm)}, "/x.y/f.json")[0].path,
                files[0].path);
    }
  EXPECT_TRUE(mpi->files({decision("bcast", 4, 0, 9, "a")}, "/f")[1].path.ends_with(".ch4"));
}

class MpiFilesTest : public testing::Test {
protected:
  MpiFilesTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("mpi-files." + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~MpiFilesTest() override { std::filesystem::remove_all(folder_); }

  TuningFile file(const std::string &name, const std::string &text) const {
    return {folder_ / name, text, {}};
  }
  /// Empty: there is no such file.
  std::string textIn(const std::string &name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }

private:
  std::filesystem::path folder_;
};

TEST_F(MpiFilesTest, anErrorLeavesNoFileWithoutTheOthers) {
  EXPECT_FALSE(writeTogether({file("a", "new"), file("no/b", "new")}));
  EXPECT_EQ(textIn("a"), "");
  ASSERT_TRUE(writeTogether({file("a", "one"), file("b", "two")}));
  EXPECT_EQ(textIn("a"), "one");
  EXPECT_EQ(textIn("b"), "two");
  EXPECT_FALSE(writeTogether({file("a", "one"), file("c", "three"), file("no/b", "two")}));
  EXPECT_EQ(textIn("a"), "one") << "it was there, and belongs to others";
  EXPECT_EQ(textIn("c"), "");
}

TEST(MpiRulesTest, mpichReadsNoSizesBeyondAnInt) {
  std::unique_ptr<Mpich> mpi = mpich();
  Decision large = decision("allgather", 4, 4096, uint64_t{1} << 31, "a");
  SelectionTree tree = *parseTree(mpi->files({large}, "/f")[0].text), leaf;
  EXPECT_EQ(tree.dump().find("<=" + std::to_string(uint64_t{INT_MAX} + 1)), std::string::npos);
  expectValid(tree.at("collective=allgather"), false);
  EXPECT_TRUE(chosenInTree(tree.at("collective=allgather"), {{"allgather", 4, 1 << 30}}, &leaf)
                  .ends_with("_intra_a"));
}

TEST(MpiRulesTest, anMpichWithoutTreesIsRefused) {
  MpiFacts facts = mpichFacts();
  facts.texts.clear();
  auto made = Mpich::make(facts, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.message(),
            "'MPICH 4.0.2' has no selection tree, as MPICH has from version 4.0 on");
}

} // namespace
} // namespace colldsl::tools
