#include "driver/Lists.h"
#include "ir/Ranges.h"
#include "tools/Commands.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Json.h"
#include "tools/options/ResultStream.h"
#include "tools/options/Table.h"

#include "topology/Nics.h"
#include "topology/Spec.h"
#include "topology/Topology.h"

#include "llvm/Support/Format.h"

#include <algorithm>
#include <map>
#include <thread>

namespace colldsl::tools {
namespace {

// Greatest numbers of ranks for a matrix of distances: for people, and as JSON.
constexpr uint32_t kMatrixRanks = 32, kJsonRanks = 1 << 14;
constexpr uint32_t kMostRanks = 1 << 24;

struct TopoSettings {
  std::string topology = "local";
  uint32_t ranks = 0; ///< 0: as many as the machine has places
  bool json = false;
  bool dot = false;

  void addTo(Options &options);
  Result<uint32_t> numRanks() const;
};

void TopoSettings::addTo(Options &options) {
  options.section("what to show");
  options.addText("--topology", "T",
                  "flat; local (the default), this machine; FILE.xml, one that hwloc\n"
                  "exported; levels such as 'node:4 package:2 core:8'; or nodes=FILE with\n"
                  "nodes and switches, hosts=node[01-16] or hosts=@FILE; and how ranks\n"
                  "are bound: bind=core, bind=scatter, bind=0,2,4-7, oversubscribe",
                  topology) = completionOfTopology();
  options.addNumber("-n", "N",
                    "number of ranks (default: as many as the machine has threads, or the\n"
                    "list that they are bound to has cores or hosts)",
                    ranks, 1, kMostRanks);
  options.addFlag("--dot", "draw the machine for Graphviz: dot -Tsvg", dot);
  options.addFlag("--json", "print one JSON object, distances of all pairs included", json);
}

Result<uint32_t> TopoSettings::numRanks() const {
  if (ranks > 0)
    return ranks;
  Result<std::optional<uint64_t>> room = ranksThatFit(topology);
  if (!room)
    return room.status();
  uint64_t most = room->value_or(std::max(1u, std::thread::hardware_concurrency()));
  return static_cast<uint32_t>(std::min<uint64_t>(most, kMostRanks));
}

std::string membersWord(std::span<const Rank> members) {
  std::vector<uint32_t> ranks;
  for (Rank rank : members)
    ranks.push_back(index(rank));
  return rangesWord(ranks);
}

/// The leader as in the language: the first member, unless a program chooses another one.
Rank leaderOf(std::span<const Rank> members) { return members.front(); }

/// The ranks of each group of a level above the node.
std::vector<std::vector<Rank>> outerGroups(const Topology &topology, size_t level) {
  std::vector<std::vector<Rank>> groups;
  for (uint32_t r = 0; r < topology.numRanks(); ++r) {
    uint32_t group = topology.outerGroupOf(level, Rank{r});
    groups.resize(std::max<size_t>(groups.size(), group + 1));
    groups[group].push_back(Rank{r});
  }
  return groups;
}

/// The name of the group, or its number.
std::string groupWord(const OuterLevel &level, size_t group) {
  return level.groups.empty() ? std::to_string(group) : level.groups[group];
}

/// Prints line by line, not as a Table: there may be more groups than ranks.
void printGroups(const Topology &topology) {
  auto print = [](llvm::StringRef level, const std::string &group, const std::string &leader,
                  llvm::StringRef ranks) {
    resultStream() << llvm::left_justify(level, 6) << "  " << llvm::right_justify(group, 5) << "  "
                   << llvm::right_justify(leader, 6) << "  " << ranks << "\n";
  };
  print("level", "group", "leader", "ranks");
  for (Level level : kLevels) {
    for (uint32_t g = 0; g < topology.numGroups(level); ++g) {
      auto members = topology.members(level, g);
      print(spelling(level), std::to_string(g), std::to_string(index(leaderOf(members))),
            membersWord(members));
    }
    if (level != Level::All)
      continue;
    for (size_t outer = 0; outer < topology.outerLevels().size(); ++outer) {
      const OuterLevel &named = topology.outerLevels()[outer];
      std::vector<std::vector<Rank>> groups = outerGroups(topology, outer);
      for (size_t g = 0; g < groups.size(); ++g)
        print(named.name, groupWord(named, g), std::to_string(index(leaderOf(groups[g]))),
              membersWord(groups[g]));
    }
  }
}

void printDistances(const Topology &topology) {
  std::vector<std::string> heads{"distance"};
  for (uint32_t r = 0; r < topology.numRanks(); ++r)
    heads.push_back(std::to_string(r));
  Table table(heads);
  for (uint32_t a = 0; a < topology.numRanks(); ++a) {
    std::vector<std::string> row{std::to_string(a)};
    for (uint32_t b = 0; b < topology.numRanks(); ++b)
      row.push_back(std::to_string(topology.distance(Rank{a}, Rank{b})));
    table.addRow(row);
  }
  table.print(resultStream());
  resultStream()
      << "\n1 shares a cache, 2 same socket and memory, 3 other socket, same memory,\n"
         "4 same socket, other memory, 5 same board, 6 same node, 7 other node,\n8 other switch\n";
}

llvm::json::Object groupJson(std::string_view level, size_t group, std::span<const Rank> members) {
  llvm::json::Array ranks;
  for (Rank rank : members)
    ranks.push_back(index(rank));
  return llvm::json::Object{
      {"level", jsonText(std::string(level))},
      {"group", group},
      {"leader", index(leaderOf(members))},
      {"ranks", std::move(ranks)},
  };
}

void printOuterGroups(const Topology &topology, llvm::json::OStream &json) {
  for (size_t outer = 0; outer < topology.outerLevels().size(); ++outer) {
    const OuterLevel &level = topology.outerLevels()[outer];
    std::vector<std::vector<Rank>> groups = outerGroups(topology, outer);
    for (size_t g = 0; g < groups.size(); ++g) {
      llvm::json::Object group = groupJson(level.name, g, groups[g]);
      group["name"] = jsonText(groupWord(level, g));
      json.value(std::move(group));
    }
  }
}

llvm::json::Object placeJson(const Topology &topology, Rank rank) {
  const Place &p = topology.place(rank);
  return llvm::json::Object{
      {"rank", index(rank)},
      {"switch", p.leafSwitch},
      {"node", p.node},
      {"board", p.board},
      {"socket", p.socket},
      {"numa", p.numa},
      {"core", p.core},
      {"thread", p.pu == kNoPu ? llvm::json::Value(nullptr) : llvm::json::Value(p.pu)},
  };
}

/// Prints the JSON in a stream: there are as many distances as pairs of ranks.
void printAll(const Topology &topology) {
  constexpr unsigned kIndent = 2;
  llvm::json::OStream json(jsonStream(), kIndent);
  uint32_t numRanks = topology.numRanks();
  json.object([&] {
    json.attributeArray("distances", [&] {
      for (uint32_t a = 0; a < numRanks; ++a)
        json.array([&] {
          for (uint32_t b = 0; b < numRanks; ++b)
            json.value(topology.distance(Rank{a}, Rank{b}));
        });
    });
    json.attributeArray("groups", [&] {
      for (Level level : kLevels)
        for (uint32_t g = 0; g < topology.numGroups(level); ++g)
          json.value(groupJson(spelling(level), g, topology.members(level, g)));
      printOuterGroups(topology, json);
    });
    json.attributeArray("places", [&] {
      for (uint32_t r = 0; r < numRanks; ++r)
        json.value(placeJson(topology, Rank{r}));
    });
    json.attribute("ranks", numRanks);
  });
  resultStream() << "\n";
}

/// Boxes within boxes: nodes, boards, sockets, NUMA nodes, with the ranks and their cores.
class Drawing {
public:
  explicit Drawing(const Topology &topology) : topology_(topology) {}

