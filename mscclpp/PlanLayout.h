/// The bytes of a plan for one length of message, as the executor lays them out: `setupOperation()`
/// and `getOffset()` in MSCCL++'s execution_plan.cc, `getOffset()` in execution_kernel.hpp.
#pragma once

#include "ir/Result.h"
#include "mscclpp/ExecutionPlan.h"

#include <optional>

namespace colldsl::mscclpp {

/// Bytes of a buffer.
struct Piece {
  uint64_t offset = 0, length = 0;
};

/// The part of its ranges that an op moves: in a pipeline the unit of an iteration.
struct Unit {
  uint64_t begin = 0, length = ~0ULL;
  bool isWhole() const { return length == ~0ULL; }
};

/// The bytes that a chunk of scratch has in a plan with reuse_resources, however long messages are.
uint64_t reusedScratchChunkBytes(const Plan &plan, uint32_t scratchChunks);

class PlanLayout {
public:
  /// `messageBytes` is the length that the executor compares with the plan's limits: of the input,
  /// and for allgather of the output, of GPU 0. An error: it is beyond these limits, no multiple of
  /// what the plan divides it into, too long for the numbers that the executor keeps, or such that
  /// an op reaches beyond a buffer.
  static Result<PlanLayout> of(const Plan &plan, uint64_t messageBytes);

  /// The length that is nearest to `bytes` among those that of() takes; nothing if none is.
  static std::optional<uint64_t> nearestBytes(const Plan &plan, uint64_t bytes);

  uint64_t messageBytes() const { return messageBytes_; }
  uint64_t chunkBytes() const { return chunkBytes_; }
  /// The length of a buffer; scratch counts with both halves of a double one.
  uint64_t bufferBytes(uint32_t gpu, Buffer buffer) const;
  /// The offset of the second half of a double scratch buffer.
  uint64_t scratchHalf(uint32_t gpu) const { return bufferBytes(gpu, Buffer::Scratch) / 2; }

  /// The part of a range on one of its GPUs that the op's threadblock serves, as payload; packets
  /// take the double of both numbers.
  Piece piece(const Op &op, const ChunkRange &range, uint32_t gpu, const Unit &unit) const;
  uint64_t numIterations(const Op &pipeline) const;
  Unit unitOf(const Op &pipeline, uint64_t iteration) const {
    return {iteration * pipeline.unitBytes, pipeline.unitBytes};
  }

private:
  explicit PlanLayout(const Plan &plan) : plan_(&plan) {}
  bool reusesScratch(uint32_t gpu) const;
  uint64_t boundary(uint64_t bytes, uint32_t slice, uint32_t slices) const;
  Status checkLengths() const;
  Status checkOp(const Op &op, const std::string &place) const;
  Status checkRanges(const Op &op, const Unit &unit, const std::string &place) const;

  const Plan *plan_;
  uint64_t messageBytes_ = 0, chunkBytes_ = 0;
};

} // namespace colldsl::mscclpp
