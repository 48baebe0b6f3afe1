// What protocol/Endpoint.h promises, on every transport.
#include "tests/transports/Contract.h"
#include "tests/transports/ContractEnd.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <numeric>
#include <sys/mman.h>
#include <thread>

namespace colldsl::test {
namespace {

std::string nameOf(const ::testing::TestParamInfo<TransportSetup> &info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Transports, Contract, ::testing::ValuesIn(allSetups()), nameOf);
INSTANTIATE_TEST_SUITE_P(Providers, Contract, ::testing::ValuesIn(networkSetups()), nameOf);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Contract);

const std::vector<uint64_t> kSizes = {0, 1, 8, 48, 49, 200, 256, 257, 5000, 16384, 16385, 70000};

TEST_P(Contract, movesEverySize) {
  run(2, [](Endpoint &endpoint) -> std::string {
    End end(endpoint, kSizes);
    Rank peer = neighborOf(endpoint, 1);
    if (auto s = end.open(endpoint, {peer}, {peer}); !s.empty())
      return s;
    for (uint32_t run = 0; run < 5; ++run) {
      end.begin(run);
      for (uint32_t m = 0; m < end.numMessages(); ++m) {
        end.recv(0, m);
        end.send(0, m);
      }
      if (auto s = end.finish(); !s.empty())
        return s;
    }
    return "";
  });
}

TEST_P(Contract, messagesMayMoveAtOnce) {
  run(2, [](Endpoint &endpoint) -> std::string {
    End end(endpoint, kSizes);
    Rank peer = neighborOf(endpoint, 1);
    if (auto s = end.open(endpoint, {peer}, {peer}); !s.empty())
      return s;
    for (uint32_t run = 0; run < 6; ++run) {
      end.begin(run);
      for (uint32_t m = 0; m < end.numMessages(); ++m)
        run % 3 == 2 ? end.send(0, m) : end.sendSoon(0, m);
      for (uint32_t m = 0; m < end.numMessages(); ++m)
        run % 3 == 1 ? end.recv(0, m) : end.recvSoon(0, m);
      if (auto s = end.finish(); !s.empty())
        return s;
    }
    return "";
  });
}

TEST_P(Contract, matchesWhateverTheOrder) {
  if (GetParam().strict)
    GTEST_SKIP() << "a strict edge delivers in order only";
  run(2, [](Endpoint &endpoint) -> std::string {
    End end(endpoint, kSizes);
    Rank peer = neighborOf(endpoint, 1);
    if (auto s = end.open(endpoint, {peer}, {peer}); !s.empty())
      return s;
    for (uint32_t run = 0; run < 5; ++run) {
      end.begin(run);
      for (uint32_t m = 0; m < end.numMessages(); ++m)
        end.send(0, (m * 5 + run) % end.numMessages());
      for (uint32_t m = end.numMessages(); m-- > 0;)
        end.recv(0, m);
      if (auto s = end.finish(); !s.empty())
        return s;
    }
    return "";
  });
}

// More messages than any ring or pool holds, of which the last is received first, and
// the others only afterwards.
TEST_P(Contract, unexpectedMessagesBlockNothing) {
  if (GetParam().strict)
    GTEST_SKIP() << "a strict edge does block";
  constexpr uint32_t kMany = 300;
  run(2, [](Endpoint &endpoint) -> std::string {
    std::vector<uint64_t> sizes(kMany);
    for (uint32_t m = 0; m < kMany; ++m)
      sizes[m] = m % 3 == 0 ? 8 : m % 3 == 1 ? 200 : 17000;
    End end(endpoint, sizes);
    if (auto s = end.openOneWay(endpoint); !s.empty())
      return s;
    for (uint32_t run = 0; run < 3; ++run) {
      end.begin(run);
      if (end.sends()) {
        for (uint32_t m = 0; m < kMany; ++m)
          end.send(0, m);
        if (auto s = end.finish(); !s.empty())
          return s;
        continue;
      }
      end.recv(0, kMany - 1);
      std::vector<Completion> done;
      if (!pollUntil(end.channels(), done, [&] { return done.size() == 1; }))
        return "the last message did not come";
      for (uint32_t m = 0; m + 1 < kMany; ++m)
        end.recv(0, m);
      end.forget(1);
      if (auto s = end.finish(); !s.empty())
        return s;
    }
    return "";
  });
}

TEST_P(Contract, sendsToItself) {
  run(1, [](Endpoint &endpoint) -> std::string {
    End end(endpoint, kSizes);
    if (auto s = end.open(endpoint, {Rank{0}}, {Rank{0}}); !s.empty())
      return s;
    for (uint32_t run = 0; run < 3; ++run) {
      end.begin(run);
      for (uint32_t m = 0; m < end.numMessages(); ++m) {
        end.send(0, m);
        end.recv(0, m);
      }
      if (auto s = end.finish(); !s.empty())
        return s;
    }
    return "";
  });
}

// Rank 0 only sends, so it is ahead of rank 1 by as many runs as the channel holds.
TEST_P(Contract, runsDoNotMixWhenTheSenderIsAhead) {
  run(2, [](Endpoint &endpoint) -> std::string {
    End end(endpoint, {8, 200, 30});
    if (auto s = end.openOneWay(endpoint); !s.empty())
      return s;
    for (uint32_t run = 0; run < 100; ++run) {
      if (!end.sends() && run % 10 == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (auto s = end.runOneWay(run); !s.empty())
        return s;
    }
    return "";
  });
}

// Every rank to every rank, itself included.
TEST_P(Contract, manyEdges) {
  run(5, [](Endpoint &endpoint) -> std::string {
    End end(endpoint, {8, 3000});
    std::vector<Rank> all;
    for (uint32_t r = 0; r < endpoint.numRanks(); ++r)
      all.push_back(Rank{r});
    if (auto s = end.open(endpoint, all, all); !s.empty())
      return s;
    for (uint32_t run = 0; run < 20; ++run) {
      end.begin(run);
      for (uint32_t e = 0; e < all.size(); ++e)
        for (uint32_t m = 0; m < 2; ++m) {
          end.send(e, m);
          end.recv(e, m);
        }
      if (auto s = end.finish(); !s.empty())
        return s;
    }
    return "";
  });
}

TEST_P(Contract, plansAreIndependent) {
  run(2, [](Endpoint &endpoint) -> std::string {
    Rank peer = neighborOf(endpoint, 1);
    std::vector<std::unique_ptr<End>> ends;
    for (int i = 0; i < 3; ++i) {
      ends.push_back(std::make_unique<End>(endpoint, std::vector<uint64_t>{8, 3000}));
      if (auto s = ends.back()->open(endpoint, {peer}, {peer}); !s.empty())
        return s;
    }
    for (auto &end : ends) {
      end->begin(0);
      end->send(0, 0);
      end->send(0, 1);
    }
    // The last one is received first; rank 0 waits for the first one first.
    for (size_t i = ends.size(); i-- > 0;) {
      ends[i]->recv(0, 0);
      ends[i]->recv(0, 1);
    }
    for (size_t i = 0; i < ends.size(); ++i) {
      size_t mine = endpoint.rank() == Rank{0} ? i : ends.size() - 1 - i;
      std::string s = ends[mine]->finish([&] {
        for (auto &other : ends)
          other->look();
      });
      if (!s.empty())
        return s;
    }
    return "";
  });
}

/// Both ranks send each other one message, in pieces of lengths that follow each other in memory.
/// Empty: all came.
std::string exchangePieces(Endpoint &endpoint, const std::vector<uint64_t> &sent,
                           const std::vector<uint64_t> &received) {
  Rank peer = neighborOf(endpoint, 1);
  std::vector<EdgeSpec> edge{{peer, ids(1)}};
  auto opened = endpoint.open({edge, edge});
  if (!opened)
    return opened.message();
  Channels &channels = **opened;
  uint64_t bytes = std::accumulate(sent.begin(), sent.end(), uint64_t{0});
  std::vector<std::byte> source = pattern(endpoint.rank(), 0, 0, bytes), target(bytes);
  auto piecesOf = [](std::vector<std::byte> &memory, const std::vector<uint64_t> &lengths) {
    std::vector<iovec> pieces;
    std::byte *at = memory.data();
    for (uint64_t here : lengths) {
      pieces.push_back({at, here});
      at += here;
    }
    return pieces;
  };
  std::vector<iovec> from = piecesOf(source, sent), to = piecesOf(target, received);
  if (!channels.prepare({bytes}))
    return "no room";
  Payload payload{from.data(), static_cast<uint32_t>(from.size()), false, false, bytes};
  Payload room{to.data(), static_cast<uint32_t>(to.size()), false, false, bytes};
  for (int run = 0; run < 3; ++run) {
    std::fill(target.begin(), target.end(), std::byte{0});
    channels.start();
    size_t pending = 0;
    pending += channels.recv({0, 0}, OpId{0}, room) == Posted::Pending;
    pending += channels.send({0, 0}, OpId{1}, payload) == Posted::Pending;
    std::vector<Completion> done;
    if (!pollUntil(channels, done, [&] { return done.size() == pending; }))
      return "not finished";
    if (target != pattern(peer, 0, 0, bytes))
      return "wrong bytes";
  }
  return "";
}

TEST_P(Contract, piecesOnBothSides) {
  run(2, [](Endpoint &endpoint) -> std::string {
    std::vector<uint64_t> sent, received;
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < 300; ++i) {
      sent.push_back(i * 7 % 900);
      bytes += sent.back();
    }
    for (uint64_t at = 0; at < bytes; at += 333)
      received.push_back(std::min<uint64_t>(333, bytes - at));
    return exchangePieces(endpoint, sent, received);
  });
}

// Few, so that a network writes them to their places.
TEST_P(Contract, emptyPiecesOnBothSides) {
  run(2, [](Endpoint &endpoint) -> std::string {
    if (std::string s = exchangePieces(endpoint, {0, 200'000, 0, 1000}, {0, 0, 201'000});
        !s.empty())
      return s;
    return exchangePieces(endpoint, {201'000, 0}, {1, 0, 200'999, 0});
  });
}

TEST_P(Contract, shorterMessagesTellTheirLength) {
  run(2, [](Endpoint &endpoint) -> std::string {
    Rank peer = neighborOf(endpoint, 1);
    std::vector<EdgeSpec> edge{{peer, ids(3)}};
    auto opened = endpoint.open({edge, edge});
    if (!opened)
      return opened.message();
    Channels &channels = **opened;
    if (!channels.prepare({100000}))
      return "no room";
    channels.start();
    const std::vector<uint64_t> sizes = {0, 100, 20000};
    std::deque<Message> sends, recvs;
    for (uint32_t m = 0; m < 3; ++m) {
      sends.emplace_back(pattern(endpoint.rank(), 0, m, sizes[m]));
      recvs.emplace_back(std::vector<std::byte>(30000), true);
    }
    size_t pending = 0;
    for (uint32_t m = 0; m < 3; ++m)
      pending += channels.send({0, m}, OpId{m}, sends[m].payload) == Posted::Pending;
    for (uint32_t m = 0; m < 3; ++m) {
      if (channels.recv({0, m}, OpId{10 + m}, recvs[m].payload) != Posted::Pending)
        return "a receive of unknown length was done at once";
      ++pending;
    }
    std::vector<Completion> done;
    if (!pollUntil(channels, done, [&] { return done.size() == pending; }))
      return "not finished";
    for (const Completion &c : done)
      if (index(c.op) >= 10 && c.bytes != sizes[index(c.op) - 10])
        return "wrong length " + std::to_string(c.bytes);
    return "";
  });
}

TEST_P(Contract, payloadsWithoutBytesNeedNotTravel) {
  run(2, [](Endpoint &endpoint) -> std::string {
    Rank peer = neighborOf(endpoint, 1);
    std::vector<EdgeSpec> edge{{peer, ids(2)}};
    auto opened = endpoint.open({edge, edge});
    if (!opened)
      return opened.message();
    Channels &channels = **opened;
    Payload nothing, signal;
    signal.always = true;
    for (int run = 0; run < 5; ++run) {
      channels.start();
      if (channels.send({0, 0}, OpId{0}, nothing) != Posted::Done ||
          channels.recv({0, 0}, OpId{1}, nothing) != Posted::Done)
        return "nothing to send took time";
      size_t pending = channels.send({0, 1}, OpId{2}, signal) == Posted::Pending;
      pending += channels.recv({0, 1}, OpId{3}, signal) == Posted::Pending;
      std::vector<Completion> done;
      if (!pollUntil(channels, done, [&] { return done.size() == pending; }))
        return "the signal did not come";
    }
    return "";
  });
}

} // namespace
} // namespace colldsl::test
