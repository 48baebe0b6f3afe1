#include "verifier/Contributions.h"

#include <algorithm>
#include <map>
#include <set>

namespace colldsl::proof {
namespace {

size_t countIn(const std::vector<Leaf> &sorted, const Leaf &leaf) {
  auto range = std::equal_range(sorted.begin(), sorted.end(), leaf);
  return range.second - range.first;
}

std::vector<Leaf> distinct(std::vector<Leaf> sorted) {
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

/// All (node, shift) of the tree, each once. Operands of a node are older, so they come before it.
std::set<Leaf> subtrees(const Values &values, NodeId root) {
  std::set<Leaf> seen;
  std::vector<Leaf> open{{root, 0}};
  while (!open.empty()) {
    Leaf at = open.back();
    open.pop_back();
    const Node &node = values[at.node];
    if (!seen.insert(at).second || node.kind != Node::Kind::Combine)
      continue;
    open.push_back({node.left, at.shift});
    open.push_back({node.right, at.shift + node.rightShift});
  }
  return seen;
}

} // namespace

LeafDifference compareLeaves(std::vector<Leaf> found, std::vector<Leaf> promised) {
  std::sort(found.begin(), found.end());
  std::sort(promised.begin(), promised.end());
  LeafDifference difference;
  for (const Leaf &leaf : distinct(found)) {
    size_t expected = countIn(promised, leaf);
    if (expected == 0)
      difference.foreign.push_back(leaf);
    else if (countIn(found, leaf) > expected)
      difference.doubled.push_back(leaf);
  }
  for (const Leaf &leaf : distinct(promised))
    if (countIn(found, leaf) < countIn(promised, leaf))
      difference.missing.push_back(leaf);
  return difference;
}

Vertex bringerOfSecond(const Values &values, NodeId root, const Leaf &leaf) {
  std::map<Leaf, unsigned> count;
  for (const Leaf &at : subtrees(values, root)) {
    const Node &node = values[at.node];
    if (node.kind != Node::Kind::Combine) {
      count[at] = at == leaf;
      continue;
    }
    unsigned both = count[{node.left, at.shift}] + count[{node.right, at.shift + node.rightShift}];
    if (both >= 2)
      return node.maker;
    count[at] = both;
  }
  return kNoVertex;
}

} // namespace colldsl::proof
