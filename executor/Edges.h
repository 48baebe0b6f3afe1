/// The messages of one rank, grouped by the edges that carry them.
#pragma once

#include "ir/Image.h"
#include "protocol/Endpoint.h"

namespace colldsl {

struct Edges {
  std::vector<EdgeSpec> out; ///< sorted by peer
  std::vector<EdgeSpec> in;
  std::vector<MessageSlot> slots; ///< indexed by op; of ops that are messages with a peer

  /// Refuses two sends, or two receives, of one message.
  static Result<Edges> of(const RankView &view);
};

/// A message op without a peer does nothing.
inline bool travels(const ImageOp &op) { return isMessage(op.kind) && op.peer != kNoRank; }

} // namespace colldsl