  void print() {
    resultStream() << "digraph machine {\n  node [shape=box];\n";
    auto all = topology_.members(Level::All, 0);
    drawBoxes({all.begin(), all.end()}, 1);
    resultStream() << "}\n";
  }

private:
  /// Draws the ranks, in boxes of kLevels[level] and the levels below.
  void drawBoxes(const std::vector<Rank> &ranks, size_t level) {
    std::string indent(2 * level, ' ');
    if (level == kLevels.size()) {
      for (Rank rank : ranks)
        resultStream() << indent << "r" << index(rank) << " [label=\"rank " << index(rank)
                       << "\\ncore " << topology_.place(rank).core << "\"];\n";
      return;
    }
    std::map<uint32_t, std::vector<Rank>> groups;
    for (Rank rank : ranks)
      groups[topology_.groupOf(kLevels[level], rank)].push_back(rank);
    for (const auto &[group, members] : groups) {
      resultStream() << indent << "subgraph cluster_" << boxes_++ << " {\n"
                     << indent << "  label=\"" << spelling(kLevels[level]) << " " << group
                     << "\";\n";
      drawBoxes(members, level + 1);
      resultStream() << indent << "}\n";
    }
  }

  const Topology &topology_;
  uint32_t boxes_ = 0;
};

/// Per interface, the ranks to which no other one is nearer.
std::vector<std::vector<Rank>> nearestTo(const std::vector<Nic> &nics, const Topology &topology) {
  std::vector<std::vector<Rank>> ranks(nics.size());
  for (uint32_t r = 0; r < topology.numRanks(); ++r) {
    Threads own{topology.place(Rank{r}).pu};
    std::vector<uint32_t> distances;
    for (const Nic &nic : nics)
      distances.push_back(distance(nic, own));
    uint32_t least = *std::min_element(distances.begin(), distances.end());
    for (size_t nic = 0; nic < nics.size(); ++nic)
      if (distances[nic] == least)
        ranks[nic].push_back(Rank{r});
  }
  return ranks;
}

/// Prints the network interfaces of a machine that hwloc describes; other descriptions have none.
void printNics(llvm::StringRef description, const Topology &topology) {
  llvm::SmallVector<llvm::StringRef> words;
  description.split(words, ' ', -1, false);
  for (llvm::StringRef word : words) {
    if (word != "local" && !word.ends_with(".xml"))
      continue;
    Result<std::vector<Nic>> nics = discoverNics(word == "local" ? "" : word.str());
    if (!nics || nics->empty())
      return;
    std::vector<std::vector<Rank>> ranks = nearestTo(*nics, topology);
    resultStream()
        << "\nnuma  network interface next to it, and the ranks that none is nearer to\n";
    for (size_t i = 0; i < nics->size(); ++i)
      resultStream() << llvm::right_justify(std::to_string((*nics)[i].numa), 4) << "  "
                     << (*nics)[i].name << "  " << membersWord(ranks[i]) << "\n";
  }
}

} // namespace

Exit topoCommand(Arguments arguments) {
  TopoSettings settings;
  Options options("topo", "[OPTION...]",
                  "Shows where the ranks of a job sit: the groups of each level with their\n"
                  "leaders, and how far ranks are apart.");
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (!options.operands().empty())
    return options.refuse("takes no operands; a machine is named with --topology");
  if (settings.json && settings.dot)
    return options.refuse("--dot and --json exclude each other");
  Result<uint32_t> ranks = settings.numRanks();
  if (ranks && settings.json && *ranks > kJsonRanks)
    return options.refuse("--json tells the distances of all pairs, of at most " +
                          std::to_string(kJsonRanks) + " ranks");
  Result<Topology> topology =
      ranks ? Topology::make(settings.topology, *ranks) : Result<Topology>(ranks.status());
  if (!topology) {
    printError(topology.status().diagnostic());
    return Exit::Failure;
  }
  if (settings.json) {
    printAll(*topology);
    return Exit::Success;
  }
  if (settings.dot) {
    Drawing(*topology).print();
    return Exit::Success;
  }
  printGroups(*topology);
  if (topology->numRanks() <= kMatrixRanks) {
    resultStream() << "\n";
    printDistances(*topology);
  }
  printNics(settings.topology, *topology);
  return Exit::Success;
}

} // namespace colldsl::tools
