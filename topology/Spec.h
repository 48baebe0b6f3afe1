/// The text that describes a machine and the binding of ranks to it; its grammar stands at
/// Topology::make().
#pragma once

#include "topology/Binding.h"

#include <optional>

namespace colldsl {

struct Spec {
  bool flat = false; ///< machine and binding mean nothing
  Machine machine;
  RankBinding binding;
};

Result<Spec> parseSpec(std::string_view description);

/// The number of ranks that have a hardware thread of their own there, or an entry of the list that
/// they are bound to. Nothing: flat, which has room for any number.
Result<std::optional<uint64_t>> ranksThatFit(std::string_view description);

} // namespace colldsl
