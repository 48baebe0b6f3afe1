/// Port graphs to color, and the question whether they are colored, answered independently of
/// how colorings are made.
#pragma once

#include "instantiate/graphs/coloring/PortGraph.h"

#include <string>

namespace colldsl {

struct NamedGraph {
  std::string name;
  PortGraph graph;
};

/// Random, regular, power-law, hot spots, stars, complete, parallel edges, self loops, empty.
std::vector<NamedGraph> graphsToColor();

/// Each of `ports` ports has so many edges, to ports drawn at random.
PortGraph randomGraph(uint32_t ports, uint32_t degree, uint64_t seed);

/// Degrees fall as a power of the port's number.
PortGraph powerLawGraph(uint32_t ports, size_t edges, uint64_t seed);

/// Empty, or two edges that are in one round at one port.
std::string clash(const PortGraph &graph, const std::vector<uint32_t> &color);

} // namespace colldsl
