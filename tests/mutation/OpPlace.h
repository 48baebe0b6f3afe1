/// An op of any rank.
#pragma once

#include "ir/Ids.h"

namespace colldsl::mutation {

struct OpPlace {
  Rank rank = kNoRank;
  OpId op = kNoOp;
  bool exists() const { return op != kNoOp; }
};

} // namespace colldsl::mutation
