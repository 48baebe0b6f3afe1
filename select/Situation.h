/// The facts of a call by which rules choose a collective for its function.
#pragma once

#include "ir/Vocabulary.h"
#include "topology/Topology.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace colldsl {

struct Situation {
  std::string_view function;
  uint32_t ranks = 1;
  /// The size of n elements, or of the mean block if the call has the lengths as values.
  uint64_t bytes = 0;
  uint32_t nodes = 1;
  uint32_t perNode = 1; ///< ranks of the node that has most
  ElementType type = ElementType::I32;
  bool commutative = true;
  bool oversubscribed = false; ///< on one node, with fewer cores than ranks of the job
  bool multicast = false;      ///< the network of the ranks sends to several at once
  bool tcp = false;            ///< the kernel moves messages between nodes, over TCP or UDP

  /// The part that follows from the ranks' places. `sharesCores`: the ranks run, and some of this
  /// rank's node share a core. The caller sets the rest.
  static Situation on(const Topology &topology, bool sharesCores);

  /// The bytes of all ranks; at most UINT64_MAX.
  uint64_t total() const {
    return bytes > UINT64_MAX / std::max(ranks, 1u) ? UINT64_MAX : bytes * ranks;
  }

  /// "8 ranks on 2 nodes, 65536 bytes of i32"; the operator, the cores and the
  /// network if they are not usual.
  std::string words() const;
};

/// True if the operator commutes; true without one, as most do.
bool commutes(std::optional<Reduction> op);

} // namespace colldsl
