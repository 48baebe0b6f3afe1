/// The cells of all buffers of a plan. A cell is a part of a chunk whose elements all go the same
/// way, so that one element stands for it.
#pragma once

#include "ir/Result.h"
#include "mscclpp/ExecutionPlan.h"

namespace colldsl::mscclpp {

using Location = uint32_t;

/// The numbers of cells of a chunk, and of those that a chunk of scratch holds.
struct CellCounts {
  uint32_t perChunk = 1;
  uint32_t perScratchChunk = ~0U; ///< pipelines wrap around there
};

class Memory {
public:
  /// An error for a plan in place that does not say where its input lies.
  static Result<Memory> of(const Plan &plan, CellCounts counts);

  /// The cell of a payload. `half`: of a double scratch buffer.
  Location cell(uint32_t gpu, Buffer buffer, uint32_t chunk, uint32_t offset, uint32_t half) const;
  Location packet(uint32_t gpu, uint32_t chunk, uint32_t offset, uint32_t half) const;
  /// The cells of scratch in an iteration of a pipeline.
  Location wrapped(uint32_t gpu, Buffer buffer, uint32_t chunk, uint32_t offset,
                   uint32_t half) const;

  uint32_t perChunk() const { return counts_.perChunk; }
  uint32_t size() const { return size_; }
  uint32_t gpuOf(Location location) const;
  /// "gpu 1 scratch[3]", with the part of the chunk if it has several.
  std::string describe(Location location) const;

private:
  struct Part {
    uint32_t gpu;
    Buffer buffer;
    bool packets;
    uint32_t half;
    uint32_t first, count; ///< locations
    uint32_t perChunk;
  };
  struct Bases {
    uint32_t input = 0, output = 0;
    uint32_t scratch[2] = {0, 0}, packets[2] = {0, 0};
  };
  const Part *partOf(Location location) const;
  uint32_t add(uint32_t gpu, Buffer buffer, bool packets, uint32_t half, uint32_t chunks,
               uint32_t perChunk);
  Status place(const Plan &plan, uint32_t gpu);

  CellCounts counts_;
  uint32_t scratchStride_ = 1;
  uint32_t size_ = 0;
  std::vector<Part> parts_;
  std::vector<Bases> bases_;
};

} // namespace colldsl::mscclpp
