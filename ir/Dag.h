/// The dependency DAG of one rank. Acyclic by construction: add() takes edges to
/// older ops only; a pass that reorders builds a new Dag.
#pragma once

#include "ir/Contract.h"
#include "ir/Slice.h"
#include "ir/Transfer.h"

#include <span>
#include <vector>

namespace colldsl {

enum class DepKind : uint8_t {
  Requires,  ///< starts after the other finished
  IRequires, ///< starts after the other started
};

struct Dep {
  OpId op;
  DepKind kind = DepKind::Requires;
  bool operator==(const Dep &) const = default;
};

/// A vertex. Send reads its sources; Recv writes its targets, in the order of the
/// list; Copy and Combine read sources and write targets of equal total length
/// (Combine reads its targets too). Signal, Wait and Calc touch nothing.
struct Op {
  OpKind kind = OpKind::Calc;
  Side side = Side::After;              ///< Combine
  Reduction reduction = Reduction::Sum; ///< Combine
  ElementType type = ElementType::I32;  ///< Combine
  Rank peer = kNoRank;                  ///< messages
  MessageId message{0};                 ///< messages
  uint32_t sourceBegin = 0;             ///< into Dag::slices
  uint32_t sourceCount = 0;
  uint32_t targetBegin = 0;
  uint32_t targetCount = 0;
  uint64_t amount = 0; ///< Calc: nanoseconds. Send, Recv without slices (plain GOAL): bytes
  SourceLoc loc;
  uint32_t depBegin = 0; ///< into Dag::deps
  uint32_t depCount = 0;
  uint8_t cpu = 0; ///< GOAL's processor and network interface numbers
  uint8_t nic = 0;
  Transfer transfer; ///< Send, Recv
};

class Dag {
public:
  std::vector<Op> ops;
  std::vector<Dep> deps;
  std::vector<Slice> slices;
  std::vector<Buffer> buffers;
  Contract contract;

  uint32_t size() const { return static_cast<uint32_t>(ops.size()); }
  const Op &op(OpId id) const { return ops[index(id)]; }
  std::span<const Dep> depsOf(const Op &op) const {
    return {deps.data() + op.depBegin, op.depCount};
  }
  std::span<const Slice> sources(const Op &op) const {
    return {slices.data() + op.sourceBegin, op.sourceCount};
  }
  std::span<const Slice> targets(const Op &op) const {
    return {slices.data() + op.targetBegin, op.targetCount};
  }
  const Buffer &bufferOf(const Slice &slice) const { return buffers[index(slice.buffer)]; }

  /// Appends an op; its slice lists and deps are the arguments, and the corresponding fields of
  /// `op` are ignored. Every dep must name an older op.
  OpId add(Op op, std::span<const Slice> sources, std::span<const Slice> targets,
           std::span<const Dep> opDeps);
  BufferId addBuffer(const Buffer &buffer);

  /// Empties everything, keeps the memory.
  void clear();
};

/// Payload bytes of a message op (or of a copy, combine: bytes of its target).
uint64_t payloadBytes(const Dag &dag, const Op &op, const Sizes &sizes);

} // namespace colldsl
