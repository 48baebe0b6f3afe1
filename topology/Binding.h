/// The binding of ranks to hardware threads.
#pragma once

#include "topology/Machine.h"

namespace colldsl {

struct RankBinding {
  enum class Order : uint8_t { Core, Scatter, List, Nodes };
  Order order = Order::Core;
  std::vector<uint32_t> cores; ///< List: a core of the machine per rank
  std::vector<uint32_t> nodes; ///< Nodes: the node of each rank, whose next thread it takes
  bool oversubscribe = false;
};

/// The number of ranks that need not share a hardware thread, or an entry of the list.
uint64_t room(const Machine &machine, const RankBinding &binding);

/// One place per rank. An error: there are more ranks than threads, or than entries of the list,
/// and binding.oversubscribe is off.
Result<std::vector<Place>> bindRanks(const Machine &machine, const RankBinding &binding,
                                     uint32_t numRanks);

} // namespace colldsl
