// What transports/Transport.h promises, on every transport.
#include "tests/transports/Contract.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <sys/mman.h>
#include <thread>

namespace colldsl::test {
namespace {

std::string nameOf(const ::testing::TestParamInfo<TransportSetup> &info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Transports, Contract, ::testing::ValuesIn(allSetups()), nameOf);
INSTANTIATE_TEST_SUITE_P(Providers, Contract, ::testing::ValuesIn(networkSetups()), nameOf);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Contract);

// One end of an edge with messages of several sizes: posts them, polls until all are done.
class End {
public:
  End(Endpoint &endpoint, std::vector<uint64_t> sizes)
      : self_(endpoint.rank()), sizes_(std::move(sizes)) {}

  std::string open(Endpoint &endpoint, const std::vector<Rank> &to, const std::vector<Rank> &from) {
    for (Rank r : to)
      out_.push_back({r, ids(numMessages())});
    for (Rank r : from)
      in_.push_back({r, ids(numMessages())});
    auto opened = endpoint.open({out_, in_});
    if (!opened)
      return opened.message();
    channels_ = opened.take();
    uint64_t most = *std::max_element(sizes_.begin(), sizes_.end());
    return channels_->prepare({most}) ? "" : "no room";
  }

  uint32_t numMessages() const { return static_cast<uint32_t>(sizes_.size()); }
  Channels &channels() { return *channels_; }

  // Ops are numbered: sends of edge e from e * n on, receives behind them.
  void begin(uint32_t run) {
    run_ = run;
    pending_ = 0;
    done_.clear();
    sends_.clear();
    recvs_.clear();
    channels_->start();
    for (size_t e = 0; e < out_.size(); ++e)
      for (uint32_t m = 0; m < numMessages(); ++m)
        sends_.emplace_back(pattern(self_, run, m, sizes_[m]));
    for (size_t e = 0; e < in_.size(); ++e)
      for (uint32_t m = 0; m < numMessages(); ++m)
        recvs_.emplace_back(std::vector<std::byte>(sizes_[m], std::byte{0xee}));
  }

  void send(uint32_t e, uint32_t m) {
    uint32_t op = e * numMessages() + m;
    note(channels_->send({e, m}, OpId{op}, sends_[op].payload));
  }
  void recv(uint32_t e, uint32_t m) {
    uint32_t i = e * numMessages() + m;
    auto op = static_cast<uint32_t>(sends_.size()) + i;
    note(channels_->recv({e, m}, OpId{op}, recvs_[i].payload));
  }

  // The same at once, if that can be.
  void sendSoon(uint32_t e, uint32_t m) {
    if (!channels_->sendNow({e, m}, sends_[e * numMessages() + m].payload))
      send(e, m);
  }
  void recvSoon(uint32_t e, uint32_t m) {
    for (int look = 0; look < 100; ++look)
      if (channels_->recvNow({e, m}, recvs_[e * numMessages() + m].payload))
        return;
    recv(e, m);
  }

  // Of what is sent.
  void useMemoryAgain() {
    for (Message &message : sends_)
      std::fill(message.data.begin(), message.data.end(), std::byte{0xdd});
  }

  // Whether some of it came here.
  std::string findReused() const {
    for (const Message &message : recvs_)
      if (std::count(message.data.begin(), message.data.end(), std::byte{0xdd}) * 2 >
          static_cast<ptrdiff_t>(message.data.size()))
        return "got bytes of memory that was used again";
    return "";
  }

  // So many completions were seen elsewhere.
  void forget(size_t completions) { pending_ -= completions; }

  void look() {
    auto now = channels_->poll();
    done_.insert(done_.end(), now.begin(), now.end());
  }

