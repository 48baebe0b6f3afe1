// Exchanges between the ranks of a machine: every way a message can travel, in any order, among
// threads that are ranks.
#include "executor/Exchange.h"
#include "tests/transports/Harness.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <unistd.h>

namespace colldsl {
namespace {

using protocol::LocalWorker;

struct Case {
  const char *name;
  protocol::LocalOptions options;
  shm::SingleCopy singleCopy;
};

// All limits small, so that few bytes meet them.
protocol::LocalOptions tight() {
  protocol::LocalOptions options;
  options.fifo.ringBytes = 512;
  options.fifo.slotsBytes = 110;
  options.rendezvousThresholdBytes = 128;
  options.fragmentBytes = 192;
  options.singleCopyMinBytes = 1 << 20;
  options.unexpectedBytes = 256;
  return options;
}

protocol::LocalOptions reading() {
  protocol::LocalOptions options = tight();
  options.singleCopyMinBytes = 300;
  return options;
}

std::string said(const Status &s) { return s ? "" : s.message(); }

void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

class Exchanges : public testing::TestWithParam<Case> {
protected:
  std::string onRanks(uint32_t ranks,
                      const std::function<std::string(protocol::LocalWorker &)> &body) {
    shm::Options options;
    options.singleCopy = GetParam().singleCopy;
    auto world = shm::World::create(ranks, options);
    for (uint32_t r = 0; r < ranks; ++r)
      (*world)->control(Rank{r}).pid.store(getpid());
    return test::runThreads(ranks, [&](Rank rank) {
      protocol::LocalWorker worker(**world, rank, GetParam().options);
      std::string complaint = body(worker);
      // No rank unmaps memory that another one still reads.
      Exchange last(worker, UINT32_MAX, 0);
      char word[2] = {};
      iovec out{&word[0], 1};
      std::vector<char> in(ranks);
      for (uint32_t peer = 0; peer < ranks; ++peer) {
        iovec piece{&in[peer], 1};
        last.send(Rank{peer}, {&out, 1});
        last.recv(Rank{peer}, {&piece, 1});
      }
      if (Status s = last.seal(); !s)
        return s.message();
      Status s = last.run(0);
      return complaint.empty() ? said(s) : complaint;
    });
  }
};

/// One exchange of a rank with all: its memory, and what must come.
class Halo {
public:
  Halo(protocol::LocalWorker &worker, uint32_t stream, uint32_t seed)
      : worker_(worker), exchange_(worker, 7, stream) {
    uint32_t ranks = worker.numRanks(), me = index(worker.rank());
    for (uint32_t peer = 0; peer < ranks; ++peer) {
      add(out_, length(seed, me, peer), peer, true, seed);
      add(in_, length(seed, peer, me), peer, false, seed);
    }
    EXPECT_TRUE(exchange_.seal());
  }
  ~Halo() {
    for (void *memory : shared_)
      worker_.release(memory);
  }

  void fill(uint32_t run) {
    for (Block &block : out_)
      for (uint64_t i = 0; i < block.bytes; ++i)
        block.data[block.stride(i)] = value(index(worker_.rank()), block.peer, run, i);
    for (Block &block : in_)
      std::memset(block.data, 0xee, 2 * block.bytes);
  }

  std::string check(uint32_t run) const {
    for (const Block &block : in_)
      for (uint64_t i = 0; i < block.bytes; ++i)
        if (block.data[block.stride(i)] != value(block.peer, index(worker_.rank()), run, i))
          return "rank " + std::to_string(index(worker_.rank())) + " has a wrong byte " +
                 std::to_string(i) + " of " + std::to_string(block.bytes) + " from rank " +
                 std::to_string(block.peer) + " in run " + std::to_string(run);
    return {};
  }

  Exchange &exchange() { return exchange_; }

private:
  struct Block {
    std::byte *data;
    uint64_t bytes;
    uint32_t peer;
    bool hasHoles; ///< pieces of five bytes with five between them
    uint64_t stride(uint64_t i) const { return hasHoles ? i / 5 * 10 + i % 5 : i; }
  };

  static uint64_t length(uint32_t seed, uint32_t from, uint32_t to) {
    static constexpr uint64_t kLengths[] = {0,   1,   8,   39,  40,   41,   64,   127,  128,
                                            129, 200, 511, 512, 1000, 3000, 5000, 20000};
    std::mt19937 random(seed * 977 + from * 31 + to);
    return kLengths[random() % std::size(kLengths)];
  }

