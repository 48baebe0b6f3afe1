/// The order of one rank's sends.
#pragma once

#include "ir/Dag.h"
#include "ir/Result.h"

namespace colldsl {

/// A send and its time: levels are ordered already, see sendLevels(); the sends of one level go
/// round by round.
struct DueSend {
  OpId send;
  Rank to;
  uint32_t level = 0;
  uint32_t round = 0;
};

/// Makes each send `irequires` the one before it in its level: it waits for the start of that send
/// only. Sends to one rank keep the order of the program, in which a channel takes them, and share
/// out the rounds that they have in a level in that order. An error: an op would wait for itself.
Status orderSends(Dag &dag, std::vector<DueSend> sends);

} // namespace colldsl
