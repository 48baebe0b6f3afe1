/// Tests over an RDMA device: skipped where there is none.
#pragma once

#include "tests/transports/NetworkPair.h"
#include "transports/verbs/OpenVerbs.h"
#include "transports/verbs/VerbsTransport.h"

#include <gtest/gtest.h>

namespace colldsl::test {

class Verbs : public ::testing::Test {
protected:
  void SetUp() override {
    if (std::string why = verbs::whyNot({}); !why.empty())
      GTEST_SKIP() << why;
  }
};

inline NetworkPair::Make with(const verbs::Options &options,
                              verbs::Calls &calls = verbs::Calls::real()) {
  return [=, &calls](Rank r) {
    return protocol::NetworkEndpoint::make(r, 2, options,
                                           verbs::VerbsTransport::open(2, options, calls));
  };
}

} // namespace colldsl::test
