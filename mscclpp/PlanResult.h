/// The result that a collective promises, by its name in a plan.
#pragma once

#include "ir/Result.h"
#include "mscclpp/PlanMemory.h"
#include "mscclpp/PlanValues.h"

#include <functional>

namespace colldsl::mscclpp {

class Contract {
public:
  /// An error if the numbers of chunks do not fit the collective. One that is not known, such as
  /// `custom`, promises nothing.
  static Result<Contract> of(const Plan &plan);

  bool promisesNothing() const { return kind_ == Kind::Nothing; }
  /// The value that a cell of output has after a launch. `root` is of broadcast.
  Value expected(Values &values, uint32_t launch, uint32_t gpu, uint32_t chunk, uint32_t part,
                 uint32_t perChunk, uint32_t root) const;
  /// True if each rank may be the root, and one of them must be.
  bool hasRoot() const { return kind_ == Kind::Broadcast; }

private:
  enum class Kind : uint8_t {
    Nothing,
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    SendRecv,
    Broadcast
  };

  Kind kind_ = Kind::Nothing;
  uint32_t numGpus_ = 0;
  uint32_t share_ = 0; ///< chunks of one rank
};

} // namespace colldsl::mscclpp
