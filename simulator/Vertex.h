/// The event loop's record of one op: 24 bytes, so that a million ranks fit into memory.
#pragma once

#include "ir/Ids.h"

#include <cstdint>

namespace colldsl::sim {

/// The way in which a message travels, as far as times depend on it; docs/simulator.md has the
/// rules.
enum class Way : uint8_t {
  Usual,         ///< LogGOP: long messages finish their send when they meet their receive
  Eager,         ///< as Usual for short messages, however long
  Rendezvous,    ///< as Usual for long messages, however short
  Reader,        ///< the receiver copies
  Writer,        ///< the sender copies
  Flagged,       ///< static: written by the sender's interface, and then a flag
  Canary,        ///< static without a flag
  FlaggedAtOnce, ///< as Flagged, but other ops announce that the receiver is ready
  CanaryAtOnce,
};

constexpr bool isMovedByOne(Way way) { return way >= Way::Reader; }
constexpr bool isStatic(Way way) { return way >= Way::Flagged; }
constexpr bool hasFlag(Way way) { return way == Way::Flagged || way == Way::FlaggedAtOnce; }
/// The send moves no data before its receive has started.
constexpr bool awaitsReceive(Way way) {
  return way == Way::Writer || way == Way::Flagged || way == Way::Canary;
}

/// In the order in which the loop starts ops that become free together.
enum class VertexKind : uint8_t { Send, Recv, Calc };

inline constexpr uint32_t kNoVertex = 0xffffffffu;

/// Successors are mostly neighbours: then they are a run of vertices, else a list.
inline constexpr uint8_t kIsList = 0xff;

/// The number of ranks that are packed together. If they are about equally long, their first ops
/// stand beside each other, then their second ones, and so on: ranks that do the same at the same
/// time are then neighbours in memory.
inline constexpr uint32_t kStride = 64;

struct Vertex {
  uint32_t partner; ///< the message's other end; kNoVertex: none yet. Matched by tag: the tag
  uint32_t peer;    ///< the other end's rank; kNoRank: any
  uint32_t amount;  ///< bytes of the message, ns of the calc; isWide: an index into `wide`
  /// A run: how far behind this vertex its first one is, in vertices of all ranks; all of
  /// them require this vertex. A list: where it begins in `lists`: how many require, how many
  /// irequire, and then how far behind this vertex each of them is.
  uint32_t successors;
  uint32_t open : 23;     ///< dependencies that are yet to be met
  uint32_t isStrided : 1; ///< the next op of this rank is kStride vertices behind, not one
  Way way : 4;            ///< of a message, the same at both ends
  uint32_t distance : 4;  ///< of sender and receiver, see Topology::distance()
  VertexKind kind : 2;
  uint8_t isWide : 1;
  uint8_t isByTag : 1;  ///< meets its other end when it runs, by rank and tag
  uint8_t isAnyTag : 1; ///< by tag: the tag does not matter
  uint8_t isStarted : 1;
  uint8_t hasArrived : 1; ///< receive: the message is there; send: it awaits its receive
  uint8_t isCombine : 1;  ///< a calc that is a reduction
  uint8_t run;            ///< the number of successors in the run, or kIsList
  uint8_t cpu;
  uint8_t nic;
};
static_assert(sizeof(Vertex) == 24);

constexpr uint32_t strideOf(const Vertex &v) { return v.isStrided ? kStride : 1; }

inline constexpr uint64_t kMaxVertices = uint64_t{1} << 31;
inline constexpr uint32_t kMaxIndegree = (1u << 23) - 1;

} // namespace colldsl::sim
