#include "verifier/ValueNames.h"

namespace colldsl::proof {
namespace {

constexpr unsigned kMaxDepth = 3;     // operators within operators
constexpr size_t kMaxOperands = 1024; // looked at; listed() shows fewer
constexpr size_t kMaxTreeLeaves = 32;

} // namespace

std::string ValueNames::value(Value value, uint64_t length) const {
  return nested(value, length, 0);
}

std::string ValueNames::leaf(const Leaf &leaf, uint64_t position, uint64_t length) const {
  return nested({leaf.node, position + leaf.shift}, length, 1);
}

std::string ValueNames::reduction(Reduction reduction, const std::vector<Leaf> &leaves,
                                  uint64_t position, uint64_t length) const {
  return operands(reduction, leaves, position, length, 0);
}

std::string ValueNames::nested(Value value, uint64_t length, unsigned depth) const {
  const Node &node = values_[value.node];
  switch (node.kind) {
  case Node::Kind::Unknown:
    return "unknown bytes";
  case Node::Kind::Entry:
    return names_.entry(node.rank, node.root, value.position, value.position + length);
  case Node::Kind::Combine:
    break;
  }
  if (depth >= kMaxDepth)
    return "a " + std::string(spelling(node.reduction));
  auto leaves = values_.leaves(value.node, node.reduction, node.type, node.phase, kMaxOperands);
  std::string text = operands(node.reduction, leaves, value.position, length, depth);
  return depth == 0 ? text : "(" + text + ")";
}

/// If only the ranks differ, the bytes are named once.
std::string ValueNames::operands(Reduction reduction, const std::vector<Leaf> &leaves,
                                 uint64_t position, uint64_t length, unsigned depth) const {
  std::vector<std::string> items, ranks;
  std::string common;
  bool alike = true;
  for (const Leaf &leaf : leaves) {
    items.push_back(nested({leaf.node, position + leaf.shift}, length, depth + 1));
    size_t at = items.back().rfind('@');
    alike &= values_[leaf.node].kind == Node::Kind::Entry && at != std::string::npos;
    if (!alike)
      continue;
    if (ranks.empty())
      common = items.back().substr(0, at);
    alike &= common == items.back().substr(0, at);
    ranks.push_back(items.back().substr(at + 1));
  }
  std::string of = std::string(spelling(reduction)) + " of ";
  return alike && ranks.size() > 1 ? of + common + " at ranks " + listed(ranks)
                                   : of + listed(items);
}

std::string ValueNames::tree(NodeId root) const {
  const Node &top = values_[root];
  if (top.kind == Node::Kind::Entry)
    return peerWord(top.rank);
  if (top.kind == Node::Kind::Unknown)
    return "?";
  auto leaves = values_.leaves(root, top.reduction, top.type, top.phase, kMaxTreeLeaves + 1);
  if (leaves.size() > kMaxTreeLeaves)
    return "a tree of more than " + counted(kMaxTreeLeaves, "operand");
  return "(" + tree(top.left) + " " + tree(top.right) + ")";
}

} // namespace colldsl::proof
