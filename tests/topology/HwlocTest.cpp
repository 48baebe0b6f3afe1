// Machines that hwloc describes, written by hwloc itself.
#include "topology/Topology.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <hwloc.h>

namespace colldsl {
namespace {

/// A file that holds the XML export of one of hwloc's own synthetic machines.
class XmlFile {
public:
  explicit XmlFile(const char *synthetic)
      : path_(testing::TempDir() + "colldsl-" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".xml") {
    hwloc_topology_t topology;
    EXPECT_EQ(hwloc_topology_init(&topology), 0);
    EXPECT_EQ(hwloc_topology_set_synthetic(topology, synthetic), 0);
    EXPECT_EQ(hwloc_topology_load(topology), 0);
    EXPECT_EQ(hwloc_topology_export_xml(topology, path_.c_str(), 0), 0);
    hwloc_topology_destroy(topology);
  }
  ~XmlFile() { std::remove(path_.c_str()); }
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

Topology make(const std::string &description, uint32_t numRanks) {
  Result<Topology> topology = Topology::make(description, numRanks);
  if (topology)
    return topology.take();
  ADD_FAILURE() << description << ": " << topology.message();
  return Topology::flat(numRanks);
}

void expectEqual(const Topology &a, const Topology &b) {
  ASSERT_EQ(a.numRanks(), b.numRanks());
  for (uint32_t r = 0; r < a.numRanks(); ++r)
    EXPECT_EQ(a.place(Rank{r}), b.place(Rank{r})) << "rank " << r;
}

TEST(Hwloc, XmlEqualsTheSameSyntheticMachine) {
  XmlFile file("group:2 package:2 [numa] l3:2 core:2 pu:2");
  expectEqual(make(file.path(), 32), make("board:2 package:2 numa:1 l3:2 core:2 pu:2", 32));
}

TEST(Hwloc, XmlWithoutGroupsHasOneBoard) {
  XmlFile file("package:2 [numa] core:3 pu:1");
  Topology t = make(file.path(), 6);
  EXPECT_EQ(t.numGroups(Level::Board), 1u);
  EXPECT_EQ(t.numGroups(Level::Socket), 2u);
  EXPECT_EQ(t.distance(Rank{0}, Rank{2}), 2u);
  EXPECT_EQ(t.distance(Rank{0}, Rank{3}), 5u);
}

TEST(Hwloc, XmlWithOneMemoryForAllSockets) {
  XmlFile file("package:2 core:2 pu:1");
  EXPECT_EQ(make(file.path(), 4).distance(Rank{0}, Rank{2}), 3u);
}

TEST(Hwloc, XmlWithSeveralMemoriesPerSocket) {
  XmlFile file("package:1 die:2 [numa] core:2 pu:1");
  Topology t = make(file.path(), 4);
  EXPECT_EQ(t.numGroups(Level::Numa), 2u);
  EXPECT_EQ(t.distance(Rank{0}, Rank{2}), 4u);
}

TEST(Hwloc, SeveralNodesOfOneXml) {
  XmlFile file("package:2 [numa] core:2 pu:1");
  expectEqual(make("node:3 " + file.path() + " bind=scatter", 12),
              make("node:3 package:2 numa:1 core:2 bind=scatter", 12));
}

TEST(Hwloc, XmlErrorsNameTheFile) {
  Result<Topology> missing = Topology::make("/nonexistent/machine.xml", 1);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.message(),
            "topology: hwloc cannot read '/nonexistent/machine.xml': No such file or directory");
  std::string path = testing::TempDir() + "colldsl-broken.xml";
  std::ofstream(path) << "<topology";
  EXPECT_FALSE(Topology::make(path, 1).ok());
  std::remove(path.c_str());
}

TEST(Hwloc, TheClosestMemoryCounts) {
  XmlFile file("[numa] package:2 [numa] core:2 pu:1");
  Topology t = make(file.path(), 4);
  EXPECT_EQ(t.numGroups(Level::Numa), 2u);
  EXPECT_EQ(t.distance(Rank{0}, Rank{2}), 5u);
}

TEST(Hwloc, LocalIsWhereThisProcessMayRun) {
  hwloc_topology_t machine;
  ASSERT_EQ(hwloc_topology_init(&machine), 0);
  ASSERT_EQ(hwloc_topology_load(machine), 0);
  hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
  ASSERT_EQ(hwloc_get_cpubind(machine, allowed, HWLOC_CPUBIND_PROCESS), 0);
  uint32_t threads = static_cast<uint32_t>(hwloc_bitmap_weight(allowed));

  Topology t = make("local", threads + 1);
  EXPECT_EQ(t.numGroups(Level::Node), 1u);
  for (uint32_t r = 0; r <= threads; ++r)
    EXPECT_TRUE(hwloc_bitmap_isset(allowed, t.place(Rank{r}).pu)) << "rank " << r;
  EXPECT_EQ(t.place(Rank{threads}), t.place(Rank{0})) << "the placement begins again";

  uint32_t last = static_cast<uint32_t>(hwloc_bitmap_last(allowed));
  hwloc_bitmap_t one = hwloc_bitmap_alloc();
  hwloc_bitmap_only(one, last);
  ASSERT_EQ(hwloc_set_cpubind(machine, one, HWLOC_CPUBIND_PROCESS), 0);
  Topology bound = make("local", 2);
  EXPECT_EQ(bound.place(Rank{0}).pu, last);
  EXPECT_EQ(bound.place(Rank{1}).pu, last);

  hwloc_set_cpubind(machine, allowed, HWLOC_CPUBIND_PROCESS);
  hwloc_bitmap_free(one);
  hwloc_bitmap_free(allowed);
  hwloc_topology_destroy(machine);
}

} // namespace
} // namespace colldsl
