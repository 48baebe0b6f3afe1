/// The reason why a message, or all messages of a plan, cannot be moved.
#pragma once

#include "ir/Ids.h"
#include "ir/Result.h"

#include <string>

namespace colldsl {

/// The cause of a failure of channels.
struct Fault {
  Rank peer = kNoRank; ///< the rank that caused it, if it is known
  OpId op = kNoOp;     ///< this rank's op that could not finish, if one is known
  std::string reason;  ///< lower case, without a full stop
  ErrorKind kind = ErrorKind::Other;
};

} // namespace colldsl
