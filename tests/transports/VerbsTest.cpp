// What is special about messages over an RDMA device. Skipped where there is none: tests/rdma runs
// it where there is one.
#include "tests/transports/FaultSweep.h"
#include "tests/transports/NetworkChecks.h"
#include "transports/verbs/Attach.h"
#include "transports/verbs/VerbsCarrier.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;

class Verbs : public ::testing::Test {
protected:
  void SetUp() override {
    if (std::string why = verbs::whyNot({}); !why.empty())
      GTEST_SKIP() << why;
  }
};

NetworkPair::Make with(const verbs::Options &options, verbs::Calls &calls = verbs::Calls::real()) {
  return [=, &calls](Rank r) { return verbs::makeEndpoint(r, 2, options, calls); };
}

TEST_F(Verbs, errorsOfOpeningNameWhatWasAskedFor) {
  auto messageOf = [](const verbs::Options &options) {
    return verbs::makeEndpoint(Rank{0}, 1, options).message();
  };
  verbs::Options options;
  options.device = "pigeon0";
  EXPECT_EQ(messageOf(options), "there is no RDMA device 'pigeon0'");
  options = {};
  options.port = 9;
  EXPECT_NE(messageOf(options).find("no port of "), std::string::npos);
  options = {};
  options.gidIndex = 200;
  EXPECT_NE(messageOf(options).find("has no GID 200"), std::string::npos);
}

TEST_F(Verbs, theEnvironmentIsReadWithCare) {
  setenv("COLLDSL_VERBS_GID", "one", 1);
  EXPECT_EQ(verbs::optionsFromEnvironment().message(),
            "COLLDSL_VERBS_GID is 'one', which is no number up to 255");
  setenv("COLLDSL_VERBS_GID", "0", 1);
  EXPECT_EQ(verbs::optionsFromEnvironment()->gidIndex, 0);
  unsetenv("COLLDSL_VERBS_GID");
}

// Longer than the longest message of the device: one write is several requests.
TEST_F(Verbs, theLongestMessagesAreParted) {
  NetworkPair pair(with({}));
  ASSERT_EQ(pair.trouble, "");
  EXPECT_EQ(pair.exchange({9 << 20, 100}, 1), "");
  Transfer reads;
  reads.mover = Mover::Reader;
  EXPECT_EQ(pair.exchange({9 << 20}, 1, {}, reads), "");
}

// An endpoint of another job knows where a rank is, but not its token: it comes to no connection.
TEST_F(Verbs, strangersAreSentAway) {
  NetworkPair pair(with({}));
  ASSERT_EQ(pair.trouble, "");
  verbs::Options hasty;
  hasty.linger = 0ns;
  auto other = verbs::makeEndpoint(Rank{1}, 2, hasty);
  ASSERT_TRUE(other.ok()) << other.message();
  network::Card forged = pair.endpoints[0]->card();
  forged.token ^= 1;
  ASSERT_TRUE((*other)->meet([&](Rank) -> Result<network::Card> { return forged; }).ok());
  (*other)->refuse("no job of yours");
  EXPECT_EQ(pair.exchange({100, 100000}, 3), "");
  auto until = std::chrono::steady_clock::now() + 5s;
  while (pair.endpoints[0]->numRefused() == 0 && std::chrono::steady_clock::now() < until)
    EXPECT_EQ(pair.exchange({8}, 1), "");
  EXPECT_GT(pair.endpoints[0]->numRefused(), 0u);
}

TEST_F(Verbs, aKilledRankIsNoticedByAll) {
  expectThatKilledRanksAreNoticed(
      [](shm::World &world, Rank r) { return verbs::attach(world, r, {}); });
}

enum class Call { Send, Receive, Poll, Register };

// The k-th call of a kind goes wrong, once for now or from then on.
class FaultyCalls : public verbs::Calls {
public:
  FaultyCalls(Call call, bool forGood, uint64_t at) : call_(call), forGood_(forGood), at_(at) {}
  bool happened() const { return calls_ >= at_; }

  int postSend(ibv_qp *pair, ibv_send_wr *first) override {
    return fails(Call::Send) ? (forGood_ ? EIO : ENOMEM) : Calls::postSend(pair, first);
  }
  int postReceive(ibv_srq *receives, ibv_recv_wr *one) override {
    return fails(Call::Receive) ? (forGood_ ? EIO : ENOMEM) : Calls::postReceive(receives, one);
  }
  // One completion at a time. That of a message tells of an error, for good; else it comes late.
  int pollQueue(ibv_cq *queue, int count, ibv_wc *completions) override {
    if (quiet_ > 0 && quiet_-- > 0)
      return 0;
    int found = Calls::pollQueue(queue, std::min(count, 1), completions);
    if (found == 1 && fails(Call::Poll)) {
      if (forGood_)
        completions[0].status = IBV_WC_GENERAL_ERR;
      else
        quiet_ = 200;
    }
    return found;
  }
  ibv_mr *registerMemory(ibv_pd *domain, const iovec &memory, int access) override {
    bool isMessage = memory.iov_len == 20000 || memory.iov_len == 100000;
    if (isMessage && fails(Call::Register)) {
      errno = ENOMEM;
      return nullptr;
    }
    return Calls::registerMemory(domain, memory, access);
  }

private:
  bool fails(Call call) {
    if (call != call_)
      return false;
    uint64_t now = ++calls_;
    return forGood_ && call != Call::Poll ? now >= at_ : now == at_;
  }

  Call call_;
  bool forGood_;
  uint64_t at_;
  std::atomic<uint64_t> calls_{0};
  int quiet_ = 0;
};

void sweep(Call call, bool forGood, bool (&isFine)(const std::string &)) {
  verbs::Options quick;
  quick.windowBytes = 3000;
  quick.linger = 100ms;
  test::sweep(
      [&](uint64_t at) {
        FaultyCalls calls(call, forGood, at);
        return exchangeWith(with(quick, calls), [&] { return calls.happened(); });
      },
      isFine);
}

TEST_F(Verbs, whatIsNotTakenNowIsOfferedAgain) {
  sweep(Call::Send, false, isNothing);
  sweep(Call::Receive, false, isNothing);
}
TEST_F(Verbs, sendsThatFailFailThePlan) { sweep(Call::Send, true, isClean); }
TEST_F(Verbs, receivesThatFailFailThePlan) { sweep(Call::Receive, true, isClean); }
TEST_F(Verbs, completionsMayBeErrors) { sweep(Call::Poll, true, isClean); }
TEST_F(Verbs, completionsMayBeLate) { sweep(Call::Poll, false, isNothing); }
// What cannot be reached travels in parts; what cannot be sent from fails the plan.
TEST_F(Verbs, memoryMayNotBeRegistered) { sweep(Call::Register, true, isClean); }

} // namespace
} // namespace colldsl::test
