/// The messages of one rank, grouped by the edges that carry them.
#pragma once

#include "ir/Image.h"
#include "protocol/Endpoint.h"

#include <functional>
#include <optional>

namespace colldsl {

struct Edges {
  std::vector<EdgeSpec> out; ///< sorted by peer
  std::vector<EdgeSpec> in;
  std::vector<MessageSlot> slots; ///< indexed by op; of ops that are messages with a peer
  /// Indexed by op: the answer to the message of a send, or to that of a receive. Empty, or of ops
  /// without an answer: none.
  std::vector<std::optional<MessageSlot>> answers;

  /// Refuses two sends, or two receives, of one message. A message for which isAnswered(op) is
  /// true, alike on both ends, has an answer, which is a message too.
  static Result<Edges> of(const RankView &view,
                          const std::function<bool(const ImageOp &)> &isAnswered = {});
};

/// A message op without a peer does nothing.
inline bool travels(const ImageOp &op) { return isMessage(op.kind) && op.peer != kNoRank; }

} // namespace colldsl
