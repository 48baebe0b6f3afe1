#include "verifier/SymbolicValues.h"

#include "verifier/SizeDecisions.h"

namespace colldsl::proof {

uint8_t shiftedPhase(uint64_t phase, int64_t shift, uint32_t sizeBytes) {
  int64_t size = sizeBytes;
  int64_t at = (static_cast<int64_t>(phase % sizeBytes) + shift % size + size) % size;
  return static_cast<uint8_t>(at);
}

size_t Values::Hash::operator()(const Node &node) const {
  uint64_t hash = 0;
  auto mix = [&hash](uint64_t part) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  };
  mix(uint64_t{index(node.left)} << 32 | index(node.right));
  mix(static_cast<uint64_t>(node.rightShift));
  mix(uint64_t{index(node.rank)} << 32 | index(node.root));
  mix(static_cast<uint64_t>(node.kind) << 24 | static_cast<uint64_t>(node.reduction) << 16 |
      static_cast<uint64_t>(node.type) << 8 | node.phase);
  return hash;
}

bool Values::Same::operator()(const Node &a, const Node &b) const {
  return a.kind == b.kind && a.reduction == b.reduction && a.type == b.type && a.phase == b.phase &&
         a.rank == b.rank && a.root == b.root && a.left == b.left && a.right == b.right &&
         a.rightShift == b.rightShift;
}

Values::Values() { nodes_.emplace_back(); }

NodeId Values::intern(const Node &node) {
  auto [it, isNew] = ids_.try_emplace(node, NodeId{static_cast<uint32_t>(nodes_.size())});
  if (isNew)
    nodes_.push_back(node);
  return it->second;
}

NodeId Values::entry(Rank rank, BufferId root) {
  Node node;
  node.kind = Node::Kind::Entry;
  node.rank = rank;
  node.root = root;
  return intern(node);
}

Value Values::combine(Reduction reduction, ElementType type, Value left, Value right,
                      Vertex maker) {
  if (left.node == kUnknown || right.node == kUnknown)
    return {};
  Node node;
  node.kind = Node::Kind::Combine;
  node.reduction = reduction;
  node.type = type;
  node.phase = static_cast<uint8_t>(left.position % sizeBytes(type));
  node.left = left.node;
  node.right = right.node;
  node.rightShift = static_cast<int64_t>(right.position - left.position);
  node.maker = maker;
  NodeId id = intern(node);
  Decisions::note(index(id));
  return {id, left.position};
}

bool Values::isCombine(NodeId id, Reduction reduction, ElementType type, uint8_t phase) const {
  const Node &node = nodes_[index(id)];
  return node.kind == Node::Kind::Combine && node.reduction == reduction && node.type == type &&
         node.phase == phase;
}

std::vector<Leaf> Values::leaves(NodeId root, Reduction reduction, ElementType type, uint8_t phase,
                                 size_t most) const {
  std::vector<Leaf> found;
  std::vector<Leaf> open{{root, 0}}; // a stack: trees may be as deep as there are ops
  while (!open.empty() && found.size() < most) {
    Leaf at = open.back();
    open.pop_back();
    if (!isCombine(at.node, reduction, type, shiftedPhase(phase, at.shift, sizeBytes(type)))) {
      found.push_back(at);
      continue;
    }
    const Node &node = nodes_[index(at.node)];
    open.push_back({node.right, at.shift + node.rightShift});
    open.push_back({node.left, at.shift});
  }
  return found;
}

} // namespace colldsl::proof
