#include "topology/Machine.h"

#include <algorithm>

namespace colldsl {

Machine::Machine(uint32_t nodes, std::vector<Place> pusOfNode, std::vector<OuterLevel> outer)
    : nodes_(nodes), pus_(std::move(pusOfNode)), outer_(std::move(outer)) {
  for (const Place &pu : pus_) {
    perNode_.board = std::max(perNode_.board, pu.board + 1);
    perNode_.socket = std::max(perNode_.socket, pu.socket + 1);
    perNode_.numa = std::max(perNode_.numa, pu.numa + 1);
    perNode_.cache = std::max(perNode_.cache, pu.cache + 1);
    firstPu_.resize(pu.core + 2, firstPu_.back());
    ++firstPu_.back();
  }
}

Place Machine::place(uint32_t node, uint32_t puOfNode) const {
  Place place = pus_[puOfNode];
  place.node = node;
  place.leafSwitch = outer_.empty() ? 0 : outer_.back().groupOfNode[node];
  place.board += node * perNode_.board;
  place.socket += node * perNode_.socket;
  place.numa += node * perNode_.numa;
  place.cache += node * perNode_.cache;
  place.core += node * coresPerNode();
  return place;
}

} // namespace colldsl
