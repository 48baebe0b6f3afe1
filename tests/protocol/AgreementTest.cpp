// Opens that all ranks agree on: what they disagree about, in which words, and how long it takes.
#include "tests/transports/Contract.h"

#include <csignal>
#include <thread>
#include <unistd.h>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;

/// What each of so many ranks is told when it opens a plan along a ring; empty: it is open.
using Open = std::function<Result<std::unique_ptr<Channels>>(Endpoint &)>;

class Agreement : public ::testing::TestWithParam<const char *> {
protected:
  std::vector<RankOutcome> run(const RankBody &body) {
    datagram::Options network;
    network.linger = 500ms; // for peers that have left, after nothing was opened
    LocalOptions options;
    options.numRanks = 3;
    options.attach = std::string(GetParam()) == "shm" ? overShm() : overAgreedDatagrams(network);
    options.shm.bootstrapTimeout = 500ms;
    options.timeout = options.grace = 60s; // an endpoint of a network ends when its peers do
    return runLocalRanks(options, body).take();
  }
  /// By rank.
  std::vector<std::string> reasons(const Open &open) {
    std::vector<std::string> all;
    for (const RankOutcome &outcome :
         run([&](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
           auto opened = open(endpoint);
           if (!opened)
             return opened.status();
           return std::vector<std::byte>();
         }))
      all.push_back(outcome.status ? "" : outcome.status.message());
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(Over, Agreement, ::testing::Values("shm", "datagrams"),
                         [](const auto &info) { return std::string(info.param); });

using Reasons = std::vector<std::string>;

std::vector<EdgeSpec> edgeTo(Endpoint &endpoint, int distance) {
  return {{neighborOf(endpoint, distance), ids(1)}};
}

Result<std::unique_ptr<Channels>> openRing(Endpoint &endpoint, std::string_view terms = {},
                                           std::function<Status(Channels &)> ready = {}) {
  auto out = edgeTo(endpoint, 1), in = edgeTo(endpoint, -1);
  return endpoint.open({out, in, terms, std::move(ready)});
}

TEST_P(Agreement, termsDiffer) {
  Reasons told = reasons([](Endpoint &endpoint) {
    return openRing(endpoint, endpoint.rank() == Rank{2} ? "type=f32\nsize 'n'=7\n"
                                                         : "type=f32\nsize 'n'=6\n");
  });
  EXPECT_EQ(told,
            Reasons(3, "rank 0 and rank 2 disagree on the size 'n': 6 on rank 0, 7 on rank 2"));
}

// Edges follow from terms: those are the reason, also where the other rank has no edge to name.
TEST_P(Agreement, termsAndEdgesDiffer) {
  Reasons told = reasons([](Endpoint &endpoint) {
    std::vector<EdgeSpec> out;
    if (endpoint.rank() == Rank{2})
      out = edgeTo(endpoint, 1);
    return endpoint.open(
        {out, {}, endpoint.rank() == Rank{2} ? "collective=a\n" : "collective=b\n"});
  });
  EXPECT_EQ(told,
            Reasons(3, "rank 0 and rank 2 disagree on the collective: b on rank 0, a on rank 2"));
}

TEST_P(Agreement, messagesOfAnEdgeDiffer) {
  Reasons told = reasons([](Endpoint &endpoint) {
    std::vector<EdgeSpec> out, in;
    if (endpoint.rank() == Rank{0})
      out = {{Rank{1}, {makeMessageId(3, 0)}}};
    if (endpoint.rank() == Rank{1})
      in = {{Rank{0}, {makeMessageId(3, 1)}}};
    return endpoint.open({out, in});
  });
  EXPECT_EQ(told,
            Reasons(3, "rank 0 and rank 1 disagree on which messages go from one to the other"));
}

TEST_P(Agreement, anEdgeHasOneEnd) {
  Reasons told = reasons([](Endpoint &endpoint) {
    std::vector<EdgeSpec> out;
    if (endpoint.rank() == Rank{2})
      out = edgeTo(endpoint, 1);
    return endpoint.open({out, {}});
  });
  EXPECT_EQ(told, Reasons(3, "rank 2 and rank 0 disagree: rank 2 sends 1 message, rank 0 "
                             "expects no message"));
}

TEST_P(Agreement, aRankIsNotReady) {
  Reasons told = reasons([](Endpoint &endpoint) {
    return openRing(endpoint, {}, [&](Channels &) {
      return endpoint.rank() == Rank{1} ? Status::error("no buffers") : Status();
    });
  });
  EXPECT_EQ(told, (Reasons{"rank 1: no buffers", "no buffers", "rank 1: no buffers"}));
}

// Its peers disagree with it, which is not the reason.
TEST_P(Agreement, aRankRefuses) {
  Reasons told = reasons([](Endpoint &endpoint) -> Result<std::unique_ptr<Channels>> {
    if (endpoint.rank() == Rank{2}) {
      endpoint.refuse("not today");
      return Status::error("refused");
    }
    auto opened = openRing(endpoint);
    if (!opened && opened.status().kind() != ErrorKind::Refused)
      return Status::error("of the wrong kind");
    return opened;
  });
  EXPECT_EQ(told, (Reasons{"rank 2: not today", "rank 2: not today", "refused"}));
}

TEST_P(Agreement, aPeerDoesNotExist) {
  Reasons told = reasons([](Endpoint &endpoint) -> Result<std::unique_ptr<Channels>> {
    std::vector<EdgeSpec> out;
    if (endpoint.rank() == Rank{1})
      out = {{Rank{9}, ids(1)}};
    return endpoint.open({out, {}});
  });
  EXPECT_EQ(told, (Reasons{"rank 1: there is no rank 9 among 3", "there is no rank 9 among 3",
                           "rank 1: there is no rank 9 among 3"}));
}

// A rank that waits for it moves other plans meanwhile.
TEST_P(Agreement, aRankDoesNotComeInTime) {
  auto begin = std::chrono::steady_clock::now();
  Reasons told = reasons([](Endpoint &endpoint) -> Result<std::unique_ptr<Channels>> {
    if (endpoint.rank() == Rank{2}) {
      std::this_thread::sleep_for(2s);
      return Status::error("late");
    }
    uint32_t moved = 0;
    endpoint.whileOpening([&] { ++moved; });
    auto opened = openRing(endpoint);
    endpoint.whileOpening({});
    return moved == 0 ? Status::error("nothing moved") : opened.status();
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  EXPECT_EQ(told, (Reasons{"rank 2 did not come", "rank 2 did not come", "late"}));
}

TEST_P(Agreement, aRankIsKilled) {
  Reasons told = reasons([](Endpoint &endpoint) -> Result<std::unique_ptr<Channels>> {
    if (endpoint.rank() == Rank{1})
      raise(SIGKILL);
    return openRing(endpoint);
  });
  EXPECT_EQ(told[0], "rank 1 died");
  EXPECT_EQ(told[2], "rank 1 died");
}

} // namespace
} // namespace colldsl::test
