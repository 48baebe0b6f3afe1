/// The text that describes a machine and the binding of ranks to it; its grammar stands at
/// Topology::make().
#pragma once

#include "topology/Binding.h"
#include "topology/NodeTable.h"

#include <memory>
#include <optional>

namespace colldsl {

struct Spec {
  bool flat = false; ///< machine and binding mean nothing
  Machine machine;
  RankBinding binding;
  std::shared_ptr<const NodeTable> nodes; ///< of nodes=FILE; null: not given
  std::vector<Place> threads;             ///< of each named node; empty: a core for each rank on it
};

Result<Spec> parseSpec(std::string_view description);

/// Variant of the machine whose nodes are these hosts, as hosts=LIST has them.
Result<Spec> withHosts(const Spec &spec, std::string_view hosts);

/// Places so many ranks, of which there must be one at least.
Result<Topology> placeRanks(const Spec &spec, uint32_t numRanks);

/// The number of ranks that have a hardware thread of their own there, or an entry of the list that
/// they are bound to. Nothing: flat, which has room for any number.
std::optional<uint64_t> ranksThatFit(const Spec &spec);
Result<std::optional<uint64_t>> ranksThatFit(std::string_view description);

} // namespace colldsl
