// Every call of libibverbs fails once.
#include "tests/transports/FaultSweep.h"
#include "tests/transports/VerbsFixture.h"

#include <cerrno>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;

enum class Call { Send, Receive, Poll, Register };

// The k-th call of a kind goes wrong, once for now or from then on.
class FaultyCalls : public verbs::Calls {
public:
  FaultyCalls(Call call, bool forGood, uint64_t at) : call_(call), forGood_(forGood), at_(at) {}
  bool happened() const { return calls_ >= at_; }

  // For now: all but the first request of a chain are not taken, or, of one request, that.
  int postSend(ibv_qp *pair, ibv_send_wr *first, ibv_send_wr **refused) override {
    if (!fails(Call::Send))
      return Calls::postSend(pair, first, refused);
    *refused = first;
    if (forGood_ || !first->next)
      return forGood_ ? EIO : ENOMEM;
    ibv_send_wr alone = *first;
    alone.next = nullptr;
    EXPECT_EQ(Calls::postSend(pair, &alone, refused), 0);
    *refused = first->next;
    return ENOMEM;
  }
  int postReceive(ibv_srq *receives, ibv_recv_wr *one) override {
    return fails(Call::Receive) ? (forGood_ ? EIO : ENOMEM) : Calls::postReceive(receives, one);
  }
  int postReceive(ibv_qp *pair, ibv_recv_wr *one) override {
    bool isDatagram = pair->qp_type == IBV_QPT_UD;
    return !isDatagram && fails(Call::Receive) ? (forGood_ ? EIO : ENOMEM)
                                               : Calls::postReceive(pair, one);
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
    bool isMessage = memory.iov_len > 80000 && memory.iov_len <= 200000;
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
  quick.linger = quick.lingerAfterFailure = 100ms;
  test::sweep(
      [&](uint64_t at) {
        FaultyCalls calls(call, forGood, at);
        return exchangeWith(
            with(quick, calls), [&] { return calls.happened(); }, {}, 1 + at % 2 * 4, true);
      },
      isFine);
}

TEST_F(Verbs, refusedOperationsAreOfferedAgain) {
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
