/// The machine models that come with colldsl, topology/models/, for processes that have no other.
#pragma once

#include "topology/MachineModel.h"

namespace colldsl {

enum class KnownModel : uint8_t {
  Cluster,  ///< a network that moves bytes without the processor
  Ethernet, ///< one behind the network stack of a kernel
};

const MachineModel &knownModel(KnownModel model);

} // namespace colldsl
