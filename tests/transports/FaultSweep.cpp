#include "tests/transports/FaultSweep.h"

#include <gtest/gtest.h>
#include <optional>

namespace colldsl::test {

FaultyOutcome exchangeWith(const NetworkPair::Make &make, const std::function<bool()> &happened,
                           const Transfer &way, uint32_t pieces, bool holds) {
  NetworkPair pair(make);
  pair.pieces = pieces;
  pair.holds = holds;
  FaultyOutcome outcome;
  outcome.trouble = pair.trouble.empty()
                        ? pair.exchange({0, 8, 1000, 5000, 20000, 80000, 100000}, 3, {}, way)
                        : pair.trouble;
  outcome.happened = happened();
  return outcome;
}

void sweep(const std::function<FaultyOutcome(uint64_t)> &exchangeAt,
           const std::function<bool(const std::string &)> &isFine,
           const NetworkPair::Make &makeOthers) {
  std::optional<NetworkPair> others;
  if (makeOthers) {
    others.emplace(makeOthers);
    ASSERT_EQ(others->trouble, "");
  }
  uint64_t faults = 0;
  for (uint64_t at = 1;; at += 1 + at / 3, ++faults) {
    FaultyOutcome outcome = exchangeAt(at);
    if (!outcome.happened)
      break;
    EXPECT_TRUE(isFine(outcome.trouble)) << "call " << at << ": '" << outcome.trouble << "'";
    if (others) {
      EXPECT_EQ(others->exchange({8, 20000}, 1), "");
    }
  }
  EXPECT_GT(faults, 0u) << "there is no such call";
}

bool isClean(const std::string &trouble) {
  return trouble != "stuck" && trouble.find("wrong bytes") == std::string::npos;
}

} // namespace colldsl::test
