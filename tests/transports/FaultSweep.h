/// Calls of a transport that go wrong, one after the other.
#pragma once

#include "tests/transports/NetworkPair.h"

namespace colldsl::test {

struct FaultyOutcome {
  std::string trouble;   ///< as NetworkPair::exchange() says it
  bool happened = false; ///< there was such a call
};

/// An exchange of messages of all kinds, short and long. `pieces` and `holds`: as in NetworkPair.
FaultyOutcome exchangeWith(const NetworkPair::Make &make, const std::function<bool()> &happened,
                           const Transfer &way = {}, uint32_t pieces = 1, bool holds = false);

/// Lets the first calls go wrong, and some in the middle, until there are no more: `exchangeAt(k)`
/// is an exchange whose k-th does. Each must end as `isFine` says; others, if they can be made, go
/// on as if nothing had happened.
void sweep(const std::function<FaultyOutcome(uint64_t)> &exchangeAt,
           const std::function<bool(const std::string &)> &isFine,
           const NetworkPair::Make &makeOthers = {});

inline bool isNothing(const std::string &trouble) { return trouble.empty(); }
/// Not before the last message, or it is clean: no rank is stuck, and nothing wrong is taken.
bool isClean(const std::string &trouble);
inline bool isFailure(const std::string &trouble) { return isClean(trouble) && !trouble.empty(); }

} // namespace colldsl::test
