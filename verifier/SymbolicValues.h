/// Symbolic values of bytes. A node is an endless line of bytes: the entry contents of a buffer, or
/// two lines combined element by element. A value is a place on such a line, so cutting an interval
/// in two needs no new node.
///
/// Nodes are hash-consed: equal lines have one id, whichever op computed them. To that end a
/// combine counts positions as its left operand does, and remembers how far its right
/// operand is shifted: node(q) = left(q) op right(q + rightShift).
///
/// Example: combining x[8..16]@1 into y[0..8] that holds x[0..8]@0 gives the node
/// {left x@0, right x@1, rightShift 8}, at position 0.
#pragma once

#include "verifier/Model.h"

#include <unordered_map>
#include <vector>

namespace colldsl::proof {

enum class NodeId : uint32_t {};
constexpr uint32_t index(NodeId n) { return static_cast<uint32_t>(n); }
/// Bytes of unknown value after a reported failure; they cause no further failures.
inline constexpr NodeId kUnknown{0};

struct Node {
  enum class Kind : uint8_t { Unknown, Entry, Combine };
  Kind kind = Kind::Unknown;
  Reduction reduction = Reduction::Sum; ///< Combine
  ElementType type = ElementType::I32;  ///< Combine
  uint8_t phase = 0;         ///< Combine: elements begin at positions == phase modulo their size
  Rank rank = kNoRank;       ///< Entry
  BufferId root = kNoBuffer; ///< Entry; positions count its bytes
  NodeId left = kUnknown;    ///< Combine
  NodeId right = kUnknown;   ///< Combine
  int64_t rightShift = 0;    ///< Combine
  Vertex maker = kNoVertex;  ///< Combine: the first op that made it; no part of its identity
};

struct Value {
  NodeId node = kUnknown;
  uint64_t position = 0;
  Value tail(uint64_t skip) const { return {node, position + skip}; }
};

/// Consecutive bytes of one value, in a message.
struct Piece {
  Value value;
  uint64_t length = 0;
};

/// An operand of a combine tree: node at position q of the tree's root is at q + shift.
struct Leaf {
  NodeId node;
  int64_t shift;
  bool operator==(const Leaf &) const = default;
  auto operator<=>(const Leaf &) const = default;
};

/// phase, size > 0: the phase of a line that is read `shift` further on.
uint8_t shiftedPhase(uint64_t phase, int64_t shift, uint32_t sizeBytes);

class Values {
public:
  Values();

  const Node &operator[](NodeId id) const { return nodes_[index(id)]; }

  NodeId entry(Rank rank, BufferId root);
  /// Elements of `type` that begin where the operands begin.
  Value combine(Reduction reduction, ElementType type, Value left, Value right, Vertex maker);

  /// True if node `id` combines by this operator and type, with the same phase of elements.
  bool isCombine(NodeId id, Reduction reduction, ElementType type, uint8_t phase) const;

  /// The operands of the tree of combines by one operator at `root`, in order, at most `most`;
  /// anything else (entries, other operators, elements cut differently) is a leaf.
  std::vector<Leaf> leaves(NodeId root, Reduction reduction, ElementType type, uint8_t phase,
                           size_t most) const;

private:
  struct Hash {
    size_t operator()(const Node &node) const;
  };
  struct Same {
    bool operator()(const Node &a, const Node &b) const;
  };
  NodeId intern(const Node &node);

  std::vector<Node> nodes_;
  std::unordered_map<Node, NodeId, Hash, Same> ids_;
};

} // namespace colldsl::proof
