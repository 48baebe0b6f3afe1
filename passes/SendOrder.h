/// In which order one rank sends.
#pragma once

#include "ir/Dag.h"
#include "ir/Result.h"

namespace colldsl {

/// A send and when it is due: levels are apart anyway, see sendLevels(); the sends of one level go
/// round by round.
struct DueSend {
  OpId send;
  Rank to;
  uint32_t level = 0;
  uint32_t round = 0;
};

/// Each send `irequires` the one before it in its level: it waits for its start alone. Sends to
/// one rank stay in the order of the program, in which a channel takes them: the rounds that they
/// have in a level are theirs in that order. An error: an op would wait for itself.
Status orderSends(Dag &dag, std::vector<DueSend> sends);

} // namespace colldsl
