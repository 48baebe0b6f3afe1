#include "tests/passes/Graphs.h"

#include <cmath>
#include <random>
#include <set>
#include <tuple>

namespace colldsl {

PortGraph randomGraph(uint32_t ports, uint32_t degree, uint64_t seed) {
  std::mt19937_64 engine(seed);
  PortGraph graph{ports, ports, {}, {}};
  for (uint32_t port = 0; port < ports; ++port)
    for (uint32_t i = 0; i < degree; ++i)
      graph.add(port, static_cast<uint32_t>(engine() % ports));
  return graph;
}

PortGraph powerLawGraph(uint32_t ports, size_t edges, uint64_t seed) {
  std::mt19937_64 engine(seed);
  auto draw = [&] {
    double u = static_cast<double>(engine() >> 11) / static_cast<double>(uint64_t{1} << 53);
    return static_cast<uint32_t>(ports * u * u * u) % ports;
  };
  PortGraph graph{ports, ports, {}, {}};
  for (size_t i = 0; i < edges; ++i) {
    uint32_t from = draw();
    graph.add(from, draw());
  }
  return graph;
}

namespace {

PortGraph complete(uint32_t ports, bool withLoops) {
  PortGraph graph{ports, ports, {}, {}};
  for (uint32_t a = 0; a < ports; ++a)
    for (uint32_t b = 0; b < ports; ++b)
      if (a != b || withLoops)
        graph.add(a, b);
  return graph;
}

PortGraph star(uint32_t ports, bool outward) {
  PortGraph graph{ports, ports, {}, {}};
  for (uint32_t leaf = 1; leaf < ports; ++leaf)
    graph.add(outward ? 0 : leaf, outward ? leaf : 0);
  return graph;
}

PortGraph parallel(uint32_t edges) {
  PortGraph graph{2, 2, {}, {}};
  for (uint32_t i = 0; i < edges; ++i) {
    graph.add(0, 1);
    graph.add(1, i % 2);
    graph.add(i % 2, 0);
  }
  return graph;
}

PortGraph hotSpots(uint32_t ports) {
  PortGraph graph = randomGraph(ports, 2, 5);
  for (uint32_t i = 0; i < ports; ++i) {
    graph.add(3, i);
    graph.add(i, 7 % ports);
  }
  return graph;
}

} // namespace

std::vector<NamedGraph> graphsToColor() {
  std::vector<NamedGraph> graphs{
      {"nothing", {}},
      {"ports without edges", {4, 9, {}, {}}},
      {"a self loop", {1, 1, {0}, {0}}},
      {"three self loops", {1, 1, {0, 0, 0}, {0, 0, 0}}},
      {"all to all", complete(13, false)},
      {"all to all and oneself", complete(16, true)},
      {"scatter", star(40, true)},
      {"gather", star(40, false)},
      {"parallel edges", parallel(7)},
      {"hot spots", hotSpots(60)},
      {"power law", powerLawGraph(500, 6000, 3)},
  };
  for (uint32_t seed = 0; seed < 60; ++seed) {
    uint32_t ports = 1 + seed * 7 % 50, degree = 1 + seed % 11;
    graphs.push_back({"random " + std::to_string(seed), randomGraph(ports, degree, seed)});
  }
  return graphs;
}

std::string clash(const PortGraph &graph, const std::vector<uint32_t> &color) {
  std::set<std::tuple<bool, uint32_t, uint32_t>> taken; // side, port, round
  for (size_t e = 0; e < graph.numEdges(); ++e)
    for (bool atSender : {true, false}) {
      uint32_t port = atSender ? graph.from[e] : graph.to[e];
      if (!taken.insert({atSender, port, color[e]}).second)
        return "edge " + std::to_string(e) + ": " + (atSender ? "send" : "receive") + " port " +
               std::to_string(port) + " has round " + std::to_string(color[e]) + " already";
    }
  return {};
}

} // namespace colldsl