  static std::byte value(uint32_t from, uint32_t to, uint32_t run, uint64_t i) {
    return static_cast<std::byte>(from * 31 + to * 7 + run * 13 + i * 3 + i / 256);
  }

  void add(std::vector<Block> &blocks, uint64_t bytes, uint32_t peer, bool sends, uint32_t seed) {
    std::mt19937 random(seed + peer + sends);
    bool isShared = random() % 3 == 0;
    std::byte *data;
    if (isShared) {
      data = static_cast<std::byte *>(worker_.allocate(2 * bytes + 1));
      shared_.push_back(data);
    } else {
      own_.push_back(std::make_unique<std::byte[]>(2 * bytes + 1));
      data = own_.back().get();
    }
    blocks.push_back({data, bytes, peer, random() % 2 == 0});
    std::vector<iovec> pieces;
    const Block &block = blocks.back();
    if (!block.hasHoles)
      pieces.push_back({data, bytes});
    else
      for (uint64_t i = 0; i < bytes; i += 5)
        pieces.push_back({data + block.stride(i), std::min<uint64_t>(5, bytes - i)});
    if (sends)
      exchange_.send(Rank{peer}, pieces);
    else
      exchange_.recv(Rank{peer}, pieces);
  }

  protocol::LocalWorker &worker_;
  Exchange exchange_;
  std::vector<Block> out_, in_;
  std::vector<std::unique_ptr<std::byte[]>> own_;
  std::vector<void *> shared_;
};

TEST_P(Exchanges, BringAllBytes) {
  for (uint32_t ranks : {1, 2, 3, 5})
    for (uint32_t seed = 0; seed < 6; ++seed)
      ASSERT_EQ(onRanks(ranks,
                        [&](protocol::LocalWorker &worker) -> std::string {
                          Halo halo(worker, 0, seed);
                          for (uint32_t run = 1; run < 20; ++run) {
                            halo.fill(run);
                            if (Status s = halo.exchange().run(run); !s)
                              return s.message();
                            if (std::string wrong = halo.check(run); !wrong.empty())
                              return wrong;
                          }
                          return {};
                        }),
                "")
          << ranks << " ranks, seed " << seed;
}

// Many under way, begun in one order everywhere, waited for in any.
TEST_P(Exchanges, OverlapInAnyOrder) {
  for (uint32_t seed = 0; seed < 8; ++seed)
    ASSERT_EQ(onRanks(3,
                      [&](protocol::LocalWorker &worker) -> std::string {
                        constexpr uint32_t kMany = 12;
                        std::vector<std::unique_ptr<Halo>> halos;
                        for (uint32_t h = 0; h < kMany; ++h)
                          halos.push_back(std::make_unique<Halo>(worker, h, seed * 100 + h));
                        std::mt19937 random(seed + index(worker.rank()));
                        for (uint32_t run = 0; run < 10; ++run) {
                          std::vector<uint32_t> order(kMany);
                          std::iota(order.begin(), order.end(), 0);
                          for (uint32_t h : order) {
                            halos[h]->fill(run);
                            halos[h]->exchange().start(run);
                          }
                          std::shuffle(order.begin(), order.end(), random);
                          for (uint32_t h : order) {
                            Exchange &exchange = halos[h]->exchange();
                            if (random() % 2 == 0)
                              exchange.await();
                            Status s = worker.waitUntil([&] { return exchange.isDone(); },
                                                        [&] { return worker.progress(); });
                            std::string wrong = s ? halos[h]->check(run) : said(s);
                            if (!wrong.empty())
                              return wrong;
                          }
                        }
                        return {};
                      }),
              "")
        << "seed " << seed;
}

// Rank 1 sends the second only when the first has arrived: long, so it asks for it.
TEST_P(Exchanges, MoveWhileOthersAreWaitedFor) {
  ASSERT_EQ(
      onRanks(2,
              [&](protocol::LocalWorker &worker) -> std::string {
                bool sends = worker.rank() == Rank{1};
                Rank peer{sends ? 0u : 1u};
                std::vector<uint32_t> data(5000, sends ? 7 : 0);
                Exchange flows[] = {{worker, 1, 1}, {worker, 1, 2}};
                for (size_t f = 0; f < 2; ++f) {
                  iovec piece{data.data(), data.size() * sizeof data[0]};
                  sends ? flows[f].send(peer, {&piece, 1}) : flows[f].recv(peer, {&piece, 1});
                  if (!flows[f].seal())
                    return "no memory";
                }
                auto isOver = std::chrono::steady_clock::now() + std::chrono::seconds(5);
                auto wait = [&](Exchange &flow) {
                  return worker.waitUntil(
                      [&] { return flow.await() || std::chrono::steady_clock::now() > isOver; },
                      [&] { return worker.progress(); });
                };
                flows[0].start(0);
                Status s = sends ? wait(flows[0]) : Status();
                flows[1].start(0);
                if (s)
                  s = wait(flows[1]);
                if (!flows[0].isDone() || !flows[1].isDone())
                  return "nothing comes";
                return data.back() == 7 ? said(s) : "wrong data";
              }),
      "");
}

// Before it was progressed and after. Later messages match no receive.
TEST_P(Exchanges, AreCancelled) {
  ASSERT_EQ(onRanks(2,
                    [&](protocol::LocalWorker &worker) -> std::string {
                      Rank peer{1 - index(worker.rank())};
                      std::array<uint64_t, 2> out = {7, 7}, in = {};
                      Exchange meeting(worker, 1, 9);
                      iovec sent{&out[1], 8}, received{&in[1], 8};
                      meeting.send(peer, {&sent, 1});
                      meeting.recv(peer, {&received, 1});
                      if (!meeting.seal())
                        return "no memory";
                      for (uint32_t h = 0; h < 2; ++h) {
                        Exchange halo(worker, 1, h);
                        iovec target{&in[0], 8};
                        halo.recv(peer, {&target, 1});
                        if (!halo.seal())
                          return "no memory";
                        halo.start(0);
                        if (h == 1)
                          worker.progress();
                        halo.cancel();
                        if (!halo.isDone())
                          return "it is still under way";
                      }
                      if (Status s = meeting.run(0); !s)
                        return s.message();
                      for (uint32_t h = 0; h < 2; ++h) {
                        Exchange halo(worker, 1, h);
                        iovec source{&out[0], 8};
                        halo.send(peer, {&source, 1});
                        if (Status s = halo.seal(); !s)
                          return s.message();
                        if (Status s = halo.run(0); !s)
                          return s.message();
                      }
                      if (Status s = meeting.run(1); !s)
                        return s.message();
                      return in[0] == 0 && in[1] == 7 ? "" : "wrong data";
                    }),
            "");
}

// A rank that is far ahead is set aside, then held back; nothing is lost.
TEST_P(Exchanges, RunAhead) {
  ASSERT_EQ(
      onRanks(2,
              [&](protocol::LocalWorker &worker) -> std::string {
                constexpr uint32_t kFlows = 4000;
                bool sends = worker.rank() == Rank{0};
                Rank peer{sends ? 1u : 0u};
                std::vector<std::unique_ptr<Exchange>> flows;
                std::vector<std::array<uint32_t, 32>> data(kFlows);
                for (uint32_t f = 0; f < kFlows; ++f) {
                  flows.push_back(std::make_unique<Exchange>(worker, 1, f));
                  iovec piece{data[f].data(), sizeof data[f]};
                  sends ? flows[f]->send(peer, {&piece, 1}) : flows[f]->recv(peer, {&piece, 1});
                  if (!flows[f]->seal())
                    return "no memory";
                  data[f].fill(sends ? f : 0);
                }
                for (uint32_t i = 0; i < kFlows; ++i) // the last first
                  flows[sends ? i : kFlows - 1 - i]->start(3);
                for (uint32_t f = 0; f < kFlows; ++f) {
                  Status s = worker.waitUntil([&] { return flows[f]->isDone(); },
                                              [&] { return worker.progress(); });
                  if (!s)
                    return s.message();
                  if (data[f][0] != f || data[f][31] != f)
                    return "wrong data in flow " + std::to_string(f);
                }
                return {};
              }),
      "");
}

// Back to back, so that receivers come upon messages that are still being written.
TEST_P(Exchanges, AreReadWhileTheyAreWritten) {
  ASSERT_EQ(onRanks(2,
                    [&](protocol::LocalWorker &worker) -> std::string {
                      constexpr uint32_t kRuns = 20000;
                      Rank peer{1 - index(worker.rank())};
                      std::array<uint32_t, 250> out, in;
                      Exchange exchange(worker, 1, 1);
                      iovec sent{out.data(), sizeof out}, received{in.data(), sizeof in};
                      exchange.send(peer, {&sent, 1});
                      exchange.recv(peer, {&received, 1});
                      if (!exchange.seal())
                        return "no memory";
                      std::string wrong; // both ranks go on to the end
                      for (uint32_t run = 0; run < kRuns; ++run) {
                        out.fill(run);
                        if (Status s = exchange.run(run); !s)
                          return s.message();
                        for (uint32_t word : in)
                          if (word != run)
                            wrong = "an old word in run " + std::to_string(run);
                      }
                      return wrong;
                    }),
            "");
}

// One message that goes to several places, whose pieces are cut elsewhere.
TEST_P(Exchanges, RepeatTheirReceives) {
  ASSERT_EQ(onRanks(2,
                    [&](protocol::LocalWorker &worker) -> std::string {
                      Rank peer{1 - index(worker.rank())};
                      std::vector<std::byte> out(3000), in(3000), again(6000);
                      iovec sent{out.data(), 3000};
                      iovec received[] = {{in.data(), 1000}, {in.data() + 1000, 2000}};
                      iovec repeated[] = {{again.data(), 1700}, {again.data() + 4000, 1300}};
                      Exchange exchange(worker, 1, 1);
                      exchange.send(peer, {&sent, 1});
                      exchange.recv(peer, received);
                      exchange.repeat(repeated, received);
                      if (!exchange.seal())
                        return "no memory";
                      for (uint32_t run = 0; run < 20; ++run) {
                        std::fill(out.begin(), out.end(), static_cast<std::byte>(run));
                        if (run % 2 == 0) {
                          if (Status s = exchange.run(run); !s)
                            return s.message();
                        } else {
                          exchange.start(run);
                          Status s = worker.waitUntil([&] { return exchange.isDone(); },
                                                      [&] { return worker.progress(); });
                          if (!s || !(s = exchange.finish()))
                            return s.message();
                        }
                        if (in != out ||
                            !std::equal(out.begin(), out.begin() + 1700, again.begin()) ||
                            !std::equal(out.begin() + 1700, out.end(), again.begin() + 4000))
                          return "wrong bytes in run " + std::to_string(run);
                      }
                      return {};
                    }),
            "");
}

TEST_P(Exchanges, TellLengthsThatDiffer) {
  ASSERT_EQ(
      onRanks(2,
              [&](protocol::LocalWorker &worker) -> std::string {
                std::vector<std::byte> data(1000);
                bool sends = worker.rank() == Rank{0};
                for (uint64_t bytes : {8, 100, 600}) {
                  Exchange exchange(worker, 1, static_cast<uint32_t>(bytes));
                  iovec piece{data.data(), sends ? bytes : bytes - 1};
                  sends ? exchange.send(Rank{1}, {&piece, 1}) : exchange.recv(Rank{0}, {&piece, 1});
                  if (!exchange.seal())
                    return "no memory";
                  Status s = exchange.run(0);
                  if (s.ok() != sends)
                    return "rank " + std::to_string(sends ? 0 : 1) + ": \'" + said(s) + "'";
                }
                return {};
              }),
      "");
}

// The next run is another one: what was wrong with the one before is over.
TEST_P(Exchanges, GoOnAfterLengthsThatDiffer) {
  ASSERT_EQ(onRanks(2,
                    [&](protocol::LocalWorker &worker) -> std::string {
                      std::vector<std::byte> data(100);
                      bool sends = worker.rank() == Rank{0};
                      Exchange wrong(worker, 1, 1), right(worker, 1, 1);
                      iovec some{data.data(), 99}, all{data.data(), 100};
                      if (sends) {
                        wrong.send(Rank{1}, {&some, 1});
                        right.send(Rank{1}, {&all, 1});
                      } else {
                        right.recv(Rank{0}, {&all, 1});
                      }
                      if (!wrong.seal() || !right.seal())
                        return "no memory";
                      for (uint32_t run = 0; run < 2; ++run) {
                        Exchange &exchange = sends && run == 0 ? wrong : right;
                        exchange.start(run);
                        if (Status s = worker.waitUntil([&] { return exchange.isDone(); },
                                                        [&] { return worker.progress(); });
                            !s)
                          return s.message();
                        Status done = exchange.finish();
                        if (done.ok() != (sends || run == 1))
                          return "run " + std::to_string(run) + ": '" + said(done) + "'";
                      }
                      return {};
                    }),
            "");
}

// One end of an edge has no bytes: the other one gets an error instead of waiting for ever, and
// messages without a receive delay no other message.
TEST_P(Exchanges, AnEndWithoutBytesDelaysNoOtherRank) {
  constexpr uint32_t kAlone = 3000, kTogether = 9000;
  ASSERT_EQ(
      onRanks(2,
              [&](protocol::LocalWorker &worker) -> std::string {
                std::vector<std::byte> data(300000);
                bool sends = worker.rank() == Rank{0};
                Rank peer{sends ? 1u : 0u};
                auto progress = std::make_shared<protocol::RunProgress>(worker.progressTable(),
                                                                        Tag{1, 1, 0, 0});
                Exchange nothing(worker, progress), some(worker, progress), much(worker, progress);
                iovec word{data.data(), 8}, all{data.data(), data.size()};
                for (auto [exchange, piece] : {std::pair(&some, word), {&much, all}})
                  sends ? exchange->send(peer, {&piece, 1}) : exchange->recv(peer, {&piece, 1});
                if (!nothing.seal() || !some.seal() || !much.seal())
                  return "no memory";
                uint32_t run = 0;
                for (Exchange *exchange : {&some, &much}) { // rank 1 alone expects it
                  Status s = (sends ? nothing : *exchange).run(run++);
                  if (s.ok() != sends)
                    return "nothing came: '" + said(s) + "'";
                }
                if (Status s = (sends ? much : nothing).run(run++); s.ok() == sends)
                  return "much without a receive: '" + said(s) + "'";
                for (uint32_t i = 0; i < kAlone; ++i) { // rank 1 comes by
                  Status s = (sends ? some : nothing).run(run++);
                  if (!s)
                    return "some without a receive: '" + said(s) + "'";
                  worker.progress();
                }
                for (uint32_t i = 0; i < kAlone; ++i) { // it goes as long as there is room
                  Status s = (sends ? some : nothing).run(run++);
                  if (!s && (!sends || s.kind() != ErrorKind::Truncated))
                    return "some without a receive: '" + said(s) + "'";
                  if (!s)
                    break; // as all others would
                }
                return said(some.run(kTogether));
              }),
      "");
}

// Rank 0 has two runs in flight at all times: rank 1 nevertheless learns that the first one is over
// there, and that nothing comes.
TEST_P(Exchanges, EndsAreReportedWhileOthersAreInFlight) {
  std::atomic<bool> isTold = false;
  ASSERT_EQ(onRanks(2,
                    [&](protocol::LocalWorker &worker) -> std::string {
                      auto progress = std::make_shared<protocol::RunProgress>(
                          worker.progressTable(), Tag{1, 1, 0, 0});
                      if (worker.rank() == Rank{1}) {
                        char byte = 0;
                        iovec piece{&byte, 1};
                        Exchange expecting(worker, progress);
                        expecting.recv(Rank{0}, {&piece, 1});
                        if (Status s = expecting.seal(); !s)
                          return said(s);
                        Status s = expecting.run(0);
                        isTold = true;
                        return s ? "something came" : "";
                      }
                      Exchange even(worker, progress), odd(worker, progress);
                      if (!even.seal() || !odd.seal())
                        return "no memory";
                      auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
                      even.start(0);
                      for (uint32_t run = 1; !isTold; ++run) {
                        Exchange &next = run % 2 == 0 ? even : odd;
                        next.start(run);
                        Exchange &last = run % 2 == 0 ? odd : even;
                        if (Status s = last.finish(); !s)
                          return said(s);
                        worker.progress();
                        if (std::chrono::steady_clock::now() > until)
                          return "rank 1 waits for good";
                      }
                      return "";
                    }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Ways, Exchanges,
                         testing::Values(Case{"standard", {}, shm::SingleCopy::On},
                                         Case{"tight", tight(), shm::SingleCopy::Off},
                                         Case{"reading", reading(), shm::SingleCopy::On}),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace colldsl
