/// Recognizes the collective of MSCCL that a schedule is. Internal to formats.
#pragma once

#include "formats/Msccl.h"
#include "formats/MscclChunks.h"

namespace colldsl::msccl {

/// The roles of a schedule's parameters in a collective of MSCCL.
struct Signature {
  Collective collective = Collective::Custom;
  bool inPlace = false;
  BufferId input = kNoBuffer;  ///< with the storage of its own or another's
  BufferId output = kNoBuffer; ///< the same one: a parameter that is both
  uint32_t inputChunks = 0;    ///< as MSCCL counts them: of one rank's part of an allgather
  uint32_t outputChunks = 0;
  uint32_t chunksPerLoop = 0;
  uint32_t root = 0; ///< of a broadcast, a reduce
};

/// Compares the promises of each rank with those of each collective. An error: parameters that are
/// not one input and one output, or that no collective has.
Result<Signature> signatureOf(const Schedule &schedule, const Chunks &chunks);

} // namespace colldsl::msccl
