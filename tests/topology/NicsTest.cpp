// Which network interface is next to which rank, on machines that hwloc describes.
#include "topology/Nics.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <hwloc.h>
#include <unistd.h>

namespace colldsl {
namespace {

using Indices = std::vector<uint32_t>;

/// As hwloc writes a device that is plugged into PCI.
std::string device(const std::string &name, const std::string &bus) {
  static int next = 1000; // what hwloc numbers everything by
  auto open = [](const std::string &words) {
    return "<object gp_index=\"" + std::to_string(next++) + "\" " + words + ">";
  };
  std::string buses = bus.substr(5, 2);
  return open("type=\"Bridge\" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"0000:[" + buses + "-" +
              buses + "]\"") +
         open("type=\"PCIDev\" pci_busid=\"" + bus +
              "\" pci_type=\"0200 [15b3:1017] [15b3:0008] 00\" pci_link_speed=\"0\"") +
         open("type=\"OSDev\" name=\"" + name + "\" osdev_type=\"3\"") +
         "</object></object></object>\n";
}

/// Two packages of two cores, each with two interfaces; a fifth is next to none of them.
std::string machineWithDevices() {
  hwloc_topology_t topology;
  EXPECT_EQ(hwloc_topology_init(&topology), 0);
  EXPECT_EQ(hwloc_topology_set_synthetic(topology, "package:2 [numa] core:2 pu:1"), 0);
  EXPECT_EQ(hwloc_topology_load(topology), 0);
  char *text = nullptr;
  int length = 0;
  EXPECT_EQ(hwloc_topology_export_xmlbuffer(topology, &text, &length, 0), 0);
  std::string xml(text);
  hwloc_free_xmlbuffer(topology, text);
  hwloc_topology_destroy(topology);
  const std::string end = "</object>";
  size_t ofMachine = xml.rfind(end), ofSecond = xml.rfind(end, ofMachine - 1);
  size_t second = xml.find("type=\"Package\"", xml.find("type=\"Package\"") + 1);
  xml.insert(ofMachine, device("eth0", "0000:00:03.0"));
  xml.insert(ofSecond, device("mlx5_2", "0000:81:00.0") + device("mlx5_3", "0001:82:00.1"));
  xml.insert(xml.rfind(end, second),
             device("mlx5_0", "0000:01:00.0") + device("mlx5_1", "0000:02:00.0"));
  return xml;
}

std::vector<Nic> discover() {
  std::string path = testing::TempDir() + "colldsl-nics-" + std::to_string(getpid()) + ".xml";
  std::ofstream(path) << machineWithDevices();
  Result<std::vector<Nic>> nics = discoverNics(path);
  std::remove(path.c_str());
  EXPECT_TRUE(nics.ok()) << nics.message();
  return nics ? nics.take() : std::vector<Nic>();
}

TEST(Nics, AreKnownByNameAndBusAndPlace) {
  std::vector<Nic> nics = discover();
  ASSERT_EQ(nics.size(), 5u);
  EXPECT_EQ(nics[3].name, "mlx5_3");
  EXPECT_EQ(nics[3].bus, pciName(1, 0x82, 0, 1));
  EXPECT_EQ(nics[3].numa, 1u);
  EXPECT_EQ(nics[3].around, (std::vector<Threads>{{2, 3}}));
  EXPECT_EQ(nics[4].name, "eth0");
  EXPECT_TRUE(nics[4].around.empty()) << "all of the machine is around it";
}

TEST(Nics, AreAsFarAsTheSmallestPartWithBoth) {
  std::vector<Nic> nics = discover();
  ASSERT_EQ(nics.size(), 5u);
  EXPECT_EQ(distance(nics[0], {1}), 2u);
  EXPECT_EQ(distance(nics[0], {0, 1}), 2u);
  EXPECT_GT(distance(nics[0], {2}), 2u);
  EXPECT_EQ(distance(nics[0], {1, 2}), distance(nics[2], {1, 2})) << "bound to both packages";
  EXPECT_EQ(distance(nics[0], {2}), distance(nics[4], {2})) << "only the machine holds both";
  Nic nested;
  nested.around = {{4}, {4, 5}, {4, 5, 6, 7}};
  EXPECT_EQ(distance(nested, {5}), 2u);
  EXPECT_EQ(distance(nested, {5, 6}), 4u);
}

TEST(Nics, AreSharedOutAmongThoseThatTheyAreNearestTo) {
  std::vector<Nic> nics = discover();
  Indices inOrder = shareNics(nics, std::vector<Threads>{{0}, {1}, {2}, {3}});
  EXPECT_EQ(inOrder, (Indices{0, 1, 2, 3}));
  // Ranks that were dealt to the packages in turns.
  Indices scattered = shareNics(nics, std::vector<Threads>{{0}, {2}, {1}, {3}, {0}, {2}});
  EXPECT_EQ(scattered, (Indices{0, 2, 1, 3, 0, 2}));
  // Not bound: all are equally near.
  Threads all{0, 1, 2, 3};
  EXPECT_EQ(shareNics(nics, std::vector<Threads>(6, all)), (Indices{0, 1, 2, 3, 4, 0}));
  // A rank that has the choice leaves an interface to ranks that use it already.
  EXPECT_EQ(shareNics(nics, std::vector<Threads>{{0}, {0}, all}), (Indices{0, 1, 2}));
}

TEST(Nics, OfUnknownPlaceAreEquallyNear) {
  std::vector<Nic> unknown(2);
  EXPECT_EQ(shareNics(unknown, std::vector<Threads>{{0}, {1}, {2}}), (Indices{0, 1, 0}));
  std::vector<NicName> names{{"no such interface", ""}, {"", "ffff:ff:1f.7"}};
  EXPECT_EQ(nearestNic(names, std::vector<Threads>{{0}, {0}}), 1u);
  EXPECT_EQ(nearestNic(names, {}), 0u);
}

} // namespace
} // namespace colldsl