  std::string finish(const std::function<void()> &meanwhile = [] {}) {
    auto isOver = [&] {
      meanwhile();
      return done_.size() >= pending_;
    };
    if (!pollUntil(*channels_, done_, isOver))
      return channels_->failed() ? channels_->fault().reason : "not finished in time";
    if (done_.size() != pending_)
      return "more completions than messages";
    for (size_t e = 0; e < in_.size(); ++e)
      for (uint32_t m = 0; m < numMessages(); ++m)
        if (recvs_[e * numMessages() + m].data != pattern(in_[e].peer, run_, m, sizes_[m]))
          return "wrong bytes in message " + std::to_string(m) + " of run " + std::to_string(run_);
    return "";
  }

private:
  void note(Posted posted) { pending_ += posted == Posted::Pending ? 1 : 0; }

  Rank self_;
  std::vector<uint64_t> sizes_;
  std::vector<EdgeSpec> out_, in_;
  std::unique_ptr<Channels> channels_;
  uint32_t run_ = 0;
  size_t pending_ = 0;
  std::deque<Message> sends_, recvs_;
  std::vector<Completion> done_;
};

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
    Rank peer = neighborOf(endpoint, 1);
    bool sends = endpoint.rank() == Rank{0};
    std::vector<Rank> edge{peer}, none;
    if (auto s = end.open(endpoint, sends ? edge : none, sends ? none : edge); !s.empty())
      return s;
    for (uint32_t run = 0; run < 3; ++run) {
      end.begin(run);
      if (sends) {
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
    bool sends = endpoint.rank() == Rank{0};
    std::vector<Rank> edge{neighborOf(endpoint, 1)}, none;
    if (auto s = end.open(endpoint, sends ? edge : none, sends ? none : edge); !s.empty())
      return s;
    for (uint32_t run = 0; run < 100; ++run) {
      if (!sends && run % 10 == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      end.begin(run);
      for (uint32_t m = 0; m < 3; ++m)
        sends ? end.send(0, m) : end.recv(0, m);
      if (auto s = end.finish(); !s.empty())
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

TEST_P(Contract, piecesOnBothSides) {
  run(2, [](Endpoint &endpoint) -> std::string {
    Rank peer = neighborOf(endpoint, 1);
    std::vector<EdgeSpec> edge{{peer, ids(1)}};
    auto opened = endpoint.open({edge, edge});
    if (!opened)
      return opened.message();
    Channels &channels = **opened;
    constexpr uint32_t kPieces = 300;
    uint64_t bytes = 0;
    std::vector<iovec> from, to;
    std::vector<std::byte> source = pattern(endpoint.rank(), 0, 0, kPieces * 1000);
    std::vector<std::byte> target(source.size());
    // Pieces of 0, 7, 14, ... bytes, sent in order; received in pieces of other lengths.
    for (uint32_t i = 0; i < kPieces; ++i) {
      from.push_back({source.data() + bytes, i * 7 % 900});
      bytes += from.back().iov_len;
    }
    for (uint64_t at = 0; at < bytes; at += 333)
      to.push_back({target.data() + at, std::min<uint64_t>(333, bytes - at)});
    if (!channels.prepare({bytes}))
      return "no room";
    Payload payload{from.data(), kPieces, false, false, bytes};
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
      std::vector<std::byte> expected = pattern(peer, 0, 0, kPieces * 1000);
      if (!std::equal(target.begin(), target.begin() + static_cast<std::ptrdiff_t>(bytes),
                      expected.begin()))
        return "wrong bytes";
    }
    return "";
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

// Rank 1 expects one message more than rank 0 sends; rank 2 has nothing to do with it.
TEST_P(Contract, refusesEdgesThatDisagree) {
  if (GetParam().opensAlone)
    GTEST_SKIP() << "a rank that opens alone knows nothing of others";
  run(3, [](Endpoint &endpoint) -> std::string {
    std::vector<EdgeSpec> out, in;
    if (endpoint.rank() == Rank{0})
      out = {{Rank{1}, ids(2)}};
    if (endpoint.rank() == Rank{1})
      in = {{Rank{0}, ids(3)}};
    auto opened = endpoint.open({out, in});
    std::string why;
    if (opened) { // not every transport waits for all ranks
      std::vector<Completion> done;
      (*opened)->start();
      if (pollUntil(**opened, done, [] { return false; }) || !(*opened)->failed())
        return "it was opened";
      why = (*opened)->fault().reason;
    } else {
      why = opened.message();
    }
    if (why.find("rank 0 and rank 1 disagree") == std::string::npos)
      return why;
    std::vector<EdgeSpec> ring{{neighborOf(endpoint, 1), ids(1)}},
        back{{neighborOf(endpoint, -1), ids(1)}};
    return endpoint.open({ring, back}) ? "" : "the next plan was refused too";
  });
}

TEST_P(Contract, aRefusalReachesEveryRank) {
  run(3, [](Endpoint &endpoint) -> std::string {
    std::vector<EdgeSpec> ring{{neighborOf(endpoint, 1), ids(1)}},
        back{{neighborOf(endpoint, -1), ids(1)}};
    if (endpoint.rank() == Rank{1}) {
      endpoint.refuse("not today");
    } else {
      auto opened = endpoint.open({ring, back});
      std::string why = opened ? "" : opened.message();
      if (opened) { // not every transport waits for all ranks
        std::vector<Completion> done;
        (*opened)->start();
        if (pollUntil(**opened, done, [] { return false; }) || !(*opened)->failed())
          return "it was opened";
        why = (*opened)->fault().reason;
      }
      if (why != "rank 1: not today")
        return why;
    }
    return endpoint.open({ring, back}) ? "" : "the next plan was refused too";
  });
}

TEST_P(Contract, refusesMessagesOfTheWrongSize) {
  run(2, [](Endpoint &endpoint) -> std::string {
    for (uint64_t bytes : {8, 200, 100000}) {
      std::vector<EdgeSpec> edge{{neighborOf(endpoint, 1), ids(1)}}, none;
      bool sends = endpoint.rank() == Rank{0};
      auto opened = endpoint.open({sends ? edge : none, sends ? none : edge});
      if (!opened)
        return opened.message();
      Channels &channels = **opened;
      if (!channels.prepare({bytes}))
        return "no room";
      channels.start();
      Message message{std::vector<std::byte>(sends ? bytes : bytes - 1)};
      std::vector<Completion> done;
      if (sends) {
        channels.send({0, 0}, OpId{0}, message.payload);
        pollUntil(channels, done, [] { return false; });
      } else {
        channels.recv({0, 0}, OpId{5}, message.payload);
        pollUntil(channels, done, [] { return false; });
        if (channels.failed() && channels.fault().op != OpId{5})
          return "the wrong op is named";
        if (channels.failed())
          channels.abort(channels.fault());
      }
      if (!channels.failed())
        return "no fault for " + std::to_string(bytes) + " bytes";
      if (channels.fault().kind != ErrorKind::Truncated)
        return channels.fault().reason; // on both ends
    }
    return "";
  });
}

// All ranks to all ranks, themselves included: no rank is through before all are there.
std::string meet(Channels &channels, uint32_t numRanks) {
  Payload signal;
  signal.always = true;
  channels.start();
  size_t pending = 0;
  for (uint32_t e = 0; e < numRanks; ++e) {
    pending += channels.send({e, 0}, OpId{0}, signal) == Posted::Pending;
    pending += channels.recv({e, 0}, OpId{1}, signal) == Posted::Pending;
  }
  std::vector<Completion> done;
  if (pollUntil(channels, done, [&] { return done.size() == pending; }))
    return "";
  return "not met: " + (channels.failed() ? channels.fault().reason : "in time");
}

TEST_P(Contract, failuresReachEveryRankOfThePlanAndNoOtherPlan) {
  run(4, [](Endpoint &endpoint) -> std::string {
    std::vector<EdgeSpec> all;
    for (uint32_t r = 0; r < endpoint.numRanks(); ++r)
      all.push_back({Rank{r}, ids(1)});
    auto doomed = endpoint.open({all, all});
    auto healthy = endpoint.open({all, all});
    if (!doomed || !healthy)
      return "not opened";
    if (auto s = meet(**healthy, 4); !s.empty())
      return s;
    (*doomed)->start();
    if (endpoint.rank() == Rank{2})
      (*doomed)->abort({Rank{2}, kNoOp, "out of luck", ErrorKind::NoMemory});
    std::vector<Completion> done;
    if (pollUntil(**doomed, done, [] { return false; }) || !(*doomed)->failed())
      return "the failure was not seen";
    if ((*doomed)->fault().reason != "out of luck" || (*doomed)->fault().peer != Rank{2} ||
        (*doomed)->fault().kind != ErrorKind::NoMemory)
      return (*doomed)->fault().reason;
    return meet(**healthy, 4);
  });
}

// Rank 1 goes away instead of sending.
TEST_P(Contract, noticesThatAPeerHasClosedThePlan) {
  run(2, [](Endpoint &endpoint) -> std::string {
    std::vector<EdgeSpec> edge{{neighborOf(endpoint, 1), ids(1)}};
    auto opened = endpoint.open({edge, edge});
    if (!opened)
      return opened.message();
    if (endpoint.rank() == Rank{1})
      return "";
    (*opened)->start();
    Payload signal;
    signal.always = true;
    (*opened)->recv({0, 0}, OpId{0}, signal);
    std::vector<Completion> done;
    pollUntil(**opened, done, [] { return false; });
    if (!(*opened)->failed())
      return "does not wait";
    return (*opened)->fault().reason.find("has closed the plan") != std::string::npos
               ? ""
               : (*opened)->fault().reason;
  });
}

// What was sent before a rank left still arrives.
TEST_P(Contract, messagesOutliveTheirSender) {
  run(2, [](Endpoint &endpoint) -> std::string {
    End end(endpoint, {8, 100});
    bool sends = endpoint.rank() == Rank{0};
    std::vector<Rank> edge{neighborOf(endpoint, 1)}, none;
    if (auto s = end.open(endpoint, sends ? edge : none, sends ? none : edge); !s.empty())
      return s;
    if (!sends)
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    end.begin(0);
    for (uint32_t m = 0; m < 2; ++m)
      sends ? end.send(0, m) : end.recv(0, m);
    return end.finish();
  });
}

// Rank 1 has what rank 0 sent, and rank 0 is gone, long before rank 1 asks for it.
TEST_P(Contract, messagesWaitForAReceiveAfterTheirSenderLeft) {
  run(2, [](Endpoint &endpoint) -> std::string {
    End end(endpoint, {8, 100});
    bool sends = endpoint.rank() == Rank{0};
    std::vector<Rank> edge{neighborOf(endpoint, 1)}, none;
    if (auto s = end.open(endpoint, sends ? edge : none, sends ? none : edge); !s.empty())
      return s;
    end.begin(0);
    if (sends) {
      end.send(0, 0);
      end.send(0, 1);
      return end.finish();
    }
    end.recv(0, 0);
    auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (std::chrono::steady_clock::now() < until) {
      end.look();
      if (!end.channels().check())
        return end.channels().fault().reason;
    }
    end.recv(0, 1);
    return end.finish();
  });
}

// A receiver closes the plan as soon as it has received; its sender must not take that
// for desertion.
TEST_P(Contract, receiversMayLeaveOnceTheyHaveReceived) {
  run(2, [](Endpoint &endpoint) -> std::string {
    for (uint64_t i = 0; i < 60; ++i) {
      End end(endpoint, {i % 2 == 0 ? 20000 + i : i, 10000});
      bool sends = endpoint.rank() == Rank{0};
      std::vector<Rank> edge{neighborOf(endpoint, 1)}, none;
      if (auto s = end.open(endpoint, sends ? edge : none, sends ? none : edge); !s.empty())
        return s;
      end.begin(0);
      for (uint32_t m = 0; m < 2; ++m)
        sends ? end.send(0, m) : end.recv(0, m);
      if (auto s = end.finish(); !s.empty())
        return s;
    }
    return "";
  });
}

// Rank 0 fails with messages of all sizes under way, and uses their memory for something else. Rank
// 1 comes then: what it receives is what was sent, or it fails too.
TEST_P(Contract, aLateReceiverGetsNoBytesOfReusedMemory) {
  void *shared = mmap(nullptr, sizeof(std::atomic<uint32_t>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto &isReused = *new (shared) std::atomic<uint32_t>(0);
  bool polls = GetParam().isOverNetwork; // else rank 0 waits for it in vain
  run(2, [&](Endpoint &endpoint) -> std::string {
    End end(endpoint, {8, 200, 5000, 20000, 70000, 300000});
    bool sends = endpoint.rank() == Rank{0};
    std::vector<Rank> edge{neighborOf(endpoint, 1)}, none;
    if (auto s = end.open(endpoint, sends ? edge : none, sends ? none : edge); !s.empty())
      return s == "enough" ? "" : s;
    end.begin(0);
    if (sends) {
      for (uint32_t m = 0; m < end.numMessages(); ++m)
        end.send(0, m);
      end.channels().abort({Rank{0}, kNoOp, "enough"});
      end.channels().cancel();
      end.useMemoryAgain();
      isReused = 1;
      return "";
    }
    while (isReused == 0)
      if (polls)
        end.channels().poll();
    for (uint32_t m = 0; m < end.numMessages(); ++m)
      end.recv(0, m);
    std::string outcome = end.finish();
    return outcome == "enough" || outcome.empty() ? end.findReused() : outcome;
  });
  munmap(shared, sizeof(std::atomic<uint32_t>));
}

// Plans fail one after the other, more than the table of failures holds, while one works.
TEST_P(Contract, plansMayFailAgainAndAgain) {
  if (GetParam().isOverNetwork)
    GTEST_SKIP() << "failures of plans that are closed are kept nowhere";
  run(2, [](Endpoint &endpoint) -> std::string {
    Rank peer = neighborOf(endpoint, 1);
    End works(endpoint, {8});
    if (auto s = works.open(endpoint, {peer}, {peer}); !s.empty())
      return s;
    for (uint32_t i = 0; i < 2500; ++i) {
      End fails(endpoint, {8});
      std::string opened = fails.open(endpoint, {peer}, {peer});
      if (!opened.empty() && opened != "enough")
        return opened;
      if (opened.empty() && endpoint.rank() == Rank{0})
        fails.channels().abort({Rank{0}, kNoOp, "enough"});
      auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (opened.empty() && fails.channels().check())
        if (std::chrono::steady_clock::now() > until)
          return "failure " + std::to_string(i) + " is not told";
      if (opened.empty() && fails.channels().fault().reason != "enough")
        return "failure " + std::to_string(i) + ": " + fails.channels().fault().reason;
      if (i % 50 != 0)
        continue;
      works.begin(i);
      works.recv(0, 0);
      works.send(0, 0);
      if (auto s = works.finish(); !s.empty())
        return std::to_string(i) + ": " + s;
    }
    return "";
  });
}

// Opening and closing again and again must not use up the shared memory.
TEST_P(Contract, closedPlansGiveTheirMemoryBack) {
  run(2, [](Endpoint &endpoint) -> std::string {
    Rank peer = neighborOf(endpoint, 1);
    for (int i = 0; i < 100; ++i) {
      End end(endpoint, std::vector<uint64_t>(60, 300));
      if (auto s = end.open(endpoint, {peer}, {peer}); !s.empty())
        return s;
      end.begin(0);
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

} // namespace
} // namespace colldsl::test
