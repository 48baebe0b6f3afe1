/// The machine models that come with colldsl, topology/models/: by name, and for processes that
/// have no other.
#pragma once

#include "topology/MachineModel.h"

#include <span>
#include <string_view>

namespace colldsl {

enum class KnownModel : uint8_t {
  Cluster,  ///< a network that moves bytes without the processor
  Ethernet, ///< one behind the network stack of a kernel
  Flat,     ///< all pairs of ranks alike
};

const MachineModel &knownModel(KnownModel model);

/// The names of all known models, as their files are called: "cluster".
std::span<const std::string_view> knownModelNames();
/// The model of that name, or null if there is none.
const MachineModel *findKnownModel(std::string_view name);

} // namespace colldsl
