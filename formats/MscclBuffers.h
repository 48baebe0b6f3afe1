/// The buffers of an algorithm's collective, and the collective's promises about them. Internal to
/// formats.
#pragma once

#include "formats/Msccl.h"
#include "formats/MscclRange.h"

namespace colldsl::msccl {

/// Chunks of each gpu's input and output.
struct Extent {
  uint32_t input = 0;
  uint32_t output = 0;
};

/// The collective of an algorithm, as a schedule has it: x is the input, y the output;
/// n counts the elements of a chunk. In place one of them is a part of the other.
class CollectiveBuffers {
public:
  static constexpr BufferId kInput{0}, kOutput{1}, kScratch{2}, kIncoming{3};

  /// An error: numbers of chunks that do not fit the collective, or no root.
  static Result<CollectiveBuffers> of(const Algorithm &algorithm);

  /// x, y, the scratch buffer `s` and `incoming`, where messages wait for their
  /// reduction. Names are added to the schedule when the first rank's buffers are.
  void addTo(Schedule &schedule, uint32_t rank, uint32_t incomingChunks, ElementType type) const;

  /// The promises of the rank; it clobbers the other chunks of its parameters that are `written`,
  /// which have the storage that range() names. A custom collective has neither.
  Contract contract(uint32_t rank, std::vector<Range> written) const;
  bool hasContract() const { return algorithm_->collective != Collective::Custom; }

  /// The chunks that a step of this rank names; an error if they do not exist.
  Result<Range> range(uint32_t rank, Place place, uint32_t count) const;

private:
  explicit CollectiveBuffers(const Algorithm &algorithm) : algorithm_(&algorithm) {}
  Extent extent(uint32_t rank) const;
  uint32_t chunks(uint32_t rank, Memory memory) const;
  uint32_t share() const; ///< chunks of one rank's part of the larger buffer
  uint32_t ranks() const { return static_cast<uint32_t>(algorithm_->gpus.size()); }
  Status checkChunks() const;
  Status checkGpu(uint32_t rank) const;
  Status findRoot();
  void promiseAll(uint32_t rank, Contract &contract) const;
  template <typename Is> std::vector<uint32_t> ranksThat(Is is) const;

  const Algorithm *algorithm_;
  uint32_t root_ = 0;
};

} // namespace colldsl::msccl
