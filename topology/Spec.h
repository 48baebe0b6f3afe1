/// The text that describes a machine and how ranks are bound to it; its grammar is
/// told at Topology::make().
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

/// How many ranks have a hardware thread of their own there, or an entry of the list that they are
/// bound to. Nothing: flat, which has room for any number.
Result<std::optional<uint64_t>> ranksThatFit(std::string_view description);

} // namespace colldsl
