/// The text that describes a machine and how ranks are bound to it; its grammar is
/// told at Topology::make().
#pragma once

#include "topology/Binding.h"

namespace colldsl {

struct Spec {
  bool flat = false; ///< machine and binding mean nothing
  Machine machine;
  RankBinding binding;
};

Result<Spec> parseSpec(std::string_view description);

} // namespace colldsl
