// Machines of named nodes: files of nodes and groups, Slurm's topology, the hosts of a job.
#include "topology/Spec.h"

#include "ir/Concat.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>

namespace colldsl {
namespace {

/// A file that exists as long as the object.
class TempFile {
public:
  explicit TempFile(const std::string &text)
      : path_(concat(::testing::TempDir(), "nodes-", ++made, ".txt")) {
    std::ofstream(path_) << text;
  }
  ~TempFile() { std::remove(path_.c_str()); }
  TempFile(const TempFile &) = delete;
  TempFile &operator=(const TempFile &) = delete;
  const std::string &path() const { return path_; }

private:
  static inline int made = 0;
  std::string path_;
};

constexpr const char *kCells = "# two cells of a dragonfly\n"
                               "NODE 001 RACK 1 CELL 1 SWITCH 10\n"
                               "NODE 002 RACK 1 CELL 1 SWITCH 10\n"
                               "\n"
                               "NODE 003 RACK 2 SWITCH 11 CELL 1 # another order of keys\n"
                               "node [004-005] rack 2 cell 2 switch 20\n";

std::string errorOf(const std::string &description) {
  Result<Spec> spec = parseSpec(description);
  return spec ? "no error" : spec.message();
}

Topology make(const std::string &description) {
  Result<Spec> spec = parseSpec(description);
  EXPECT_TRUE(spec) << spec.message();
  if (!spec)
    return Topology::flat(1);
  Result<Topology> made = placeRanks(*spec, static_cast<uint32_t>(*ranksThatFit(*spec)));
  EXPECT_TRUE(made) << made.message();
  return made ? made.take() : Topology::flat(1);
}

/// "cell: 1 1 2; switch: 10 10 20": the names of the groups of each rank.
std::string groups(const Topology &topology) {
  std::string text;
  for (size_t level = 0; level < topology.outerLevels().size(); ++level) {
    const OuterLevel &outer = topology.outerLevels()[level];
    text += (level > 0 ? "; " : "") + outer.name + ":";
    for (uint32_t r = 0; r < topology.numRanks(); ++r)
      text += " " + outer.groups[topology.outerGroupOf(level, Rank{r})];
  }
  return text;
}

TEST(NamedNodes, LinesOfKeysAndValues) {
  TempFile file(kCells);
  std::string nodes = "nodes=" + file.path() + " ";
  EXPECT_EQ(groups(make(nodes + "levels=cell,switch")), "cell: 1 1 1 2 2; switch: 10 10 11 20 20");
  EXPECT_EQ(groups(make(nodes + "levels=RACK")), "rack: 1 1 2 2 2");
  EXPECT_EQ(errorOf(nodes),
            "topology: " + file.path() + ": 001 and 003 are both of cell 1, but of rack 1 and 2");
  EXPECT_EQ(errorOf(nodes + "levels=switch,cell"),
            "topology: " + file.path() +
                ": 001 and 003 are both of cell 1, but of switch 10 and 11");
  EXPECT_EQ(errorOf(nodes + "levels=row"), "topology: '" + file.path() + "' has no level 'row'");
}

TEST(NamedNodes, LevelsSortThemselves) {
  TempFile file("node a switch 1 cell x\nnode b switch 2 cell x\nnode c switch 3 cell y\n");
  EXPECT_EQ(groups(make("nodes=" + file.path())), "cell: x x y; switch: 1 2 3");
}

TEST(NamedNodes, HostsInTheOrderOfTheJob) {
  TempFile file(kCells);
  std::string nodes = "nodes=" + file.path() + " prefix=n levels=cell,switch ";
  Topology t = make(nodes + "hosts=n004,n[001-002]");
  EXPECT_EQ(groups(t), "cell: 2 1 1; switch: 20 10 10");
  EXPECT_EQ(t.place(Rank{0}).node, 0u);
  EXPECT_EQ(t.distance(Rank{1}, Rank{2}), 7u);
  EXPECT_EQ(t.distance(Rank{0}, Rank{1}), 8u);
  EXPECT_EQ(groups(make(nodes + "hosts=n003.cluster.site,n005 core:2")),
            "cell: 1 1 2 2; switch: 11 11 20 20");
  EXPECT_EQ(groups(make(nodes + "hosts=n003,n005 core:2 bind=scatter")),
            "cell: 1 2 1 2; switch: 11 20 11 20");
  EXPECT_EQ(errorOf(nodes + "hosts=n001,viz02"),
            "topology: hosts: there is no node 'viz02' in '" + file.path() + "'");
}

TEST(NamedNodes, LevelsThatAreCrossed) {
  TempFile file(kCells);
  Topology t =
      make("nodes=" + file.path() + " levels=cell,switch hosts=001,002,003,004,005 core:2");
  EXPECT_EQ(t.levelsCrossed(Rank{0}, Rank{1}), 0u);
  EXPECT_EQ(t.levelsCrossed(Rank{0}, Rank{2}), 1u) << "one switch";
  EXPECT_EQ(t.levelsCrossed(Rank{0}, Rank{4}), 2u) << "one cell";
  EXPECT_EQ(t.levelsCrossed(Rank{0}, Rank{6}), 3u);
  EXPECT_EQ(t.levelsCrossed(Rank{9}, Rank{6}), 1u);
  EXPECT_EQ(make("hosts=a,b").levelsCrossed(Rank{0}, Rank{1}), 1u);
}

TEST(NamedNodes, HostFiles) {
  TempFile file("# a job\nb[1-2]  slots=2\na:3\nb1\n");
  Topology t = make("hosts=@" + file.path());
  std::vector<uint32_t> nodes;
  for (uint32_t r = 0; r < t.numRanks(); ++r)
    nodes.push_back(t.place(Rank{r}).node);
  EXPECT_EQ(nodes, (std::vector<uint32_t>{0, 0, 1, 1, 2, 2, 2, 0}));
  EXPECT_EQ(t.distance(Rank{0}, Rank{7}), 2u) << "each has a core of its own";
  EXPECT_EQ(
      errorOf("bind=scatter hosts=@" + file.path()),
      "topology: hosts that are listed several times bind the ranks; 'bind=' binds them, too");
  auto errorOfFile = [](const std::string &text) {
    TempFile wrong(text);
    std::string message = errorOf("hosts=@" + wrong.path());
    return message.substr(message.find(".txt") + 4);
  };
  EXPECT_EQ(errorOfFile("a\n b 3\n"), ":2:4: behind a host may stand slots=N, not '3'");
  EXPECT_EQ(errorOfFile("a slots=0"), ":1:9: '0' is no number of ranks of a host");
  EXPECT_EQ(errorOfFile("a:x"), ":1:3: 'x' is no number of ranks of a host");
  EXPECT_EQ(errorOfFile("a\nb[1-"), ":2:2: '[' is not closed");
  EXPECT_EQ(errorOfFile("# none\n"), "' has no hosts");
  EXPECT_EQ(errorOfFile("a slots=99999999"), ":1:1: more than 16777216 ranks");
  EXPECT_EQ(errorOf("hosts=@/nonexistent/job"),
            "topology: cannot read '/nonexistent/job': No such file or directory");
}

TEST(NamedNodes, MoreRanksThanHosts) {
  EXPECT_EQ(Topology::make("hosts=a,a,b", 4).message(),
            "hosts are listed for 3 ranks, not 4 ranks");
  EXPECT_EQ(Topology::make("hosts=a,a,b oversubscribe", 4)->place(Rank{3}).node, 0u);
  EXPECT_EQ(Topology::make("hosts=a,a,a,b pu:2", 4).message(),
            "a host is listed more often than its 2 hardware threads");
}

TEST(NamedNodes, ErrorsNameLineAndColumn) {
  auto errorOfFile = [](const std::string &text) {
    TempFile wrong(text);
    std::string message = errorOf("nodes=" + wrong.path());
    return message.substr(message.find(".txt") + 4);
  };
  EXPECT_EQ(errorOfFile("node a cell 1\nhost b cell 1\n"),
            ":2:1: a line begins with 'node', not 'host'");
  EXPECT_EQ(errorOfFile("node a cell\n"), ":1:8: 'cell' has no value behind it");
  EXPECT_EQ(errorOfFile("node a cell 1\nnode b row 1\n"), ":2:8: the first line has no 'row'");
  EXPECT_EQ(errorOfFile("node a cell 1 row 1\nnode b row 1\n"), ":2:1: the line has no 'cell'");
  EXPECT_EQ(errorOfFile("node a cell 1 cell 1\n"), ":1:15: 'cell' is given twice");
  EXPECT_EQ(errorOfFile("node a row 1 cell 1\nnode b cell 1 cell 1\n"),
            ":2:15: 'cell' is given twice");
  EXPECT_EQ(errorOfFile("node a cell 1\n\nnode [a-b] cell 1\n").substr(0, 7), ":3:7: c");
  EXPECT_EQ(errorOfFile("node a cell 1\nnode b,a cell 1\n"),
            ":2:6: node 'a' is given twice, first on line 1");
  EXPECT_EQ(errorOfFile(" # nothing\n"), "' has no nodes");
  EXPECT_EQ(errorOf("nodes=/tmp"), "topology: cannot read '/tmp': Is a directory");
  EXPECT_EQ(errorOf("nodes="), "topology: 'nodes=' has no value");
  EXPECT_EQ(errorOf("hosts=a hosts=b"), "topology: 'hosts=' is given twice");
  EXPECT_EQ(errorOf("node:2 hosts=a"), "topology: level 'node' does not go with named nodes");
  EXPECT_EQ(errorOf("core:2 prefix=a"), "topology: 'prefix=' and 'levels=' go with 'nodes=FILE'");
  EXPECT_EQ(errorOf("flat hosts=a"), "topology: 'flat' has neither nodes nor cores to bind to");
}

TEST(NamedNodes, SwitchesOfSlurm) {
  TempFile file("SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-1]\n"
                "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[2-3]\n"
                "SwitchName=s2 Level=0 LinkSpeed=1 Nodes=tux[4-5]\n"
                "SwitchName=s3 Level=1 LinkSpeed=1 Nodes=tux[0-3] Switches=s[0-1]\n"
                "SwitchName=s4 Level=2 LinkSpeed=1 Nodes=tux[0-5] Switches=s[2-3]\n");
  EXPECT_EQ(groups(make("nodes=" + file.path() + " hosts=tux[0-5]")),
            "level2: s4 s4 s4 s4 s4 s4; level1: s3 s3 s3 s3 s2 s2; switch: s0 s0 s1 s1 s2 s2");
  TempFile conf("# topology.conf\nSwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n3\n"
                "switchname=top Switches=a,b\nSwitchName=alone nodes=n4\n");
  EXPECT_EQ(groups(make("nodes=" + conf.path())), "level1: top top top alone; switch: a a b alone");
}

TEST(NamedNodes, BlocksOfSlurm) {
  TempFile file("BlockName=b0 BlockIndex=0 Nodes=n[1-2] BlockSize=2\n"
                "BlockName=b1 BlockIndex=1 Nodes=n[3-4] BlockSize=2\n"
                "BlockName=b2 BlockIndex=2 Nodes=n5 BlockSize=2\n"
                "AggregatedBlock=b[0-1] BlockIndex=3 Nodes=n[1-4] BlockSize=4\n");
  EXPECT_EQ(groups(make("nodes=" + file.path())),
            "blocks4: b[0-1] b[0-1] b[0-1] b[0-1] b2; block: b0 b0 b1 b1 b2");
}

TEST(NamedNodes, ErrorsOfSlurmTopologies) {
  auto errorOfFile = [](const std::string &text) {
    TempFile wrong(text);
    std::string message = errorOf("nodes=" + wrong.path());
    return message.substr(message.find(".txt") + 4);
  };
  EXPECT_EQ(errorOfFile("SwitchName=a Nodes=n1\nLevel=0 Nodes=n2\n"),
            ":2:1: a record has SwitchName=, BlockName= or AggregatedBlock=");
  EXPECT_EQ(errorOfFile("SwitchName=a Nodes n1\n"), ":1:14: 'Nodes' is no field with a value");
  EXPECT_EQ(errorOfFile("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n[2,1]\n"),
            ":2:20: node 'n1' is given twice, first on line 1");
  EXPECT_EQ(errorOfFile("SwitchName=a Nodes=n[1\n"), ":1:21: '[' is not closed");
  EXPECT_EQ(errorOfFile("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n"),
            ":2:12: 'a' is given twice, first on line 1");
  EXPECT_EQ(errorOfFile("SwitchName=a Nodes=n1\nSwitchName=b Switches=a,c\n"),
            ":2:23: there is no switch 'c'");
  EXPECT_EQ(
      errorOfFile("SwitchName=a Nodes=n1\nSwitchName=b Switches=a\nSwitchName=c Switches=a\n"),
      ":3:23: switch 'a' is below two, also below 'b' on line 2");
  EXPECT_EQ(errorOfFile("SwitchName=a Switches=b\nSwitchName=b Switches=a\n"),
            ":1:12: switch 'a' of level 0 is below 'b' of level 0");
  EXPECT_EQ(errorOfFile("SwitchName=a Level=x Nodes=n1\n"), ":1:20: 'x' is no number");
  EXPECT_EQ(errorOfFile("SwitchName=a Nodes=n1\nBlockName=b Nodes=n2\n"),
            ":2:1: switches and blocks in one file");
  EXPECT_EQ(errorOfFile("BlockName=a Nodes=n1\nAggregatedBlock=a,b BlockSize=4\n"),
            ":2:17: there is no block 'b'");
  EXPECT_EQ(errorOfFile("BlockName=a Nodes=n1\nAggregatedBlock=a BlockSize=4\n"
                        "AggregatedBlock=a BlockSize=4\n"),
            ":3:17: block 'a' is of two aggregated blocks of one size");
}

TEST(NamedNodes, TensOfThousands) {
  constexpr uint32_t nodes = 60'000;
  std::string text;
  for (uint32_t i = 0; i < nodes; ++i)
    text += concat("node n", i, " cell ", i / 600, " switch ", i / 20, "\n");
  TempFile file(text);
  Topology t = make("nodes=" + file.path() + " hosts=n[0-59999]");
  EXPECT_EQ(t.numRanks(), nodes);
  EXPECT_EQ(t.levelsCrossed(Rank{0}, Rank{19}), 1u);
  EXPECT_EQ(t.levelsCrossed(Rank{0}, Rank{599}), 2u);
  EXPECT_EQ(t.levelsCrossed(Rank{0}, Rank{600}), 3u);
}

} // namespace
} // namespace colldsl
