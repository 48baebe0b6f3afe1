/// Numbers of the binary form of GOAL. Internal to formats.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace colldsl {

static_assert(std::endian::native == std::endian::little, "the file is little endian");

inline constexpr uint64_t kGoalMagicBytes = 8;   ///< offsets in the table count from behind them
inline constexpr uint64_t kGoalHeaderBytes = 14; ///< magic, ranks u32, largest cpu u8, nic u8
inline constexpr uint64_t kGoalTableBytes = 16;  ///< per rank: begin u64, end u64
inline constexpr uint64_t kGoalRankBytes = 8;    ///< nodes u32, roots u32
inline constexpr uint64_t kGoalNodeBytes = 39;
inline constexpr uint64_t kGoalIndexBytes = 4; ///< of a root, of a successor

enum class GoalNodeType : uint8_t { Send = 1, Recv = 2, Calc = 3 };

/// A node as the file has it, field by field in this order, without padding.
struct GoalNode {
  uint32_t indegree = 0; ///< edges of either kind that lead here
  uint8_t type = 0;
  uint32_t peer = 0;
  uint64_t size = 0;
  uint32_t tag = 0;
  uint8_t cpu = 0;
  uint8_t nic = 0;
  uint32_t requireCount = 0; ///< successors that wait for this node's end
  uint32_t requireBegin = 0; ///< into the rank's list of successors
  uint32_t irequireCount = 0;
  uint32_t irequireBegin = 0;
};

/// Calls visit(field) for each field of a node in the order of the file.
template <typename Node, typename Visit> void forEachField(Node &node, Visit visit) {
  visit(node.indegree);
  visit(node.type);
  visit(node.peer);
  visit(node.size);
  visit(node.tag);
  visit(node.cpu);
  visit(node.nic);
  visit(node.requireCount);
  visit(node.requireBegin);
  visit(node.irequireCount);
  visit(node.irequireBegin);
}

/// The number at a place of the file, which need not be aligned.
template <typename T> T readNumber(const std::byte *at) {
  T number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

} // namespace colldsl
